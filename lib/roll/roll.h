/* SPDX-License-Identifier: BSD-3-Clause */
/* roll.h - the messages of the roll call: an entry from each node, and one answer for all.
 *
 * Both are lines NAME=VALUE (pairs.h); the first gives the type. Pure.
 *
 * An entry, at most RC_ROLL_SIZE bytes:
 *   roll=1
 *   version=0.1.0        of rollcall
 *   scope=slurm:42.0     the launch, as in the stamp
 *   launcher=slurm
 *   mode=worker
 *   host=n1              its host name
 *   boot=4b5f...         /proc/sys/kernel/random/boot_id; unset in a container, which shares it
 *   node=0               node rank
 *   nodes=2
 *   world=8              tasks of the launch
 *   tasks=0-3            ranks here
 *   addr=n1              MASTER_ADDR as found
 *   port=24512           port held: by RANK 0's node; with order=topology by each node
 *   own=10.0.0.1,fd00::1 all addresses of RANK 0's node; unset if too long
 *   via=10.0.0.1         the one by which it reaches srun
 *   leads=10.0.0.1       addresses of MASTER_ADDR here, or an error (net.h)
 *   dead=RC405           tasks will not start; the node prints why
 *   place=top.s1 n3      with order=topology: place in the network (netorder.h)
 *   busy=RC405           with order=topology: cannot hold the port, must not become RANK 0's node
 *   hosts=n[1-2]         the launcher's list; unset if too long
 *   user=NCCL_IB_HCA=a   variable that must be the same on all; at most RC_ROLL_USER_MAX
 *   visible=CUDA_VISIBLE_DEVICES=0,1   GPUs visible to the first task
 *   gpu=0 GPU-1c6f...    rank and its GPU; at most RC_ROLL_GPUS_MAX
 *   has=gpus 8 NVIDIA H100   an item (items.def)
 *
 * An answer, at most RC_ANSWER_SIZE bytes:
 *   answer=1
 *   port=24512           MASTER_PORT; unset: each node keeps the one it computed
 *   stop=1               the step must not start
 *   order=2-3x4,0-1x4    runs of node ranks and the tasks on each (netorder.h)
 *   first=n3             first node of the order
 *   unordered=TEXT       why the launcher's order stays
 *   own=10.0.0.1,fd00::1 all addresses of RANK 0's node
 *   addr=10.0.0.1        MASTER_ADDR for all; unset: each keeps its value
 *   said=1               the findings have been printed
 *   finding=RC601 text   at most RC_FINDINGS_MAX */
#pragma once

#include "base/message.h"
#include "base/text.h"

enum {
    RC_ROLL_SIZE = 16384,
    RC_ROLL_USER_MAX = 16, /* the rest is ignored */
    RC_ROLL_GPUS_MAX = 16,
    RC_ROLL_TEXT_MAX = 255, /* bytes of most values; longer ones are cut on writing */
    RC_ROLL_HOSTS_MAX = 2048,
    RC_ROLL_ORDER_MAX = 16384, /* bytes; nodes numbered switch by switch make few runs */
    RC_FINDINGS_MAX = 16,
    RC_FINDING_MAX = 1536, /* bytes */
    RC_ANSWER_SIZE = 49152,
};

/* Items that are compared (items.def). */
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

/* Write a line has=NAME VALUE unless the value is empty. Bytes outside printable ASCII become `?`. */
void rc_item_put(struct rc_arena *arena, enum rc_item item, struct rc_str value);

struct rc_roll_gpu {
    uint32_t rank;
    struct rc_str id; /* UUID, or a name with the node in it: indices are not unique */
};

/* Slices of the text read, or of the caller's. Required: scope, host, node, nodes, world and tasks. */
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
    struct rc_str tasks; /* ascending: "0-3,8" */
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
    struct rc_str item[RC_ITEMS];
    bool has_items; /* false: the node did not report its items */
};

/* Write an entry and a NUL; bytes outside printable ASCII become `?`. Return NULL, with the arena unchanged, if it does
 * not fit or rc_roll_read() would reject it. */
const char *rc_roll_write(const struct rc_roll *roll, struct rc_arena *arena);

/* Read an entry. Return false, with *roll unchanged, if a line is invalid, a name other than `user`, `gpu` and `has`
 * repeats, or a required value is missing. Requires node < nodes <= world <= RC_MAX_TASKS, ranks below world, and GPUs
 * of these ranks. */
bool rc_roll_read(struct rc_str text, struct rc_roll *roll);

/* Return the entry's value of a variable of the user, or RC_ABSENT. */
struct rc_str rc_roll_variable(const struct rc_roll *roll, struct rc_str name);

/* For qsort of struct rc_roll: by node rank. */
int rc_roll_by_node(const void *a, const void *b);

/* Take the next range of roll.tasks from *rest. Return false at the end, with *rest RC_ABSENT, or, with *rest
 * unchanged, if it is invalid. */
bool rc_roll_next_range(struct rc_str *rest, uint32_t *first, uint32_t *last);

struct rc_answer {
    uint32_t port; /* 0: none */
    bool stop;
    bool said;
    struct rc_str order; /* RC_ABSENT: none; borrowed, like the next four */
    struct rc_str first;
    struct rc_str unordered;
    struct rc_str own;
    struct rc_str addr;
    struct rc_messages findings;
};

/* Write an answer and a NUL, as rc_roll_write(), with at most RC_FINDINGS_MAX findings. Return NULL if it does not
 * fit. */
const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena);

/* Read an answer into *answer, slices of `text` and of the arena, without unknown findings. Return false, with *answer
 * unchanged, if it is invalid or does not fit. */
bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena);

/* Instead of a finding: the node already reported that its tasks will not start. */
enum { RC_BLAMED_BY_ITSELF = 255 };

struct rc_blamed {
    unsigned finding; /* index of the finding */
    char *name;       /* the launcher's name for the node, valid in its options */
};

/* Zero it first; free it with rc_blame_free(). */
struct rc_blame {
    struct rc_blamed *list; /* one element per finding and node */
    size_t count;
};
