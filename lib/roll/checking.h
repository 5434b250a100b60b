/* SPDX-License-Identifier: BSD-3-Clause */
/* checking.h - what the checks of the roll call share. Private to them: check.c does them all, each file check*.c some.
 *
 * Each check adds its findings with rc_checking_add, says after it whom the finding blames, and may use `part` and
 * `many` as it likes. */
#pragma once

#include "base/message.h"
#include "roll/names.h"
#include "roll/roll.h"

#define RC_ONE_LAUNCHER "start all tasks with one launcher, and unset what a script exports of another's variables"

enum { RC_CHECKING_ARRAYS = 8 };

struct rc_checking {
    const struct rc_roll *rolls;
    size_t all;               /* entries */
    struct rc_member *member; /* of this launch, in any order */
    size_t count;
    size_t ranges;          /* at most so many in the tasks of all entries */
    struct rc_member *part; /* those that are being looked at */
    struct rc_member *many; /* room for one of each member, of its GPUs, or of its variables */
    struct rc_messages found;
    struct rc_blame *blame; /* NULL: nobody wants to know */
    bool failed;            /* there was no memory */
    struct rc_namer namer;
    void *array[RC_CHECKING_ARRAYS]; /* all that rc_checking_allocate gave */
    unsigned arrays;
};

/* Zeroed memory for `count` of such a size and one more, which lives as long as *check. NULL, and failed, without. */
void *rc_checking_allocate(struct rc_checking *check, size_t count, size_t size);

/* Adds a finding. What the namer has made for it may be overwritten from now on. */
void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The finding that was added last blames a node without an entry, by the name that the launcher has for it. */
void rc_checking_blame_name(struct rc_checking *check, struct rc_str name);

/* It blames those of the sorted members that are not of `most`, the largest group, if that is more than half of
 * them (rc_group_find). */
void rc_checking_blame_odd(struct rc_checking *check, const struct rc_member *member, size_t count,
                           const struct rc_group *most);

/* The node of an entry says itself that its tasks are not going to start. */
void rc_checking_blame_dead(struct rc_checking *check, const struct rc_roll *roll);

struct rc_roll_known;

/* checkranks.c: RC601, RC602, RC603, RC614. `world` tasks on `nodes` nodes. */
void rc_check_ranks(struct rc_checking *check, uint32_t world, uint32_t nodes, const struct rc_roll_known *known);

/* checkaddr.c: RC423. All nodes are going to take this address. */
void rc_check_address(struct rc_checking *check, const struct rc_str *address);

/* checkitems.c: RC622, in so many lines at most, and one for what is beyond them. */
void rc_check_items(struct rc_checking *check, unsigned lines);
