/* SPDX-License-Identifier: BSD-3-Clause */
/* pernode.h - platforms that start the command once on each node, and number the nodes.
 *
 * In rollcall's terms that is one task a node, whatever the platform calls its
 * numbers: with several GPUs the task starts the workers of its node (launcher
 * mode), with one it is the worker itself, and its rank is the node's index.
 *
 * RANK and WORLD_SIZE are the platform's only as long as nothing further inside
 * has numbered workers: where LOCAL_RANK is set (accelerate's, deepspeed's and
 * Lightning's children have it, no such platform sets it) they are that one's,
 * and the platform has nothing to say any more. The worker mode of a rollcall in
 * this very task sets LOCAL_RANK too; its stamp tells.
 */
#ifndef ROLLCALL_LAUNCHER_PERNODE_H
#define ROLLCALL_LAUNCHER_PERNODE_H

#include "launcher/facts.h"

struct rc_pernode {
    const char *family;   /* "vertex" */
    struct rc_str index;  /* the variable with the node's index */
    struct rc_str count;  /* and that with the number of nodes */
    struct rc_str run_id; /* of the launch, RC_ABSENT where the platform names none */

    /* More variables, each left out where the platform has none. */
    struct rc_str hosts;  /* all nodes in the order of their indices, a line each */
    struct rc_str master; /* the first node; left out: the first of hosts */
    struct rc_str port;   /* the port that the platform has chosen on it */
    struct rc_str gpus;   /* the number of the node's GPUs */
    bool by_dns;          /* the first node's name is in DNS only once that node is up */
};

/* The launch and the node's index. Absent where both variables are absent or
 * empty, or where workers have been numbered further inside; broken (RC101,
 * RC102) where only one is there or the index is no number. */
enum rc_claim rc_pernode_recognise(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node);

/* The same for a platform that gives no number but a place in a list. */
enum rc_claim rc_pernode_claim(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node,
                               uint32_t index, const char *source);

/* All that the variables say, for the node's index that recognise has read. False, with RC103, where hosts
 * are not as many as nodes. GPUs are read only where a variable of them is named. */
bool rc_pernode_read(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node);
void rc_pernode_fill(struct rc_facts *facts, uint32_t count, const char *source);

/* The node's GPUs, where the platform writes their number into a variable. What
 * CUDA_VISIBLE_DEVICES leaves of them, where it is set; the node's devices, where
 * the variable is no number ("auto"). */
void rc_pernode_gpus(struct rc_reader *reader, struct rc_facts *facts, struct rc_str name);

#endif
