/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memmem */
#include "pmix.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/findprogram.h"
#include "rendezvous/pmixserver.h"

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

/* Whether a file contains a text. */
static bool has_text(const char *path, const char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;
    bool found = false;

    if (fd >= 0 && fstat(fd, &file) == 0 && file.st_size > 0) {
        void *map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (map != MAP_FAILED) {
            found = memmem(map, (size_t)file.st_size, text, strlen(text)) != NULL;
            munmap(map, (size_t)file.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Open MPI 4.1 contains a PMIx 3.2. It does not start if it is asked for a component that it does not have
 * (openpmix#3731). */
static void check_openmpi_own(struct findings *findings)
{
    const char *asked = getenv("PMIX_GDS_MODULE");
    char path[2 * PATH_MAX];

    if (!getenv("PMIX_MCA_gds") && asked && strstr(asked, "shmem") && find_own_pmix(path) &&
        has_text(path, "component version 3.2."))
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
