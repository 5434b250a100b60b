/* SPDX-License-Identifier: BSD-3-Clause */
#include "openmpi.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "cli/programs.h"
#include "system/program.h"

extern char **environ;

enum { PATIENCE_MS = 5000, ANSWER = 65536, FIRST_WITHOUT_PMI = 5 };

/* The output of a program on PATH with these arguments; NULL where it failed. */
static const char *run_program(const char *name, const char *const *words)
{
    static char answer[ANSWER];
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = RC_PROGRAM_USER,
        .path = path,
        .argument = words[0],
        .more = words + 1,
        .env = (const char *const *)environ,
        .milliseconds = PATIENCE_MS,
    };
    int status;

    if (!cli_find_program(name, path) || rc_program_run(&program, answer, sizeof(answer), &status) <= 0 ||
        !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return NULL;
    return answer;
}

/* Reads "mpirun (Open MPI) 5.0.7". False for another MPI. */
static bool read_mpirun_version(char version[16])
{
    const char *text = run_program("mpirun", (const char *const[]){ "--version", NULL });
    const char *start = text ? strstr(text, "(Open MPI) ") : NULL;

    return start && sscanf(start, "(Open MPI) %15[0-9.]", version) == 1;
}

/* "MpiDefault              = pmix"; Slurm 26.05 has (null) for none */
static bool read_default_type(char type[32])
{
    const char *text = run_program("scontrol", (const char *const[]){ "show", "config", NULL });
    const char *start = text ? strstr(text, "\nMpiDefault ") : NULL;

    if (!start || sscanf(start, " MpiDefault = %31s", type) != 1)
        return false;
    if (strcmp(type, "(null)") == 0)
        snprintf(type, sizeof("none"), "none");
    return true;
}

/* Whether a type of --mpi gives a task no PMIx. An unknown type may give it. */
static bool lacks_pmix(const char *type)
{
    return strcmp(type, "none") == 0 || strcmp(type, "pmi2") == 0 || strcmp(type, "cray_shasta") == 0;
}

void doctor_openmpi(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *version,
                    const char *file, unsigned line)
{
    char given[32];
    char here[16];
    uint32_t major;
    bool has_pmix = !slurm->types[0] || strstr(slurm->types, " pmix ");

    if (!*version) {
        if (!read_mpirun_version(here))
            return;
        version = here;
    }
    if (!rc_parse_u32((struct rc_str){ version, strcspn(version, ".") }, UINT16_MAX, &major) ||
        major < FIRST_WITHOUT_PMI)
        return;
    if (!*type) {
        if (!read_default_type(given))
            return;
        type = given;
    }
    if (lacks_pmix(type))
        doctor_findings_add(findings, FINDING_D108, file, line,
                            has_pmix ? "srun --mpi=pmix" : "mpirun, since this srun has no PMIx",
                            "--mpi=%s%s for a program with mpi4py, and Open MPI here is %s", type,
                            type == given ? ", the default," : "", version);
}
