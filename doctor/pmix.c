#include "pmix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/pmixask.h"
#include "exchange/server.h"
#include "numbers.h"
#include "path.h"
#include "system/program.h"

extern char **environ;

enum { PATIENCE_MS = 12000, ANSWER = 16384 };

/* What PMIx_Init says where only the server is missing: PMIX_ERR_UNREACH, and PMIx 7's PMIX_ERR_COMM_FAILURE. */
enum { UNREACHED = -25, NO_CONNECTION = -49, OUTDATED = -76, UNKNOWN = 1 };

#define LIBRARY "libpmix.so.2"

/* What rollcall-pmix says of a library (pmix/opening.h). */
struct opening {
    char text[ANSWER];
    const char *version; /* NULL: there is none */
    const char *path;
    int status; /* UNKNOWN: none, it may have crashed */
};

static const char *const *environment(const char *folder, char value[PATH_MAX + ANSWER], size_t *count)
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

/* folder: in which it is looked for first; NULL: as the program would find it. */
static bool try(const char *verb, const char *folder, struct opening *opening)
{
    static char value[PATH_MAX + ANSWER];
    char path[PATH_MAX];
    struct rc_program program = { .path = path, .argument = verb, .milliseconds = PATIENCE_MS };
    const char *const *env;
    size_t count;
    ssize_t size;
    int status;

    *opening = (struct opening){ .status = UNKNOWN };
    if (rc_own_program("rollcall-pmix", path) < 0 || !(env = environment(folder, value, &count)))
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

/* The folder of a library beside the mpirun of PATH, which its programs load first. */
static bool beside_mpirun(char folder[PATH_MAX])
{
    static const char *const libs[] = { "lib", "lib64" };
    char program[PATH_MAX];
    char real[PATH_MAX];
    char *end;

    if (!doctor_find_program("mpirun", program) || !realpath(program, real))
        return false;
    for (unsigned i = 0; i < 2 && (end = strrchr(real, '/')); i++)
        *end = '\0';
    for (unsigned i = 0; i < sizeof(libs) / sizeof(*libs); i++) {
        char library[2 * PATH_MAX];

        snprintf(library, sizeof(library), "%s/%s/" LIBRARY, real, libs[i]);
        if (access(library, R_OK) == 0 && snprintf(folder, PATH_MAX, "%s/%s", real, libs[i]) < PATH_MAX)
            return true;
    }
    return false;
}

static bool opens(const struct opening *opening)
{
    return opening->status == UNREACHED || opening->status == NO_CONNECTION || opening->status == 0;
}

/* A server that is too old is told by its variables alone. Where the library would get further
 * if nobody asked for a component it is the one that is asked for. */
static void explain(struct findings *findings, const struct opening *opening, const char *server, const char *folder)
{
    static struct opening freely;
    const char *own = getenv("PMIX_MCA_psec");
    const char *asked = own ? own : getenv("PMIX_SECURITY_MODE");

    if (opening->status == OUTDATED)
        findings_add(findings, FINDING_D107, NULL, 0, NULL, "%s is PMIx %s, which refuses this launch's server (%s)",
                     opening->path ? opening->path : LIBRARY, opening->version, server);
    else if (!opens(opening) && asked && try("open-freely", folder, &freely) && opens(&freely))
        findings_add(findings, FINDING_D106, NULL, 0, NULL, "%s (PMIx %s) cannot do %s=%s", opening->path ? opening->path : LIBRARY,
                     opening->version, own ? "PMIX_MCA_psec" : "PMIX_SECURITY_MODE", asked);
}

void doctor_pmix(struct findings *findings, const struct rc_result *result)
{
    static struct opening found;
    static struct opening other;
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    const char *server = getenv("PMIX_VERSION");
    char folder[PATH_MAX];

    if (!result->launcher || !rc_has_own_server(result) || (local != 0 && local != RC_UNKNOWN) ||
        !try("open", NULL, &found))
        return;
    if (!server)
        server = "before PMIx 4";
    if (found.version) {
        findings_fact(findings, "PMIx", "the server is %s, %s is %s", server, found.path ? found.path : LIBRARY, found.version);
        explain(findings, &found, server, NULL);
    } else {
        findings_fact(findings, "PMIx", "the server is %s, no " LIBRARY " is found here", server);
    }
    if (beside_mpirun(folder) && try("open", folder, &other) && other.version && other.path && (!found.path || strcmp(found.path, other.path) != 0)) {
        findings_fact(findings, "MPI", "its own %s is %s", other.path, other.version);
        explain(findings, &other, server, folder);
    }
}
