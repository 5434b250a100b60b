/* SPDX-License-Identifier: BSD-3-Clause */
/* tasklist.h - Slurm's tasks per node: "2(x3),1" is 2,2,2,1.
 *
 * Written by Slurm's _uint16_array_to_str (srun.c) and uint16_array_to_str
 * (env.c). Never expanded: "1(x65533)" costs what "1" costs. Linear in the
 * length of the text, whatever numbers it holds.
 */
#ifndef ROLLCALL_LAUNCHER_TASKLIST_H
#define ROLLCALL_LAUNCHER_TASKLIST_H

#include "base/numbers.h"
#include "base/text.h"

struct rc_tasklist {
    struct rc_str text; /* checked: every later walk may trust it */
    uint32_t nodes;
    uint32_t tasks;
    uint32_t smallest; /* tasks of the node that has fewest */
    uint32_t largest;
};

/* Checks a text and sums it up. False, with *list untouched, unless it is
 * COUNT[(xREPEAT)],... with counts and repeats from 1 and at most
 * RC_MAX_TASKS tasks in all. */
bool rc_tasklist_parse(struct rc_str text, struct rc_tasklist *list);

/* Tasks on the node with that index, 0 if there is no such node, and on all
 * nodes before that one. */
uint32_t rc_tasklist_at(const struct rc_tasklist *list, uint32_t node, uint32_t *before);

#endif
