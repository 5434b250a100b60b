/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "system/program.h"

extern char **environ;

enum { PATIENCE_MS = 30000, ANSWER = 1 << 20, LARGEST = 2 << 20, FIELDS = 6, WORDS = 512 };

static int check_readable(const char *path)
{
    struct stat file;
    int error = 0;

    if (path && (stat(path, &file) < 0 || access(path, R_OK) < 0))
        error = errno;
    else if (path && !S_ISREG(file.st_mode))
        error = S_ISDIR(file.st_mode) ? EISDIR : EINVAL;
    else if (path && file.st_size > LARGEST)
        error = EFBIG;
    if (error)
        console_fail("doctor: cannot read %.200s: %s", path, strerror(error));
    return error ? -1 : 0;
}

/* One line of main.py's output: its head says which there are. */
static void add_answer(struct findings *findings, const struct doctor_slurm *slurm, char *line)
{
    char *field[FIELDS] = { "", "", "", "", "", "" };
    enum finding_id id;
    uint32_t number = 0;

    for (unsigned i = 0; line && i < FIELDS; i++)
        field[i] = strsep(&line, "\t");
    rc_parse_u32(rc_str(field[3]), INT32_MAX, &number);
    id = cli_catalogue_find_finding(field[1]);
    if (strcmp(field[0], "finding") == 0 && id < FINDING_COUNT)
        doctor_findings_add(findings, id, *field[2] ? field[2] : NULL, number, field[5], "%s", field[4]);
    else if (strcmp(field[0], "fact") != 0)
        return;
    else if (strcmp(field[1], "mpi") == 0)
        doctor_slurm_type(findings, slurm, field[4], field[2], number);
    else if (strcmp(field[1], "ddp") == 0)
        doctor_ddp_option(findings, field[4], field[2], number);
    else
        doctor_findings_add_fact(findings, field[1], "%s", field[2]);
}

/* Runs `python3 -I main.py`. False, with nothing added, where it fails or takes too long. */
static bool ask_python(struct findings *findings, const struct doctor_request *request,
                       const struct doctor_slurm *slurm, const char *python)
{
    static char answer[ANSWER];
    char helper[PATH_MAX];
    const char *words[WORDS] = { helper,   slurm->series[0] ? slurm->series : "-",
                                 "plugin", slurm->lacks_option ? "absent" : "-",
                                 "script", request->script ? request->script : "-",
                                 "job",    request->job ? request->job : "-",
                                 "step",   request->is_task ? "task" : "-" };
    struct rc_program program = {
        .kind = RC_PROGRAM_USER,
        .path = python,
        .argument = "-I",
        .more = words,
        .env = (const char *const *)environ,
        .milliseconds = PATIENCE_MS,
    };
    ssize_t size;
    int status;

    /* python3 reads it, so it need not be executable (EACCES) */
    if (cli_own_program("doctor/main.py", helper) < 0 && errno != EACCES)
        return false;
    for (size_t i = 0; request->line && request->line[i] && i + 11 < WORDS; i++)
        words[10 + i] = request->line[i];
    size = rc_program_run(&program, answer, sizeof(answer), &status);
    if (size < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return false;
    for (char *line = answer, *next; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        add_answer(findings, slurm, line);
    }
    return true;
}

static void add_unread(struct findings *findings, const char *path, const char *why)
{
    if (path)
        doctor_findings_add(findings, FINDING_D421, path, 0, "put a python3 (3.6 or later) that works on PATH",
                            "this was not read: %s", why);
}

int doctor_script(struct findings *findings, const struct doctor_request *request, const struct doctor_slurm *slurm)
{
    char python[PATH_MAX];
    const char *why = "there is no python3 on PATH";

    if (check_readable(request->script) < 0 || check_readable(request->job) < 0)
        return -1;
    if (rc_program_find(getenv("PATH"), "python3", python)) {
        if (ask_python(findings, request, slurm, python))
            return 0;
        why = "the python3 on PATH failed or took too long";
    }
    add_unread(findings, request->script, why);
    add_unread(findings, request->job ? request->job : request->line ? "command line" : NULL, why);
    return 0;
}
