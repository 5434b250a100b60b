/* SPDX-License-Identifier: BSD-3-Clause */
/* pmixjob.h - what a launcher's PMIx server says of the job, where its variables do not say enough.
 *
 * The core does not ask: a family does (rc_learned, RC_LEARN_PMIX), and where
 * the caller can, it has the program rollcall-pmix ask (libexec/pmix/rollcall-pmix.c),
 * whose answer is lines of NAME=VALUE:
 *   rank=2                       this process's own
 *   size=5                       of the job
 *   local_rank=0
 *   node=2                       its node, in order of the nodes' lowest rank
 *   map=(vector,(0,2,2),(2,1,1)) runs of (first node, nodes, tasks on each), in order of rank
 *   tasks=2(x2),1                on each node
 *   ids=1,2,3                    the launcher's own numbers of the nodes, if it has any
 *   host=n1                      of rank 0
 * or one line failed=WHY TEXT, with WHY one of program, library, server, answer.
 */
#ifndef ROLLCALL_LAUNCHER_PMIXJOB_H
#define ROLLCALL_LAUNCHER_PMIXJOB_H

#include "launcher/facts.h"

/* Fills in what the server's answer says of the task with the rank in *facts.
 * RC_PMIXJOB_NONE where the server cannot be asked. RC_PMIXJOB_WRONG, with a
 * message that ends with `cure`, where asking failed, where the answer is
 * incomplete or where it contradicts what the facts hold already. */
enum rc_pmixjob_answer { RC_PMIXJOB_NONE, RC_PMIXJOB_WRONG, RC_PMIXJOB_READ };
enum rc_pmixjob_answer rc_pmixjob_fill(struct rc_reader *reader, struct rc_facts *facts, const char *cure);

/* Calls visit for each rank of the nodes whose number of tasks divides the
 * size, of an answer that was read. visit gets the node, in order of the nodes'
 * lowest ranks, the launcher's own number of it (id), and `more` as it is. False
 * where visit returns false once, where the launcher has no numbers, or where it
 * would take too long. */
struct rc_pmixjob_rank {
    uint32_t rank;
    uint32_t local_rank;
    uint32_t local_size;
    uint32_t node;
    uint32_t id;
};
bool rc_pmixjob_all(const struct rc_reader *reader, const struct rc_facts *facts, uint32_t more,
                    bool (*visit)(const struct rc_pmixjob_rank *rank, const struct rc_facts *facts, uint32_t more));

#endif
