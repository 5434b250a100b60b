/* SPDX-License-Identifier: BSD-3-Clause */
/* checking.h - state shared by the checks of the roll call (check*.c), private to them. A check adds a finding, then
 * blames nodes for it. It may overwrite `part` and `many`. */
#pragma once

#include "base/message.h"
#include "roll/names.h"
#include "roll/roll.h"

#define RC_ONE_LAUNCHER "start all tasks with one launcher, and unset what a script exports of another's variables"

enum { RC_CHECKING_ARRAYS = 8 };

struct rc_checking {
    const struct rc_roll *rolls;
    size_t all;               /* entries */
    struct rc_member *member; /* entries of this launch, in any order */
    size_t count;
    size_t ranges;          /* upper bound of the ranges of ranks in all entries */
    struct rc_member *part; /* scratch: the members under comparison */
    struct rc_member *many; /* scratch: room for every member, GPU and variable */
    struct rc_messages found;
    struct rc_blame *blame; /* may be NULL */
    bool failed;            /* out of memory */
    struct rc_namer namer;
    void *array[RC_CHECKING_ARRAYS]; /* memory from rc_checking_allocate() */
    unsigned arrays;
};

/* Return count + 1 zeroed elements, freed with *check, or NULL with `failed` set if memory is exhausted. */
void *rc_checking_allocate(struct rc_checking *check, size_t count, size_t size);

/* Add a finding. Resets the namer: its texts become invalid. */
void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Blame a node without an entry, by the launcher's name for it. */
void rc_checking_blame_name(struct rc_checking *check, struct rc_str name);

/* Blame the others if `most`, the largest group, has more than half of the members. */
void rc_checking_blame_odd(struct rc_checking *check, const struct rc_member *member, size_t count,
                           const struct rc_group *most);

/* Blame a node whose entry reports that its tasks will not start. */
void rc_checking_blame_dead(struct rc_checking *check, const struct rc_roll *roll);

struct rc_roll_known;

/* checkranks.c: RC601, RC602, RC603, RC614. `world` tasks on `nodes` nodes. */
void rc_check_ranks(struct rc_checking *check, uint32_t world, uint32_t nodes, const struct rc_roll_known *known);

/* checkaddr.c: RC423. `address` replaces MASTER_ADDR on all nodes. */
void rc_check_address(struct rc_checking *check, const struct rc_str *address);

/* checkitems.c: RC622, at most `lines` findings and one for the rest. */
void rc_check_items(struct rc_checking *check, unsigned lines);
