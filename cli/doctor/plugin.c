/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* getdelim */
#include "config.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"
#include "cli/cli.h"
#include "doctor.h"
#include "system/node.h"

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

static bool read_conf(const char *path, unsigned depth, struct doctor_plugin *found);

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

/* The words after the plugin. The text of off= is the rest of the line, as in spank/options.c. */
static void read_arguments(char *rest, struct doctor_plugin *found)
{
    bool has_text = false;

    for (const char *word; !has_text && *(word = next_word(&rest));) {
        has_text = rc_str_starts(rc_str(word), "off=");
        if (has_text || rc_str_is(rc_str(word), "off"))
            snprintf(found->off, sizeof(found->off), "%s%s%s", word, has_text && *rest ? " " : "",
                     has_text ? rest : "");
    }
}

/* Reads the files of an include. A relative pattern is relative to the including file's folder. */
static bool read_included(const char *from, const char *pattern, unsigned depth, struct doctor_plugin *found)
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

static bool read_conf(const char *path, unsigned depth, struct doctor_plugin *found)
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
        const char *first;
        const char *second;

        text[strcspn(text, "#\r\n")] = '\0';
        first = next_word(&rest);
        second = next_word(&rest);
        if (strcmp(first, "include") == 0) {
            done = read_included(path, second, depth, found);
        } else if (rc_str_which(rc_str(first), "optional|required") &&
                   strstr(rc_str_base_name(rc_str(second)).p, "rollcall")) {
            snprintf(found->conf, sizeof(found->conf), "%s", path);
            snprintf(found->path, sizeof(found->path), "%s", second);
            found->line = number;
            read_arguments(rest, found);
            done = true;
        }
    }
    fclose(file);
    return done;
}

/* Reads PlugStackConfig of slurm.conf, in which blanks may be around the =. */
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

static bool read_conf_beside(const char *conf, struct doctor_plugin *found)
{
    char path[PATH_MAX];
    const char *slash = strrchr(conf, '/');

    if (!read_configured_path(conf, path) &&
        (!slash || snprintf(path, sizeof(path), "%.*s/plugstack.conf", (int)(slash - conf), conf) >= (int)sizeof(path)))
        return false;
    return read_conf(path, 0, found);
}

/* PlugStackConfig of slurm.conf, else beside it. slurm.conf is SLURM_CONF, else in the usual places. */
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

/* A build without hwloc has no rollcall-map. */
static bool lacks_program(const struct doctor_plugin *plugin, const char *name, bool is_needed, struct rc_arena *arena)
{
    char folder[PATH_MAX] = "";
    char program[PATH_MAX + sizeof("/rollcall-exchange")];
    bool is_there;

    if (!rc_beside(rc_str(plugin->path), ROLLCALL_LIBEXEC_FROM_PLUGIN, folder, sizeof(folder)).p)
        return false;
    snprintf(program, sizeof(program), "%s%s", folder, name);
    is_there = access(program, F_OK) == 0;
    if (is_there ? access(program, X_OK) == 0 : !is_needed)
        return false;
    rc_format(arena, "%s, which the plugin starts, %s", program, is_there ? "cannot be run" : "is not there");
    return true;
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
    if (plugin->path[0] == '/' && access(plugin->path, F_OK) < 0) {
        rc_format(&arena, "%s is not there", plugin->path);
        return FINDING_D104;
    }
    if (plugin->series[0] && series[0] && strcmp(plugin->series, series) != 0) {
        rc_format(&arena, "%s was built for Slurm %s, and Slurm is %s", plugin->path, plugin->series, series);
        return FINDING_D103;
    }
    if (lacks_program(plugin, "/rollcall-exchange", true, &arena) ||
        lacks_program(plugin, "/rollcall-map", false, &arena))
        return FINDING_D110;
    if (plugin->off[0]) {
        rc_format(&arena, "%s says %s", plugin->conf, plugin->off);
        return FINDING_D113;
    }
    rc_format(&arena, "%s for Slurm %s, %s", plugin->version[0] ? plugin->version : "(not known)",
              plugin->series[0] ? plugin->series : "(not known)", plugin->path);
    return FINDING_COUNT;
}

void cli_print_plugin(void)
{
    struct doctor_plugin plugin;
    char text[DOCTOR_PLUGIN_TEXT];

    doctor_plugin_find(&plugin);
    plugin.off[0] = '\0'; /* its release, also while it is switched off */
    (void)doctor_plugin_judge(&plugin, "", text);
    printf("plugin: %s\n", text);
}
