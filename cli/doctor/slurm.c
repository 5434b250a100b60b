/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plugin.h"
#include "base/text.h"
#include "cli/programs.h"
#include "doctor.h"
#include "resolve/options.h"
#include "system/program.h"

/* Copies up to the next zero byte, or up to the end. */
static void copy_text(const char *from, const char *end, char *text, size_t size)
{
    size_t n = strnlen(from, (size_t)(end - from));

    if (n >= size)
        n = size - 1;
    memcpy(text, from, n);
    text[n] = '\0';
}

static bool search_open_file(int fd, const char *text, char *rest, size_t size)
{
    struct stat file;
    const char *map;
    const char *found;
    size_t length;

    if (fstat(fd, &file) < 0 || file.st_size <= 0)
        return false;
    length = (size_t)file.st_size;
    map = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    found = memmem(map, length, text, strlen(text));
    if (found && rest)
        copy_text(found + strlen(text), map + length, rest, size);
    munmap((void *)(uintptr_t)map, length);
    return found != NULL;
}

bool doctor_text_in_file(const char *path, const char *text, char *rest, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && search_open_file(fd, text, rest, size);

    if (fd >= 0)
        close(fd);
    return found;
}

enum { DEEPEST = 4, LINE = 4096, WRONG = 4096 };

/* Where Slurm's plugstack.conf names rollcall's plugin. */
struct plugstack {
    char conf[PATH_MAX]; /* the file that names it */
    unsigned line;
    char plugin[PATH_MAX]; /* as it is written there */
    bool has_default;      /* it acts on steps that nobody has asked it for */
};

static bool read_conf(const char *path, unsigned depth, struct plugstack *found);

/* The next word of a line. */
static char *next_word(char **rest)
{
    char *start = *rest + strspn(*rest, " \t");
    size_t n = strcspn(start, " \t\r\n");

    *rest = start + n;
    if (**rest)
        *(*rest)++ = '\0';
    return start;
}

static bool is_ours(const char *plugin)
{
    const char *slash = strrchr(plugin, '/');

    return strstr(slash ? slash : plugin, "rollcall") != NULL;
}

/* Whether a default= after the plugin has it act on steps that nobody has asked it for. */
static bool read_default(char *rest)
{
    struct rc_options options = { .given = false };

    for (const char *word; *(word = next_word(&rest));) {
        char text[WRONG];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        struct rc_messages wrong = { .arena = &arena };

        if (rc_str_starts(rc_str(word), "default="))
            rc_options_parse(rc_str(word + strlen("default=")), "default=", &options, &wrong);
    }
    return options.given && options.mode != RC_MODE_OFF;
}

/* Reads the files of an include. A relative pattern is relative to the including file's folder. */
static bool read_included(const char *from, const char *pattern, unsigned depth, struct plugstack *found)
{
    char whole[PATH_MAX];
    const char *slash = strrchr(from, '/');
    bool done = false;
    glob_t files;
    int n;

    n = *pattern == '/' || !slash ? snprintf(whole, sizeof(whole), "%s", pattern)
                                  : snprintf(whole, sizeof(whole), "%.*s/%s", (int)(slash - from), from, pattern);
    if (n < 0 || (size_t)n >= sizeof(whole) || glob(whole, 0, NULL, &files) != 0)
        return false;
    for (size_t i = 0; i < files.gl_pathc && !done; i++)
        done = read_conf(files.gl_pathv[i], depth + 1, found);
    globfree(&files);
    return done;
}

static bool read_conf(const char *path, unsigned depth, struct plugstack *found)
{
    FILE *file = depth < DEEPEST ? fopen(path, "re") : NULL;
    char text[LINE];
    bool done = false;

    if (!file)
        return false;
    if (depth == 0)
        snprintf(found->conf, sizeof(found->conf), "%s", path);
    for (unsigned number = 1; !done && fgets(text, sizeof(text), file); number++) {
        char *rest = text;
        const char *first = next_word(&rest);
        const char *second = next_word(&rest);

        if (strcmp(first, "include") == 0) {
            done = read_included(path, second, depth, found);
        } else if ((strcmp(first, "optional") == 0 || strcmp(first, "required") == 0) && is_ours(second)) {
            snprintf(found->conf, sizeof(found->conf), "%s", path);
            snprintf(found->plugin, sizeof(found->plugin), "%s", second);
            found->line = number;
            found->has_default = read_default(rest);
            done = true;
        }
    }
    fclose(file);
    return done;
}

/* Reads PlugStackConfig of slurm.conf. */
static bool read_configured_path(const char *conf, char path[PATH_MAX])
{
    static const char key[] = "PlugStackConfig=";
    FILE *file = fopen(conf, "re");
    char text[LINE];
    bool found = false;

    while (file && !found && fgets(text, sizeof(text), file)) {
        char *rest = text;
        const char *first = next_word(&rest);

        found = strncasecmp(first, key, sizeof(key) - 1) == 0;
        if (found)
            snprintf(path, PATH_MAX, "%s", first + sizeof(key) - 1);
    }
    if (file)
        fclose(file);
    return found;
}

static bool read_conf_beside(const char *conf, struct plugstack *found)
{
    char path[PATH_MAX];
    const char *slash = strrchr(conf, '/');

    if (!read_configured_path(conf, path) &&
        (!slash || snprintf(path, sizeof(path), "%.*s/plugstack.conf", (int)(slash - conf), conf) >= (int)sizeof(path)))
        return false;
    return read_conf(path, 0, found);
}

/* Reads plugstack.conf and the files that it includes. It is beside slurm.conf (SLURM_CONF, else the usual places), or
 * where PlugStackConfig says. Where it names no such plugin, only conf is set, to the file that was read. */
static void find_plugin(struct plugstack *found)
{
    static const char *const usual[] = { "/etc/slurm/slurm.conf",      "/etc/slurm-llnl/slurm.conf",
                                         "/usr/local/etc/slurm.conf",  "/opt/slurm/etc/slurm.conf",
                                         "/run/slurm/conf/slurm.conf", "/var/spool/slurmd/conf-cache/slurm.conf" };
    const char *conf = getenv("SLURM_CONF");

    *found = (struct plugstack){ .line = 0 };
    if (conf && *conf == '/') {
        read_conf_beside(conf, found);
        return;
    }
    for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        if (read_conf_beside(usual[i], found))
            return;
}

extern char **environ;

enum { PATIENCE_MS = 10000, ANSWER = 256 * 1024 };

static char answer[ANSWER];

/* srun's last line names the fatal error. */
static const char *last_line(char *text)
{
    char *end = text + strlen(text);
    const char *start;

    while (end > text && end[-1] == '\n')
        *--end = '\0';
    start = strrchr(text, '\n');
    return start ? start + 1 : text;
}

const char *doctor_run(const char *path, const char *const *words)
{
    struct rc_program program = {
        .kind = RC_PROGRAM_USER,
        .path = path,
        .argument = words[0],
        .more = words + 1,
        .with_errors = true,
        .env = (const char *const *)environ,
        .milliseconds = PATIENCE_MS,
    };
    int status;
    ssize_t n = rc_program_run(&program, answer, sizeof(answer), &status);

    if (n > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return answer;
    if (n <= 0)
        answer[0] = '\0';
    return NULL;
}

/* The output of srun with one argument; NULL, with D101 in `faults`, where it fails. */
static const char *run_srun(struct findings *faults, const char *srun, const char *argument)
{
    const char *text = doctor_run(srun, (const char *const[]){ argument, NULL });

    if (!text && faults)
        doctor_findings_add(faults, FINDING_D101, NULL, 0, NULL, "%s %s fails%s%s", srun, argument,
                            answer[0] ? ": " : "", last_line(answer));
    return text;
}

/* "slurm 22.05.8", Debian's "slurm-wlm 22.05.8" */
static bool read_series(const char *text, char series[DOCTOR_SERIES])
{
    unsigned major;
    unsigned minor;
    const char *start = strncmp(text, "slurm", 5) == 0 ? strchr(text, ' ') : NULL;

    if (!start || sscanf(start, " %4u.%4u", &major, &minor) != 2)
        return false;
    snprintf(series, DOCTOR_SERIES, "%02u.%02u", major, minor);
    return true;
}

/* Words in the list that are not types. */
static bool is_filler(const char *word, size_t n)
{
    static const char *const fillers[] = { "specific", "plugin", "versions", "available" };

    for (unsigned i = 0; i < sizeof(fillers) / sizeof(*fillers); i++)
        if (strlen(fillers[i]) == n && strncmp(word, fillers[i], n) == 0)
            return true;
    return false;
}

/* Reads the types after "MPI plugin types are", one a line. From Slurm 22.05 on
 * "specific pmix plugin versions available: pmix_v4,..." follows. */
static void read_types(const char *text, char types[DOCTOR_TYPES])
{
    const char *start = strstr(text, "MPI plugin types are");
    size_t used = 0;

    types[0] = '\0';
    if (!start)
        return;
    start += strlen("MPI plugin types are");
    types[used++] = ' ';
    while (*start && used + 2 < DOCTOR_TYPES) {
        size_t n = strspn(start, "abcdefghijklmnopqrstuvwxyz0123456789_");

        if (n > 0 && used + n + 2 < DOCTOR_TYPES && !is_filler(start, n)) {
            memcpy(types + used, start, n);
            memcpy(types + used + n, " ", 2);
            /* keeps it only if it is not in the list yet */
            if (strstr(types, types + used - 1) == types + used - 1)
                used += n + 1;
            types[used] = '\0';
        }
        start += n ? n : 1;
    }
    types[used] = '\0';
}

/* Finds out why srun does not know --ddp. */
static void explain_missing_option(struct findings *findings, const struct doctor_slurm *slurm,
                                   const struct plugstack *stack)
{
    bool named = stack->plugin[0];
    char series[DOCTOR_SERIES];
    bool has_series = named && doctor_text_in_file(stack->plugin, RC_PLUGIN_FOR_SLURM, series, sizeof(series));

    if (has_series && strcmp(series, slurm->series) != 0)
        doctor_findings_add(findings, FINDING_D103, stack->conf, stack->line, NULL,
                            "%s was built for Slurm %s, srun is of %s", stack->plugin, series, slurm->series);
    else if (named && stack->plugin[0] == '/' && access(stack->plugin, F_OK) < 0)
        doctor_findings_add(findings, FINDING_D104, stack->conf, stack->line, NULL, "%s is not there", stack->plugin);
    else
        doctor_findings_add(findings, FINDING_D102, stack->conf[0] ? stack->conf : NULL, stack->line, NULL,
                            named ? "srun --help does not list --ddp, although the plugin is named here"
                                  : "srun --help does not list --ddp: no plugstack.conf names the plugin");
}

void doctor_slurm(struct findings *findings, struct doctor_slurm *slurm, bool for_script)
{
    struct findings *faults = for_script ? NULL : findings;
    struct plugstack stack;
    char srun[PATH_MAX];
    const char *text;

    find_plugin(&stack);
    *slurm = (struct doctor_slurm){ .has_default = stack.has_default };
    if (!cli_find_program("srun", srun))
        return;
    text = run_srun(faults, srun, "--version");
    if (!text)
        return;
    if (!read_series(text, slurm->series)) {
        if (faults)
            doctor_findings_add(faults, FINDING_D101, NULL, 0, NULL, "%s --version says no version", srun);
        return;
    }
    text = run_srun(faults, srun, "--help");
    if (!text)
        return;
    slurm->has_option = strstr(text, "--ddp") != NULL;
    if (!slurm->has_option)
        explain_missing_option(findings, slurm, &stack);
    text = run_srun(faults, srun, "--mpi=list");
    if (text)
        read_types(text, slurm->types);
    doctor_findings_add_fact(findings, "Slurm", "%s, %s --ddp, --mpi:%s", slurm->series,
                             slurm->has_option ? "with" : "without", slurm->types[0] ? slurm->types : " not known");
}

void doctor_slurm_type(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *file,
                       unsigned line)
{
    char word[64];

    if (!slurm->types[0] || !*type || strcmp(type, "list") == 0 ||
        snprintf(word, sizeof(word), " %s ", type) >= (int)sizeof(word) || strstr(slurm->types, word))
        return;
    doctor_findings_add(findings, FINDING_D105, file, line, NULL, "--mpi=%s, but srun of this machine has%s", type,
                        slurm->types);
}

void doctor_ddp_option(struct findings *findings, const char *text, const char *file, unsigned line)
{
    char why[WRONG];
    struct rc_arena arena = { .base = why, .size = sizeof(why) };
    struct rc_messages wrong = { .arena = &arena };
    struct rc_options options;

    if (strchr(text, '$') || rc_options_parse(rc_str(text), "--ddp", &options, &wrong) || wrong.count == 0)
        return;
    doctor_findings_add(findings, FINDING_D524, file, line, NULL, "%s", wrong.list[0].text);
}
