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

#include "base/numbers.h"
#include "cli/findprogram.h"
#include "cli/pmixask.h"
#include "rendezvous/pmixserver.h"
#include "system/program.h"

extern char **environ;

enum { PATIENCE_MS = 12000, ANSWER = 16384, ASKED = 256 };

/* UNREACHED and NO_CONNECTION: what PMIx_Init returns where only the server is missing (PMIX_ERR_UNREACH, and
 * PMIX_ERR_COMM_FAILURE of PMIx 7). */
enum { UNREACHED = -25, NO_CONNECTION = -49, OUTDATED = -76, UNKNOWN = 1 };

#define LIBRARY "libpmix.so.2"
#define OWN     "openmpi/mca_pmix_pmix3x.so"

#define HASH       "export PMIX_MCA_gds=hash"
#define NATIVE_TOO "PMIX_MCA_psec=native"
#define NATIVE     "export " NATIVE_TOO ", or take a libpmix with that component; in a container mount /run/munge"

/* What rollcall-pmix prints about a library (libexec/pmix/opening.h). */
struct opening {
    char text[ANSWER];
    const char *version; /* NULL: no library was found */
    const char *path;
    int status; /* UNKNOWN: not printed, it may have crashed */
};

static const char *const *copy_environment(const char *folder, char value[PATH_MAX + ANSWER], size_t *count)
{
    const char **copy;
    const char *before = getenv("LD_LIBRARY_PATH");

    for (*count = 0; environ[*count]; ++*count)
        continue;
    copy = malloc((*count + 2) * sizeof(*copy));
    if (!copy)
        return NULL;
    *count = 0;
    for (char **name = environ; *name; name++)
        if (!folder || strncmp(*name, "LD_LIBRARY_PATH=", 16) != 0)
            copy[(*count)++] = *name;
    if (folder) {
        snprintf(value, PATH_MAX + ANSWER, "LD_LIBRARY_PATH=%s%s%s", folder, before && *before ? ":" : "",
                 before ? before : "");
        copy[(*count)++] = value;
    }
    copy[*count] = NULL;
    return copy;
}

/* "OpenPMIx 4.2.2rc2 (PMIx Standard: ...)": the number alone. */
static const char *version_in(char *text)
{
    char *start = text + strcspn(text, "0123456789");

    start[strcspn(start, " ,")] = '\0';
    return *start ? start : text;
}

/* "-25 UNREACHABLE" */
static int status_in(const char *text)
{
    struct rc_str word = rc_str_split(rc_str(text), ' ', &(struct rc_str){ .p = NULL });
    uint32_t number;

    if (rc_str_is(word, "0"))
        return 0;
    return *text == '-' && rc_parse_u32((struct rc_str){ word.p + 1, word.n - 1 }, INT16_MAX, &number) ? -(int)number
                                                                                                       : UNKNOWN;
}

static void read_line(struct opening *opening, char *line)
{
    if (strncmp(line, "version=", 8) == 0)
        opening->version = version_in(line + 8);
    else if (strncmp(line, "path=", 5) == 0)
        opening->path = line + 5;
    else if (strncmp(line, "status=", 7) == 0)
        opening->status = status_in(line + 7);
}

/* Has rollcall-pmix open libpmix. folder: where the loader looks first; NULL: as for the user's program. */
static bool open_library(const char *verb, const char *folder, struct opening *opening)
{
    static char value[PATH_MAX + ANSWER];
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = RC_PROGRAM_PMIX, .path = path, .argument = verb, .milliseconds = PATIENCE_MS
    };
    const char *const *env;
    size_t count;
    ssize_t size;
    int status;

    *opening = (struct opening){ .status = UNKNOWN };
    if (cli_own_program("rollcall-pmix", path) < 0 || !(env = copy_environment(folder, value, &count)))
        return false;
    program.env = env;
    size = rc_program_run(&program, opening->text, sizeof(opening->text), &status);
    free((void *)(uintptr_t)env);
    if (size <= 0)
        return false;
    for (char *line = opening->text, *next; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        read_line(opening, line);
    }
    return true;
}

/* Finds the library folder of the mpirun on PATH that has this file. */
static bool beside_mpirun(const char *file, char folder[PATH_MAX])
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
        char path[2 * PATH_MAX];

        snprintf(path, sizeof(path), "%s/%s/%s", real, libs[i], file);
        if (access(path, R_OK) == 0 && snprintf(folder, PATH_MAX, "%s/%s", real, libs[i]) < PATH_MAX)
            return true;
    }
    return false;
}

static bool is_usable(const struct opening *opening)
{
    return opening->status == UNREACHED || opening->status == NO_CONNECTION || opening->status == 0;
}

/* Writes the user's variable, or else the server's, as "NAME=VALUE"; "" where neither is set. */
static void format_request(const char *user, const char *server, char text[ASKED])
{
    const char *name = getenv(user) ? user : server;
    const char *value = getenv(name);

    text[0] = '\0';
    if (value)
        snprintf(text, ASKED, "%s=%.200s", name, value);
}

/* Adds D107 for a server that is too old, which its variables tell. Adds D106 where the library opens
 * without the request for a component: then that component is missing. */
static void explain_opening(struct findings *findings, const struct opening *opening, const char *server,
                            const char *folder)
{
    static const char *const verbs[] = { "open-psec", "open-gds", "open-psec-gds" };
    static struct opening other;
    const char *modes = getenv("PMIX_SECURITY_MODE");
    const char *library = opening->path ? opening->path : LIBRARY;
    char psec[ASKED];
    char gds[ASKED];
    unsigned i = 0;

    if (opening->status == OUTDATED)
        doctor_findings_add(findings, FINDING_D107, NULL, 0, NULL,
                            "%s is PMIx %s, which refuses this launch's server (%s)", library, opening->version,
                            server);
    if (opening->status == OUTDATED || is_usable(opening))
        return;
    while (i < 3 && !(open_library(verbs[i], folder, &other) && is_usable(&other)))
        i++;
    format_request("PMIX_MCA_psec", "PMIX_SECURITY_MODE", psec);
    format_request("PMIX_MCA_gds", "PMIX_GDS_MODULE", gds);
    if (i < 3)
        doctor_findings_add(findings, FINDING_D106, NULL, 0,
                            i == 1                               ? HASH
                            : !modes || !strstr(modes, "native") ? NULL
                            : i == 0                             ? NATIVE
                                                                 : HASH " " NATIVE_TOO,
                            "%s (PMIx %s) cannot do %s%s%s", library, opening->version, i == 1 ? "" : psec,
                            i == 2 ? " and " : "", i == 0 ? "" : gds);
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

/* Open MPI 4.1 contains a PMIx 3.2, which is not in a libpmix.so.2. It does not start if it is
 * asked for a component that it does not have (openpmix#3731). */
static void check_openmpi_own(struct findings *findings)
{
    const char *server = getenv("PMIX_GDS_MODULE");
    char path[2 * PATH_MAX];
    char folder[PATH_MAX];

    if (getenv("PMIX_MCA_gds") || !server || !strstr(server, "shmem") || !beside_mpirun(OWN, folder))
        return;
    snprintf(path, sizeof(path), "%s/" OWN, folder);
    if (has_text(path, "component version 3.2."))
        doctor_findings_add(findings, FINDING_D106, NULL, 0, HASH, "%s (PMIx 3.2) cannot do PMIX_GDS_MODULE=%.200s",
                            path, server);
}

void doctor_pmix(struct findings *findings, const struct rc_result *result)
{
    static struct opening found;
    static struct opening other;
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    const char *server = getenv("PMIX_VERSION");
    char folder[PATH_MAX];

    if (!result->launcher || !rc_pmix_server_is_own(result) || (local != 0 && local != RC_UNKNOWN) ||
        !open_library("open", NULL, &found))
        return;
    if (!server)
        server = "before PMIx 4";
    if (found.version) {
        doctor_findings_add_fact(findings, "PMIx", "the server is %s, %s is %s", server,
                                 found.path ? found.path : LIBRARY, found.version);
        explain_opening(findings, &found, server, NULL);
    } else {
        doctor_findings_add_fact(findings, "PMIx", "the server is %s, no " LIBRARY " is found here", server);
    }
    if (beside_mpirun(LIBRARY, folder) && open_library("open", folder, &other) && other.version && other.path &&
        (!found.path || strcmp(found.path, other.path) != 0)) {
        doctor_findings_add_fact(findings, "MPI", "its own %s is %s", other.path, other.version);
        explain_opening(findings, &other, server, folder);
    }
    check_openmpi_own(findings);
}
