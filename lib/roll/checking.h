/* SPDX-License-Identifier: BSD-3-Clause */
/* checking.h - what the checks of a roll call share: check.c does them all, each file check*.c some.
 *
 * Private to them. Each check adds its findings with rc_checking_add, says behind it
 * whom the finding blames, and may use `part`, `user` and `gpu` as it likes.
 */
#ifndef ROLLCALL_ROLL_CHECKING_H
#define ROLLCALL_ROLL_CHECKING_H

#include "base/message.h"
#include "roll/blame.h"
#include "roll/coverage.h"
#include "roll/group.h"

#define RC_ONE_LAUNCHER "start all tasks with one launcher, and unset what a script exports of another's variables"

struct rc_checking {
    const struct rc_roll *rolls;
    size_t all;               /* entries */
    struct rc_member *member; /* of this launch, in any order */
    struct rc_member *part;   /* those that are being looked at */
    struct rc_member *user;   /* text: NAME=VALUE */
    struct rc_member *gpu;    /* text: its id, number: rank */
    size_t count;
    struct rc_coverage ranks;
    struct rc_messages found;
    struct rc_blame *blame; /* NULL: nobody wants to know */
    bool failed;            /* there was no memory for those who are blamed */
    struct rc_arena *arena;
    struct rc_namer namer;
};

/* All entries as members, with room for what the checks need. NULL without memory; ends with rc_checking_destroy. */
struct rc_checking *rc_checking_create(const struct rc_roll *rolls, size_t count, struct rc_blame *blame,
                                       struct rc_arena *arena);

void rc_checking_destroy(struct rc_checking *check);

/* The text is in check->arena; what the namer has made may be overwritten from now on. */
void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *text);

/* The finding that was added last blames the nodes of these members. */
void rc_checking_blame(struct rc_checking *check, const struct rc_member *member, size_t count);

/* It blames those of the sorted members that are not of `most`, the largest group, if that is more than half of
 * them (rc_group_find). */
void rc_checking_blame_odd(struct rc_checking *check, const struct rc_member *member, size_t count,
                           const struct rc_group *most);

/* Keeps the members whose value others have, too, in the order of values. Returns
 * how many they are. */
size_t rc_checking_keep_repeated(struct rc_member *member, size_t count);

/* checkranks.c: RC601, RC602, RC603, RC614. */
void rc_check_node_ranks(struct rc_checking *check);
void rc_check_ranks(struct rc_checking *check);
void rc_check_missing(struct rc_checking *check, uint32_t nodes, uint32_t deadline);

/* checkmachines.c: RC606, RC607. */
void rc_check_gpus(struct rc_checking *check);
void rc_check_hosts(struct rc_checking *check);
void rc_check_boots(struct rc_checking *check);

/* checkvariables.c: RC609. */
void rc_check_variables(struct rc_checking *check);

/* checkitems.c: RC622, in so many lines at most, and one for what is beyond them. */
void rc_check_items(struct rc_checking *check, unsigned lines);

#endif
