/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi.h - an Open MPI program under an srun that gives it no PMIx. */
#ifndef ROLLCALL_CLI_DOCTOR_OPENMPI_H
#define ROLLCALL_CLI_DOCTOR_OPENMPI_H

#include "findings.h"
#include "slurm.h"

/* Adds D108 for an MPI program in several tasks, started in that file and line. `type`: of
 * --mpi, empty for Slurm's default. `version`: of the Open MPI that the job loads, empty for
 * that of the mpirun on PATH. */
void doctor_openmpi(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *version,
                    const char *file, unsigned line);

#endif
