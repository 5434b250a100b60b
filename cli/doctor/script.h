/* SPDX-License-Identifier: BSD-3-Clause */
/* script.h - a training script and a job, read by this machine's Python. */
#ifndef ROLLCALL_CLI_DOCTOR_SCRIPT_H
#define ROLLCALL_CLI_DOCTOR_SCRIPT_H

#include "findings.h"
#include "slurm.h"

struct doctor_request {
    const char *script;      /* NULL: none */
    const char *job;         /* a job script, NULL: none */
    const char *const *line; /* srun, sbatch or the command itself; NULL: none */
};

/* Adds what python/main.py finds; D421 for a file that it could not look at. Returns 0, or -1, after one line on
 * standard error, where a file cannot be read. */
int doctor_script(struct findings *findings, const struct doctor_request *request, const struct doctor_slurm *slurm);

#endif
