/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich.c - a task of MPICH's mpiexec (Hydra), or of one that sets the same.
 *
 * Marker MPI_LOCALRANKID with PMI_RANK (PMI_ID under -pmi-port): PMI_RANK alone
 * is what srun --mpi=pmi2 and Cray's PALS set as well. The rules are in
 * hydra.h. Absent where
 * - the task is Intel MPI's (intelmpi.c),
 * - PALS_RANKID is equal and no proxy of Hydra is in sight: people export
 *   MPI_LOCALRANKID by hand there, for oneCCL.
 * Source: mpich v4.0.2 src/pm/hydra/pm/pmiserv/pmip_cb.c, launch_procs; v5.0
 * src/pm/hydra/proxy/pmip_cb.c sets the same.
 */
#include "launcher/registry.h"

#include "launcher/hydra.h"

enum rc_claim rc_mpich_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str pals = rc_env_get(reader->env, "PALS_RANKID");

    if (rc_hydra_is_intel(reader) ||
        (pals.n && rc_str_eq(pals, rc_env_get(reader->env, "PMI_RANK")) && !rc_hydra_in_sight(reader)))
        return RC_CLAIM_ABSENT;
    return rc_hydra_recognise(reader, "mpich", facts);
}

bool rc_mpich_read(struct rc_reader *reader, struct rc_facts *facts)
{
    return rc_hydra_read(reader, &rc_launcher_mpich, facts);
}

const struct rc_launcher rc_launcher_mpich = {
    .id = "mpich",
    .title = "MPICH (mpiexec)",
    .processes = "hydra_pmi_proxy mpiexec.hydra mpiexec.mpich mpirun.mpich",
    .pass = "mpiexec -genv MASTER_ADDR HOST",
    .each = "mpiexec -ppn N",
    .variables = {
        RC_VARIABLE("PMI_RANK", RC_RANK),
        RC_VARIABLE("PMI_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("MPI_LOCALRANKID", RC_LOCAL_RANK),
        RC_VARIABLE("MPI_LOCALNRANKS", RC_LOCAL_WORLD_SIZE),
    },
};
