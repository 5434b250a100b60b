/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* getdelim */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"
#include "cli/cli.h"
#include "doctor.h"
#include "resolve/options.h"
#include "system/node.h"
#include "system/program.h"

extern char **environ;

bool doctor_text_in_file(const char *path, const char *text, char *rest, size_t size)
{
    FILE *file = fopen(path, "re");
    const char *found = NULL;
    char *string = NULL;
    size_t room = 0;

    while (file && !found && getdelim(&string, &room, '\0', file) > 0)
        found = strstr(string, text);
    if (found)
        snprintf(rest, size, "%s", found + strlen(text));
    if (file)
        fclose(file);
    free(string);
    return found != NULL;
}

enum { DEEPEST = 4, LINE = 4096 };

static void read_conf(const char *path, unsigned depth, struct doctor_plugin *found);

static char *next_word(char **rest)
{
    char *start = *rest + strspn(*rest, " \t");
    size_t n = strcspn(start, " \t\r\n");

    *rest = start + n;
    if (**rest)
        *(*rest)++ = '\0';
    return start;
}

/* Record the first line that names the plugin, and the place of the second. */
static void take_line(struct doctor_plugin *found, const char *conf, unsigned number, const char *path, char *rest)
{
    size_t n = 0;

    if (found->path[0]) {
        if (!found->twin[0] && (*path != '/' || access(path, F_OK) == 0))
            snprintf(found->twin, sizeof(found->twin), "%s:%u", conf, number);
        return;
    }
    snprintf(found->conf, sizeof(found->conf), "%s", conf);
    snprintf(found->path, sizeof(found->path), "%s", path);
    found->line = number;
    /* split as Slurm does */
    for (const char *word; *(word = next_word(&rest)) && n < sizeof(found->words);)
        n += (size_t)snprintf(found->words + n, sizeof(found->words) - n, "%s%s", n ? " " : "", word);
}

/* Read the files of an include. A relative pattern starts at the including file's folder. */
static void read_included(const char *from, const char *pattern, unsigned depth, struct doctor_plugin *found)
{
    char whole[PATH_MAX];
    const char *slash = strrchr(from, '/');
    glob_t files;
    int n;

    n = *pattern == '/' || !slash ? snprintf(whole, sizeof(whole), "%s", pattern)
                                  : snprintf(whole, sizeof(whole), "%.*s/%s", (int)(slash - from), from, pattern);
    if (n < 0 || (size_t)n >= sizeof(whole) || glob(whole, 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++)
        read_conf(files.gl_pathv[i], depth + 1, found);
    globfree(&files);
}

static void read_conf(const char *path, unsigned depth, struct doctor_plugin *found)
{
    FILE *file = depth < DEEPEST ? fopen(path, "re") : NULL;
    char text[LINE];

    if (!file)
        return;
    if (depth == 0)
        snprintf(found->conf, sizeof(found->conf), "%s", path);
    for (unsigned number = 1; fgets(text, sizeof(text), file); number++) {
        char *rest = text;
        const char *first;
        const char *second;

        text[strcspn(text, "#\r\n")] = '\0';
        first = next_word(&rest);
        second = next_word(&rest);
        if (strcmp(first, "include") == 0)
            read_included(path, second, depth, found);
        else if (rc_str_which(rc_str(first), "optional|required") &&
                 strstr(rc_str_base_name(rc_str(second)).p, "rollcall"))
            take_line(found, path, number, second, rest);
    }
    fclose(file);
}

/* Read PlugStackConfig of slurm.conf; blanks may surround the =. */
static bool read_configured_path(const char *conf, char path[PATH_MAX])
{
    static const char key[] = "PlugStackConfig";
    FILE *file = fopen(conf, "re");
    char text[LINE];
    bool found = false;

    while (file && !found && fgets(text, sizeof(text), file)) {
        const char *first = text + strspn(text, " \t");

        found = strncasecmp(first, key, strlen(key)) == 0 && sscanf(first + strlen(key), " = %4095s", path) == 1;
    }
    if (file)
        fclose(file);
    return found;
}

/* Return whether there is a plugstack.conf. */
static bool read_conf_beside(const char *conf, struct doctor_plugin *found)
{
    char path[PATH_MAX];
    const char *slash = strrchr(conf, '/');

    if (!read_configured_path(conf, path) &&
        (!slash || snprintf(path, sizeof(path), "%.*s/plugstack.conf", (int)(slash - conf), conf) >= (int)sizeof(path)))
        return false;
    read_conf(path, 0, found);
    return found->conf[0];
}

/* Use PlugStackConfig of slurm.conf (SLURM_CONF, or the usual places), else plugstack.conf beside it. */
static void find_line(struct doctor_plugin *found)
{
    static const char *const usual[] = { "/etc/slurm/slurm.conf",      "/etc/slurm-llnl/slurm.conf",
                                         "/usr/local/etc/slurm.conf",  "/opt/slurm/etc/slurm.conf",
                                         "/run/slurm/conf/slurm.conf", "/var/spool/slurmd/conf-cache/slurm.conf" };
    const char *conf = getenv("SLURM_CONF");

    if (conf && *conf == '/') {
        read_conf_beside(conf, found);
        return;
    }
    for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        if (read_conf_beside(usual[i], found))
            return;
}

void doctor_plugin_find(struct doctor_plugin *found)
{
    char text[DOCTOR_SERIES + sizeof(RC_PLUGIN_OF_ROLLCALL) + sizeof(found->version)]; /* "24.11, of rollcall 0.9.0" */

    *found = (struct doctor_plugin){ .line = 0 };
    find_line(found);
    if (found->path[0] == '/' && doctor_text_in_file(found->path, RC_PLUGIN_FOR_SLURM, text, sizeof(text)))
        (void)sscanf(text, "%15[0-9.]" RC_PLUGIN_OF_ROLLCALL "%23s", found->series, found->version);
}

/* Parse the words as the plugin does. */
static struct rc_site read_words(const struct doctor_plugin *plugin, struct rc_messages *messages)
{
    char where[sizeof(plugin->conf) + 16];

    snprintf(where, sizeof(where), "%s:%u", plugin->conf, plugin->line);
    return rc_site_read(rc_str(plugin->words), where, messages);
}

bool doctor_plugin_is_off(const struct doctor_plugin *plugin)
{
    char text[DOCTOR_PLUGIN_TEXT];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages unsaid = { .arena = &arena };

    return read_words(plugin, &unsaid).off.p;
}

enum finding_id doctor_plugin_judge(const struct doctor_plugin *plugin, const char *series,
                                    char text[DOCTOR_PLUGIN_TEXT])
{
    struct rc_arena arena = { .base = text, .size = DOCTOR_PLUGIN_TEXT };

    if (!plugin->path[0]) {
        rc_format(&arena, plugin->conf[0] ? "%s does not name the plugin" : "no plugstack.conf was found",
                  plugin->conf);
        return FINDING_D109;
    }
    if (plugin->path[0] == '/' && access(plugin->path, R_OK) < 0) {
        rc_format(&arena, errno == ENOENT ? "%s is not there" : "%s cannot be read: %s", plugin->path, strerror(errno));
        return FINDING_D104;
    }
    if (plugin->series[0] && series[0] && strcmp(plugin->series, series) != 0) {
        rc_format(&arena, "%s was built for Slurm %s, and Slurm is %s", plugin->path, plugin->series, series);
        return FINDING_D103;
    }
    rc_format(&arena, "%s for Slurm %s, %s", plugin->version[0] ? plugin->version : "(not known)",
              plugin->series[0] ? plugin->series : "(not known)", plugin->path);
    return FINDING_COUNT;
}

/* Files installed with the plugin, relative to its folder. */
static const struct part {
    const char *folder;
    const char *name;
    enum { IS_READ, IS_RUN, IS_NEEDED } use; /* IS_RUN: optional in a build */
} parts[] = {
    { ROLLCALL_LIBEXEC_FROM_PLUGIN, "rollcall-exchange", IS_NEEDED },
    { ROLLCALL_LIBEXEC_FROM_PLUGIN, "rollcall-map", IS_RUN },
    { ROLLCALL_LIBEXEC_FROM_PLUGIN, "rollcall-pmix", IS_RUN },
    { ROLLCALL_PRELOAD_FROM_PLUGIN, "librollcall-preload.so", IS_READ },
    { ROLLCALL_PRELOAD_FROM_PLUGIN, "librollcall-pins.so", IS_READ },
    { ROLLCALL_PRELOAD_FROM_PLUGIN, "librollcall-lookup.so", IS_READ },
    { ROLLCALL_WATCH_FROM_PLUGIN, "rollcall_watch.py", IS_READ },
    { ROLLCALL_WATCH_FROM_PLUGIN, "rollcall_watch_device.py", IS_READ },
    { ROLLCALL_WATCH_FROM_PLUGIN, "rollcall_watch_ending.py", IS_READ },
    { ROLLCALL_WATCH_FROM_PLUGIN, "rollcall_watch_report.py", IS_READ },
};

enum { PARTS = sizeof(parts) / sizeof(*parts), RUN_MS = 5000, OUTPUT = 4096, BLOCK = 65536, SUM = 17 };

/* Return false for a plugin named without a folder. */
static bool find_part(const struct doctor_plugin *plugin, const struct part *part, char path[2 * PATH_MAX])
{
    char folder[PATH_MAX];

    if (*plugin->path != '/' || !rc_beside(rc_str(plugin->path), part->folder, folder, sizeof(folder)).p)
        return false;
    snprintf(path, 2 * PATH_MAX, "%s/%s", folder, part->name);
    return true;
}

/* Start the program with an option that ends it at once. Return the reason of a failure, or NULL. */
static const char *try_program(const char *path, struct rc_arena *arena)
{
    const struct rc_program program = {
        .kind = RC_PROGRAM_OWN,
        .path = path,
        .argument = "--help",
        .env = (const char *const *)environ,
        .milliseconds = RUN_MS,
    };
    char output[OUTPUT];
    struct stat file;
    int status;
    ssize_t n = rc_program_run(&program, output, sizeof(output), &status);

    if (n == -ETIMEDOUT)
        return "does not end";
    if (n < 0 && n != -EMSGSIZE)
        return stat(path, &file) == 0 ? rc_format(arena, "cannot be run: %s (mode 0%u%u%u)", strerror((int)-n),
                                                  file.st_mode >> 6 & 7, file.st_mode >> 3 & 7, file.st_mode & 7)
               : errno == ENOENT      ? "is not there"
                                      : rc_format(arena, "cannot be reached: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return rc_format(arena, "is ended by signal %u", (uint32_t)WTERMSIG(status));
    return rc_program_not_loaded(n, status) ? "lacks a library (see ldd)" : NULL;
}

void doctor_plugin_check(const struct doctor_plugin *plugin, struct findings *findings)
{
    char text[DOCTOR_PLUGIN_TEXT];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages wrong = { .arena = &arena };
    struct rc_str off = read_words(plugin, &wrong).off;
    char path[2 * PATH_MAX];

    for (unsigned i = 0; i < PARTS; i++) {
        bool is_tried = find_part(plugin, &parts[i], path) &&
                        parts[i].use >= (access(path, F_OK) == 0 ? IS_RUN : IS_NEEDED);
        const char *why = is_tried ? try_program(path, &arena) : NULL;

        if (why)
            doctor_findings_add(findings, FINDING_D110, plugin->conf, plugin->line, NULL,
                                "%s, which the plugin starts, %s", path, why);
    }
    for (unsigned i = 0; i < wrong.count; i++)
        doctor_findings_add_message(findings, wrong.list[i].id, wrong.list[i].text);
    if (off.p)
        doctor_findings_add(findings, FINDING_D113, plugin->conf, plugin->line, NULL, "%s says off%s%.*s", plugin->conf,
                            off.n ? "=" : "", (int)off.n, off.p);
    if (plugin->twin[0])
        doctor_findings_add_message(findings, RC209,
                                    rc_format(&arena,
                                              "%s:%u and %s name the plugin; the second line does nothing; "
                                              "remove one of them",
                                              plugin->conf, plugin->line, plugin->twin));
}

/* Checksum a file. */
static const char *sum_up(const char *path, char sum[SUM])
{
    FILE *file = fopen(path, "re");
    static struct {
        uint64_t before;
        char bytes[BLOCK];
    } block;
    bool failed;

    if (!file)
        return errno == ENOENT ? DOCTOR_MISSING : "unreadable";
    block.before = 0;
    for (size_t n; (n = fread(block.bytes, 1, sizeof(block.bytes), file)) > 0;)
        block.before = rc_hash(&block, sizeof(block.before) + n);
    failed = ferror(file);
    fclose(file);
    snprintf(sum, SUM, "%016llx", (unsigned long long)block.before);
    return failed ? "unreadable" : sum;
}

void doctor_plugin_record(const struct doctor_plugin *plugin, const char *judged, char text[DOCTOR_RECORD])
{
    char path[2 * PATH_MAX];
    char sum[SUM];
    size_t n = (size_t)snprintf(text, DOCTOR_RECORD, DOCTOR_RIGHT PACKAGE_VERSION ", plugin %s", judged);

    /* without a folder, Slurm's search path is unknown */
    if (*plugin->path == '/') {
        n += (size_t)snprintf(text + n, DOCTOR_RECORD - n, DOCTOR_FILES "rollcall=%s", sum_up("/proc/self/exe", sum));
        n += (size_t)snprintf(text + n, DOCTOR_RECORD - n, " rollcall.so=%s", sum_up(plugin->path, sum));
    }
    for (unsigned i = 0; i < PARTS; i++)
        if (find_part(plugin, &parts[i], path))
            n += (size_t)snprintf(text + n, DOCTOR_RECORD - n, " %s=%s", parts[i].name, sum_up(path, sum));
    if (!doctor_plugin_is_off(plugin))
        snprintf(text + n, DOCTOR_RECORD - n, DOCTOR_WORDS "%s", plugin->words);
}

void cli_print_plugin(void)
{
    struct doctor_plugin plugin;
    char text[DOCTOR_PLUGIN_TEXT];

    doctor_plugin_find(&plugin);
    (void)doctor_plugin_judge(&plugin, "", text);
    printf("plugin: %s\n", text);
}
