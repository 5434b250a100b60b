/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/programs.h"
#include "rendezvous/discovery.h"

#define OWN_PMIX "openmpi/mca_pmix_pmix3x.so"

/* Finds the PMIx of its own that the Open MPI of the mpirun on PATH contains. */
static bool find_own_pmix(char path[2 * PATH_MAX])
{
    static const char *const libs[] = { "lib", "lib64" };
    char program[PATH_MAX];
    char real[PATH_MAX];
    char *end;

    if (!cli_find_program("mpirun", program) || !realpath(program, real))
        return false;
    for (unsigned i = 0; i < 2 && (end = strrchr(real, '/')); i++)
        *end = '\0';
    for (unsigned i = 0; i < sizeof(libs) / sizeof(*libs); i++) {
        snprintf(path, 2 * PATH_MAX, "%s/%s/" OWN_PMIX, real, libs[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Open MPI 4.1 contains a PMIx 3.2. It does not start if it is asked for a component that it does not have
 * (openpmix#3731). */
static void check_openmpi_own(struct findings *findings)
{
    const char *asked = getenv("PMIX_GDS_MODULE");
    char path[2 * PATH_MAX];

    if (!getenv("PMIX_MCA_gds") && asked && strstr(asked, "shmem") && find_own_pmix(path) &&
        doctor_text_in_file(path, "component version 3.2.", NULL, 0))
        doctor_findings_add(findings, FINDING_D106, NULL, 0, NULL, "%s (PMIx 3.2) cannot do PMIX_GDS_MODULE=%.200s",
                            path, asked);
}

void doctor_pmix(struct findings *findings, const struct rc_result *result)
{
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    const char *server = getenv("PMIX_VERSION");

    if (!result->launcher || !rc_pmix_server_is_own(result) || (local != 0 && local != RC_UNKNOWN))
        return;
    doctor_findings_add_fact(findings, "PMIx", "the server is %s", server ? server : "before PMIx 4");
    check_openmpi_own(findings);
}

enum { FIRST_WITHOUT_PMI = 5 };

/* Reads "mpirun (Open MPI) 5.0.7". False for another MPI. */
static bool read_mpirun_version(char version[16])
{
    const char *text = doctor_run_named("mpirun", (const char *const[]){ "--version", NULL });
    const char *start = text ? strstr(text, "(Open MPI) ") : NULL;

    return start && sscanf(start, "(Open MPI) %15[0-9.]", version) == 1;
}

/* "MpiDefault              = pmix"; Slurm 26.05 has (null) for none */
static bool read_default_type(char type[32])
{
    const char *text = doctor_run_named("scontrol", (const char *const[]){ "show", "config", NULL });
    const char *start = text ? strstr(text, "\nMpiDefault ") : NULL;

    if (!start || sscanf(start, " MpiDefault = %31s", type) != 1)
        return false;
    if (strcmp(type, "(null)") == 0)
        snprintf(type, sizeof("none"), "none");
    return true;
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
    /* these types give a task no PMIx; one that is not known may */
    if (strcmp(type, "none") == 0 || strcmp(type, "pmi2") == 0 || strcmp(type, "cray_shasta") == 0)
        doctor_findings_add(findings, FINDING_D108, file, line,
                            has_pmix ? "srun --mpi=pmix" : "mpirun, since this srun has no PMIx",
                            "--mpi=%s%s for a program with mpi4py, and Open MPI here is %s", type,
                            type == given ? ", the default," : "", version);
}
