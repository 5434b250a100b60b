/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugstack.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 4, LINE = 4096 };

static bool read_conf(const char *path, unsigned depth, struct doctor_plugstack *found);

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

/* Reads the files of an include. A relative pattern is relative to the including file's folder. */
static bool read_included(const char *from, const char *pattern, unsigned depth, struct doctor_plugstack *found)
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

static bool read_conf(const char *path, unsigned depth, struct doctor_plugstack *found)
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

static bool read_conf_beside(const char *conf, struct doctor_plugstack *found)
{
    char path[PATH_MAX];
    const char *slash = strrchr(conf, '/');

    if (!read_configured_path(conf, path) &&
        (!slash || snprintf(path, sizeof(path), "%.*s/plugstack.conf", (int)(slash - conf), conf) >= (int)sizeof(path)))
        return false;
    return read_conf(path, 0, found);
}

bool doctor_plugstack_find(struct doctor_plugstack *found)
{
    static const char *const usual[] = { "/etc/slurm/slurm.conf",      "/etc/slurm-llnl/slurm.conf",
                                         "/usr/local/etc/slurm.conf",  "/opt/slurm/etc/slurm.conf",
                                         "/run/slurm/conf/slurm.conf", "/var/spool/slurmd/conf-cache/slurm.conf" };
    const char *conf = getenv("SLURM_CONF");

    *found = (struct doctor_plugstack){ .line = 0 };
    if (conf && *conf == '/')
        return read_conf_beside(conf, found);
    for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        if (read_conf_beside(usual[i], found))
            return true;
    return false;
}
