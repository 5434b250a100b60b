/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
