/* SPDX-License-Identifier: BSD-3-Clause */
/* checking.h - what the checks of the roll share: whom they blame, and what counts as the same. */
#ifndef ROLLCALL_ROLL_CHECKING_H
#define ROLLCALL_ROLL_CHECKING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/message.h"
#include "roll/items.h"
#include "roll/names.h"
#include "roll/roll.h"

/* Which ranks are there how often: the gaps, and what is there twice. */

/* Where ranks begin or end. */
struct rc_edge {
    uint32_t at;
    int32_t change;
};

struct rc_coverage {
    struct rc_edge *edge;   /* room for two a range of the members */
    struct rc_range *gap;   /* ranks that no member has; room for as many as edges, and one */
    struct rc_range *twice; /* ranks that several have; likewise */
    size_t gaps;
    size_t twices;
    uint32_t least; /* how many have a rank of `twice`; fewest and most */
    uint32_t most;
};

/* Fills it in, for ranks below `world`. */
void rc_coverage_find(struct rc_coverage *coverage, const struct rc_member *member, size_t count, uint32_t world);

/* Which nodes an item of items.def is compared on, and what counts as the same.
 *
 * RC622 and the page of rollcall check ask here, so that both call the same nodes odd. */

/* The nodes that say what they have. Nodes of another part of the launch (the item component) are not compared. */
struct rc_comparison {
    struct rc_member *node; /* text: its part; in the order of parts */
    struct rc_str *value;   /* RC_ITEMS a node */
    size_t count;
};

/* Reads what the members' entries say, in any order; the texts stay theirs. False without memory. Ends with
 * rc_comparison_free, also then. */
bool rc_comparison_read(struct rc_comparison *comparison, const struct rc_member *member, size_t count);
void rc_comparison_free(struct rc_comparison *comparison);

/* How many nodes, from this one on, are of one part. */
size_t rc_comparison_part(const struct rc_comparison *comparison, size_t first);

/* Puts the nodes of that part that the item is compared on into `member`, which has room for all of them, and
 * returns how many they are. Their texts are equal where nothing differs: amounts that are almost the same are given
 * as one of them. Returns 0 where all say the same, which is so in a healthy launch. */
size_t rc_comparison_select(const struct rc_comparison *comparison, size_t first, enum rc_item item,
                            struct rc_member *member);

/* Which nodes the findings of a roll call blame: those to leave out of the next job.
 *
 * A finding blames nodes that did not answer, and nodes that differ from more than half of all. It blames none where
 * no side has more than half, nor where the launch as a whole is wrong: a rank that is there twice, a count that
 * differs, a GPU that two tasks share. A node whose tasks are not going to start is blamed without a finding.
 *
 * Nodes are named as the launcher lists them, so that its options take the names. */

/* The place of a finding that is none: the node itself has said that its tasks are not going to start. */
enum { RC_BLAMED_BY_ITSELF = 255 };

struct rc_blamed {
    unsigned finding; /* its place among the findings */
    char *name;
    struct rc_str host; /* as the entry has it; absent where there is none */
};

/* Zero it to begin, rc_blame_free to end. The rolls' texts must live as long. */
struct rc_blame {
    struct rc_blamed *list; /* one for each finding and node */
    size_t count;
    size_t room;
};

/* Adds a node without an entry by the name that the launcher has for it, unless that is no host's name. Returns false,
 * with nothing added, without memory. */
bool rc_blame_add_name(struct rc_blame *blame, unsigned finding, struct rc_str name);

/* Adds the node of an entry. Likewise. */
bool rc_blame_add(struct rc_blame *blame, unsigned finding, const struct rc_roll *roll);

void rc_blame_free(struct rc_blame *blame);

/* The place of the entry's node in a host list, which may have the short name of a host that calls itself by a long
 * one. RC_UNKNOWN where it is not in it. */
uint32_t rc_blame_find_host(struct rc_str hosts, struct rc_str host);

/* What the checks of a roll call share: check.c does them all, each file check*.c some.
 *
 * Private to them. Each check adds its findings with rc_checking_add, says behind it
 * whom the finding blames, and may use `part`, `user` and `gpu` as it likes. */

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

/* Adds a finding. What the namer has made for it may be overwritten from now on. */
void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

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

#endif
