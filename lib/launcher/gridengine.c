/* SPDX-License-Identifier: BSD-3-Clause */
/* gridengine.c - a job of Grid Engine (Sun's, Son of Grid Engine, Univa's as on ABCI).
 *
 * Grid Engine starts the job script once, on the first of the job's hosts, and
 * numbers no processes: SGE_TASK_ID is the index of an array job's element, or
 * "undefined". What `qrsh -inherit HOST` starts on another host gets the same
 * variables, PE_HOSTFILE only with -V; NHOSTS, NSLOTS, JOB_NAME and REQUEST are
 * its own there (1, the slots of that host, petask), so they are no size of the
 * job; and none numbers it among its siblings. So nothing in such a job is a
 * task until mpirun or mpiexec start some: a job in itself is worth a note
 * (RC107), no more. Open MPI and Hydra read PE_HOSTFILE or the user's copy of
 * SGE_JOB_HOSTLIST (ABCI) themselves, and what they say of their tasks is those
 * families' business.
 *
 * The rule: JOB_ID and SGE_TASK_ID are there: inside, and no task.
 * Source: gridengine source/daemons/execd/exec_job.c, and Debian's 8.1.9 as it
 * runs (tests/vectors/gridengine-debian.env, gridengine-qrsh.env); docs.abci.ai,
 * job execution, environment variables.
 */
#include "launcher/registry.h"

enum rc_claim rc_gridengine_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    (void)facts;
    return rc_env_get(reader->env, "SGE_TASK_ID").n && rc_env_get(reader->env, "JOB_ID").n ? RC_CLAIM_OUTSIDE
                                                                                           : RC_CLAIM_ABSENT;
}

/* Never called: there is no task. */
bool rc_gridengine_read(struct rc_reader *reader, struct rc_facts *facts)
{
    (void)reader, (void)facts;
    return false;
}

const struct rc_launcher rc_launcher_gridengine = {
    .id = "gridengine",
    .title = "Grid Engine",
    .variables = { { .length = 0 } },
};
