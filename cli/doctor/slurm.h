/* SPDX-License-Identifier: BSD-3-Clause */
/* slurm.h - the srun of this machine: whether it runs and has the plugin, and its types of --mpi. */
#ifndef ROLLCALL_CLI_DOCTOR_SLURM_H
#define ROLLCALL_CLI_DOCTOR_SLURM_H

#include "findings.h"

enum { DOCTOR_SERIES = 16, DOCTOR_TYPES = 512 };

struct doctor_slurm {
    char series[DOCTOR_SERIES]; /* "22.05"; empty where there is no srun */
    char types[DOCTOR_TYPES];   /* " none pmi2 pmix "; empty where that is not known */
    bool has_option;            /* srun knows --ddp */
};

/* Asks srun. `for_script`: an srun that does not run is no finding, because the job may start elsewhere. */
void doctor_slurm(struct findings *findings, struct doctor_slurm *slurm, bool for_script);

/* Adds D105 where srun has no such type. file and line may be NULL and 0. */
void doctor_slurm_type(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *file,
                       unsigned line);

#endif
