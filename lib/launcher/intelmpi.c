/* SPDX-License-Identifier: BSD-3-Clause */
/* intelmpi.c - a task of Intel MPI's mpirun (Hydra too).
 *
 * Its tasks have Hydra's four variables, and some of Intel's own, whatever the
 * user sets: I_MPI_MPIRUN from the mpirun script, I_MPI_HYDRA_TOPOLIB from
 * mpiexec.hydra (I_MPI_DEBUG's list in many logs). I_MPI_ROOT proves nothing: a
 * module file sets it, and Slurm itself I_MPI_HYDRA_BOOTSTRAP. An MPICH task
 * inside of an Intel MPI task has these too; the proxy above it tells.
 * Intel MPI has no public source, and it was not run: the facts are from Intel's
 * manual, and from command lines and variables in published logs.
 */
#include "launcher/registry.h"

#include "launcher/hydra.h"

enum rc_claim rc_intelmpi_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    return rc_hydra_is_intel(reader) ? rc_hydra_recognise(reader, "intelmpi", facts) : RC_CLAIM_ABSENT;
}

bool rc_intelmpi_read(struct rc_reader *reader, struct rc_facts *facts)
{
    return rc_hydra_read(reader, &rc_launcher_intelmpi, facts);
}

const struct rc_launcher rc_launcher_intelmpi = {
    .id = "intelmpi",
    .title = "Intel MPI (mpirun)",
    .processes = "hydra_pmi_proxy hydra_bstrap_proxy mpiexec.hydra",
    .pass = "mpirun -genv MASTER_ADDR HOST",
    .each = "mpirun -ppn N",
    .variables = {
        RC_VARIABLE("PMI_RANK", RC_RANK),
        RC_VARIABLE("PMI_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("MPI_LOCALRANKID", RC_LOCAL_RANK),
        RC_VARIABLE("MPI_LOCALNRANKS", RC_LOCAL_WORLD_SIZE),
    },
};
