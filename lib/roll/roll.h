/* SPDX-License-Identifier: BSD-3-Clause */
/* roll.h - what the nodes of a launch tell each other: an entry of each node, and one answer for all.
 *
 * Both are lines NAME=VALUE (pairs.h), the first of which says what the text is.
 * Pure: reads the text, writes the caller's struct or arena.
 *
 * An entry, RC_ROLL_SIZE bytes at most:
 *   roll=1
 *   version=0.1.0        of rollcall
 *   scope=slurm:42.0     the launch, as in the stamp
 *   launcher=slurm
 *   mode=worker
 *   host=n1              the node's own name
 *   boot=4b5f...         /proc/sys/kernel/random/boot_id; none of a container, which shares it
 *   node=0               its node rank
 *   nodes=2              as it counts them
 *   world=8              tasks of the launch, as it counts them
 *   tasks=0-3            the ranks on it
 *   addr=n1              MASTER_ADDR as it found it
 *   port=24512           the port that it holds, of the node of RANK 0 alone; with order=topology of each node
 *   own=10.0.0.1,fd00::1 all addresses of the node of RANK 0; left out if they are long
 *   via=10.0.0.1         of these the one by which it reaches srun
 *   leads=10.0.0.1       what MASTER_ADDR leads to here: addresses, or why to none (net.h)
 *   dead=RC405           its tasks are not going to start; it says why itself
 *   place=top.s1 n3      with order=topology: where it is in the network (netorder.h)
 *   busy=RC405           likewise: it cannot hold the port, and must not be the node of RANK 0
 *   hosts=n[1-2]         the launch's, as the launcher lists them; not where that is long
 *   user=NCCL_IB_HCA=a   what its user had set and must be the same on all; RC_ROLL_USER_MAX of them
 *   visible=CUDA_VISIBLE_DEVICES=0,1   GPUs that the node's first task may see, for humans
 *   gpu=0 GPU-1c6f...    rank and GPU of a task; RC_ROLL_GPUS_MAX of them
 *   has=gpus 8 NVIDIA H100   what the node has (items.def)
 *
 * An answer, RC_ANSWER_SIZE bytes at most:
 *   answer=1
 *   port=24512           MASTER_PORT; none: each keeps the one that it computed
 *   stop=1               the step is not to start
 *   order=2-3x4,0-1x4    with order=topology: runs of node ranks, and the tasks on each (netorder.h)
 *   first=n3             the first of them
 *   unordered=TEXT       likewise: why the nodes stay in the launcher's order
 *   own=10.0.0.1,fd00::1 addresses of the node of RANK 0, all of them
 *   addr=10.0.0.1        one of them, for MASTER_ADDR on all nodes; none: each keeps the one that it has
 *   said=1               the findings have been printed
 *   finding=RC601 text   for the one that prints them; RC_FINDINGS_MAX of them
 */
#pragma once

#include "base/message.h"
#include "base/text.h"

enum {
    RC_ROLL_SIZE = 16384,
    RC_ROLL_USER_MAX = 16,  /* more of them are neither written nor read */
    RC_ROLL_GPUS_MAX = 16,  /* likewise */
    RC_ROLL_TEXT_MAX = 255, /* bytes of one value but tasks and hosts; a longer one is cut when it is written */
    RC_ROLL_HOSTS_MAX = 2048,
    RC_ROLL_ORDER_MAX = 16384, /* bytes of an order; nodes in switches of their own names' order are few runs */
    RC_FINDINGS_MAX = 16,
    RC_FINDING_MAX = 1536, /* bytes of one text; a longer one is cut when it is written */
    RC_ANSWER_SIZE = 49152,
};

/* What a node has, by kinds that are compared: items.def. */
enum rc_item {
#define ROLLCALL_ITEM(name, compared, words) RC_ITEM_##name,
#include "roll/items.def"
#undef ROLLCALL_ITEM
    RC_ITEMS
};

enum rc_compared {
    RC_COMPARED_EXACTLY,
    RC_COMPARED_OR_NONE,
    RC_COMPARED_ROUGHLY,
    RC_COMPARED_PER_TASKS,
    RC_COMPARED_PER_GPUS,
    RC_COMPARED_PER_NICS,
    RC_COMPARED_WITHIN,
};

struct rc_item_row {
    const char *name;
    enum rc_compared compared;
    const char *words;
};

const struct rc_item_row *rc_item_row(enum rc_item item);

/* Writes a line has=NAME VALUE; what is not printable ASCII becomes `?`. An absent or empty value gets no line. */
void rc_item_put(struct rc_arena *arena, enum rc_item item, struct rc_str value);

struct rc_roll_gpu {
    uint32_t rank;
    struct rc_str id; /* UUID, or one that no other node has: indices are each node's own */
};

/* Slices of the text that it was read from, or of its caller's. These may be absent: version, launcher, mode, boot,
 * addr, own, via, leads, dead, visible, place, busy, hosts, item. */
struct rc_roll {
    struct rc_str version;
    struct rc_str scope;
    struct rc_str launcher;
    struct rc_str mode;
    struct rc_str host;
    struct rc_str boot;
    uint32_t node;
    uint32_t nodes;
    uint32_t world;
    struct rc_str tasks; /* ranges in ascending order: "0-3,8" */
    struct rc_str addr;
    struct rc_str own;
    struct rc_str via;
    struct rc_str leads;
    struct rc_str dead;
    struct rc_str visible;
    struct rc_str place;
    struct rc_str busy;
    struct rc_str hosts;
    uint32_t port;                        /* 0: none */
    struct rc_str user[RC_ROLL_USER_MAX]; /* NAME=VALUE, each name once; the value may be empty */
    unsigned user_count;
    struct rc_roll_gpu gpu[RC_ROLL_GPUS_MAX];
    unsigned gpu_count;
    struct rc_str item[RC_ITEMS]; /* what it has */
    bool has_items;               /* false: it says nothing of that */
};

/* Writes an entry and a NUL. Absent values are left out; bytes that are not printable ASCII become `?`. NULL, and the
 * arena's text as before, where it does not fit, or where rc_roll_read would not take it. */
const char *rc_roll_write(const struct rc_roll *roll, struct rc_arena *arena);

/* Reads an entry. False, with *roll untouched, unless every line is one, no name comes twice but `user`, `gpu` and
 * `has`, and it holds a scope, a host, node < nodes, 0 < nodes <= world <= RC_MAX_TASKS, tasks that are ranks of that
 * world, and GPUs of these tasks. */
bool rc_roll_read(struct rc_str text, struct rc_roll *roll);

/* The value that an entry has of a variable; absent where it says nothing of it. */
struct rc_str rc_roll_variable(const struct rc_roll *roll, struct rc_str name);

/* For qsort of struct rc_roll: by node rank. */
int rc_roll_by_node(const void *a, const void *b);

/* Goes through the ranges of roll.tasks: takes one from *rest. False at the end, where *rest has become absent; false,
 * too, with *rest untouched, for what is no range of ranks. */
bool rc_roll_next_range(struct rc_str *rest, uint32_t *first, uint32_t *last);

struct rc_answer {
    uint32_t port; /* 0: none */
    bool stop;
    bool said;
    struct rc_str order; /* absent: none; borrowed, as the next three, from the text or from the caller */
    struct rc_str first;
    struct rc_str unordered;
    struct rc_str own;
    struct rc_str addr;
    struct rc_messages findings;
};

/* Writes an answer and a NUL; of the findings the first RC_FINDINGS_MAX, bytes that are not printable ASCII as `?`.
 * NULL, and the arena's text as before, where it does not fit. */
const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena);

/* Reads an answer; texts of findings are copied into the arena, others are slices of the text. A finding whose id this
 * rollcall does not have is left out. False, with *answer untouched, if it is none or does not fit. */
bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena);

/* Whom the roll call (check.h) blames for what it finds. */

/* Not a finding: the node already reported that its tasks will not start. */
enum { RC_BLAMED_BY_ITSELF = 255 };

struct rc_blamed {
    unsigned finding; /* its place among the findings */
    char *name;       /* as the launcher lists it, so that its options take it */
};

/* Zero it to begin, rc_blame_free to end. */
struct rc_blame {
    struct rc_blamed *list; /* one for each finding and node */
    size_t count;
};
