/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/launcher.h"
#include "launcher/layout.h"

/* A task of MVAPICH's mpirun_rsh (version 2, and MVP_ since 3).
 *
 * Marker MV2_COMM_WORLD_RANK or MVP_COMM_WORLD_RANK, with _SIZE, _LOCAL_RANK and _LOCAL_SIZE. mpispawn, one a node, was
 * started with its orders in the environment, which its tasks inherit:
 * - number of nodes: MPISPAWN_NNODES, else MV2_NUM_NODES_IN_JOB, else size / local size if there is no rest,
 * - node rank: MPISPAWN_ID, the hosts' number in the order in which they first come in the host file, which is that of
 *   their lowest ranks; else that of an even layout by slot,
 * - host of rank 0: MPISPAWN_MPIRUN_HOST, where mpirun_rsh runs, until RANK 0 has
 *   compared it with its own addresses; the host file is not named to tasks.
 * MVAPICH's own Hydra sets these names with MPI_LOCALRANKID: with equal ranks,
 * and no MPISPAWN_MPIRUN_ID, the task is MPICH's (hydra.c). Under srun there are none of them.
 * Source: mvapich2 src/pm/mpirun/{mpirun_rsh,mpispawn}.c; not run. */

enum rc_claim rc_mvapich_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *rank = &facts->field[RC_RANK];
    struct rc_number hydra = { RC_UNKNOWN, NULL };
    struct rc_str host = rc_env_get(reader->env, "MPISPAWN_MPIRUN_HOST");
    struct rc_str id = rc_env_get(reader->env, "MPISPAWN_MPIRUN_ID");

    if (!rc_read_either(reader, "MV2_COMM_WORLD_RANK", "MVP_COMM_WORLD_RANK", rank))
        return RC_CLAIM_BROKEN;
    if (rank->value == RC_UNKNOWN)
        return RC_CLAIM_ABSENT;
    if (!id.n && rc_env_get(reader->env, "MPI_LOCALRANKID").n &&
        rc_parse_u32(rc_env_get(reader->env, "PMI_RANK"), RC_MAX_TASKS, &hydra.value) && hydra.value == rank->value)
        return RC_CLAIM_ABSENT;
    rc_facts_name(reader, facts, "mvapich",
                  host.n && id.n ? rc_str(rc_format(reader->arena, "%pS.%pS", &host, &id)) : RC_ABSENT);
    return RC_CLAIM_TASK;
}

static bool read_place(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;

    if (!rc_read_either(reader, "MPISPAWN_NNODES", "MV2_NUM_NODES_IN_JOB", &field[RC_NNODES]) ||
        !rc_read_number(reader, "MPISPAWN_ID", &field[RC_NODE_RANK]) || !rc_layout_nnodes(reader, facts))
        return false;
    if (field[RC_NODE_RANK].value == RC_UNKNOWN)
        field[RC_NODE_RANK] = rc_layout_by_slot(facts);
    return field[RC_NODE_RANK].value != RC_UNKNOWN;
}

bool rc_mvapich_read(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!rc_read_fields(reader, &rc_launcher_mvapich, facts, "MV2_COMM_WORLD_RANK",
                        1u << RC_WORLD_SIZE | 1u << RC_LOCAL_RANK | 1u << RC_LOCAL_WORLD_SIZE))
        return false;
    if (!read_place(reader, facts))
        return rc_layout_refuse(reader, facts, rc_launcher_mvapich.each);
    rc_layout_spread(facts);
    if (facts->field[RC_NNODES].value > 1) {
        facts->master_host = rc_env_get(reader->env, "MPISPAWN_MPIRUN_HOST");
        facts->master_source = "mpirun_rsh's host in MPISPAWN_MPIRUN_HOST, checked by rank 0";
    }
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_mvapich = {
    .id = "mvapich",
    .title = "MVAPICH (mpirun_rsh)",
    .processes = "mpispawn mpirun_rsh",
    .pass = "mpirun_rsh ... MASTER_ADDR=HOST",
    .each = "mpirun_rsh -ppn N",
    .variables = {
        RC_VARIABLE("MV2_COMM_WORLD_RANK", RC_RANK),
        RC_VARIABLE("MV2_COMM_WORLD_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("MV2_COMM_WORLD_LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("MV2_COMM_WORLD_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
        RC_VARIABLE("MVP_COMM_WORLD_RANK", RC_RANK),
        RC_VARIABLE("MVP_COMM_WORLD_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("MVP_COMM_WORLD_LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("MVP_COMM_WORLD_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
    },
};
