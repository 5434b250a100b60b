/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "cli/cli.h"
#include "doctor.h"
#include "resolve/options.h"
#include "system/program.h"

extern char **environ;

enum { PATIENCE_MS = 10000, ANSWER = 256 * 1024, WRONG = 4096 };

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

/* Return the standard output of a program, until the next call; its standard error may come from optional plugins that
 * cannot be loaded. Return NULL if it fails, with the errors in `answer`. */
static char *run(const char *path, const char *argument)
{
    struct rc_program program = {
        .kind = RC_PROGRAM_USER,
        .path = path,
        .argument = argument,
        .env = (const char *const *)environ,
        .milliseconds = PATIENCE_MS,
    };
    int status;
    ssize_t n = rc_program_run(&program, answer, sizeof(answer), &status);

    if (n > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return answer;
    program.with_errors = true;
    if (n == -ETIMEDOUT || rc_program_run(&program, answer, sizeof(answer), &status) <= 0)
        answer[0] = '\0';
    return NULL;
}

/* Return the output of srun with one argument; NULL, with D101 in findings, if it fails. */
static char *run_srun(struct findings *findings, const char *srun, const char *argument)
{
    char *text = run(srun, argument);

    if (!text)
        doctor_findings_add(findings, FINDING_D101, NULL, 0, NULL, "%s %s fails%s%s", srun, argument,
                            answer[0] ? ": " : "", last_line(answer));
    return text;
}

/* Parse "slurm 22.05.8", or Debian's "slurm-wlm 22.05.8". */
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

bool doctor_slurm_series(char series[DOCTOR_SERIES])
{
    static const char *const asked[][2] = { { "srun", "--version" }, { "slurmd", "-V" } };

    for (unsigned i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        char path[PATH_MAX];
        const char *text = rc_program_find(getenv("PATH"), asked[i][0], path) ? run(path, asked[i][1]) : NULL;

        if (text && read_series(text, series))
            return true;
    }
    return false;
}

static bool has_type(const char *types, const char *type)
{
    char word[64];

    return snprintf(word, sizeof(word), " %s ", type) >= (int)sizeof(word) || strstr(types, word);
}

/* Read the types after "MPI plugin types are", one a line. Since Slurm 22.05 "specific pmix plugin versions available:
 * pmix_v4,..." follows. */
static void read_types(char *text, char types[DOCTOR_TYPES])
{
    static const char title[] = "MPI plugin types are";
    char *rest = strstr(text, title);

    snprintf(types, DOCTOR_TYPES, "%s", rest ? " " : "");
    if (rest)
        rest += strlen(title);
    for (const char *word; (word = strsep(&rest, " \t\r\n.:,"));) {
        size_t used = strlen(types);

        if (*word && !rc_str_which(rc_str(word), "specific|plugin|versions|available") && !has_type(types, word))
            snprintf(types + used, DOCTOR_TYPES - used, "%s ", word);
    }
}

/* Find out why srun lacks --ddp, or its steps cannot start. An uninstalled plugin is an error only in a task without
 * rollcall exec. */
static void check_plugin(struct findings *findings, const struct doctor_slurm *slurm,
                         const struct doctor_plugin *plugin)
{
    char text[DOCTOR_PLUGIN_TEXT];
    enum finding_id id = doctor_plugin_judge(plugin, slurm->series, text);

    if (id == FINDING_COUNT)
        doctor_plugin_check(plugin, findings);
    if (slurm->lacks_option && (id == FINDING_D103 || id == FINDING_D104))
        doctor_findings_add(findings, id, plugin->conf, plugin->line, NULL, "%s", text);
    else if (slurm->lacks_option && (plugin->path[0] || (getenv("SLURM_STEP_ID") && !getenv(RC_STAMP))))
        doctor_findings_add(findings, FINDING_D102, plugin->conf[0] ? plugin->conf : NULL, plugin->line, NULL,
                            plugin->path[0] ? "srun --help does not list --ddp, although the plugin is named here"
                                            : "srun --help does not list --ddp: no plugstack.conf names the plugin");
}

void doctor_slurm(struct findings *findings, struct doctor_slurm *slurm)
{
    struct doctor_plugin plugin;
    char srun[PATH_MAX];
    char *text;

    doctor_plugin_find(&plugin);
    *slurm = (struct doctor_slurm){ .series = "" };
    if (!rc_program_find(getenv("PATH"), "srun", srun))
        return;
    text = run_srun(findings, srun, "--version");
    if (!text)
        return;
    if (!read_series(text, slurm->series)) {
        doctor_findings_add(findings, FINDING_D101, NULL, 0, NULL, "%s --version prints no version", srun);
        return;
    }
    text = run_srun(findings, srun, "--help");
    if (!text)
        return;
    slurm->lacks_option = strstr(text, "--ddp") == NULL;
    check_plugin(findings, slurm, &plugin);
    text = run_srun(findings, srun, "--mpi=list");
    if (text)
        read_types(text, slurm->types);
    doctor_findings_add_fact(findings, "Slurm", "%s, %s, --mpi:%s", slurm->series,
                             slurm->lacks_option ? "without --ddp (srun -K rollcall exec -- COMMAND)" : "with --ddp",
                             slurm->types[0] ? slurm->types : " not known");
    slurm->lacks_option = slurm->lacks_option || doctor_plugin_is_off(&plugin);
}

void doctor_slurm_type(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *file,
                       unsigned line)
{
    if (slurm->types[0] && *type && strcmp(type, "list") != 0 && !has_type(slurm->types, type))
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
