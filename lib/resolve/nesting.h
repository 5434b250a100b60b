/* SPDX-License-Identifier: BSD-3-Clause */
/* nesting.h - whose task is this? Several launchers' variables may stand in one environment.
 *
 * In this order:
 * 1. a family that proves that none can be further inside (Slurm wrote this
 *    very process's id into SLURM_TASK_PID, and this node's name beside it);
 * 2. the stamp: of two launchers the one that an outer rollcall did not know of
 *    when it wrote its stamp was started later (of several such ones rule 3
 *    decides);
 * 3. the nearest process that this one descends from and that starts tasks
 *    (orted, hydra_pmi_proxy, slurmstepd, ...), where the caller has looked;
 * 4. the order of the registry, and RC126 says that it was one.
 * Where it is none of Slurm's but stands in a job of Slurm's, and the stamp does
 * not know that job, it has to descend from a process of its launcher before a
 * batch script's slurmstepd: a script that a task gave to sbatch has all that
 * the task had, and is no task (RC_CLAIM_OUTSIDE).
 * Values that contradict a newer launcher's on their face are stale before all
 * that (RC_CLAIM_STALE), and a launcher that starts no processes, like a cloud's
 * names or a user's own, is never inside one that does. Beside another family's
 * stamp it is not even asked.
 */
#ifndef ROLLCALL_RESOLVE_NESTING_H
#define ROLLCALL_RESOLVE_NESTING_H

#include "resolve/result.h"

/* Asks the families that have a marker in the environment and decides for one:
 * result->launcher, its launch and rank in the facts, its messages, and the
 * scopes of the launchers further outside. Returns what it claims; for
 * RC_CLAIM_ABSENT there is none. */
enum rc_claim rc_nesting_recognise(struct rc_reader *reader, struct rc_result *result);

#endif
