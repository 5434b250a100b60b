/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/numbers.h"
#include "cli/cli.h"
#include "cli/pmixask.h"
#include "openmpi.h"
#include "path.h"
#include "system/program.h"
#include "textrules.h"

extern char **environ;

enum { PATIENCE_MS = 30000, ANSWER = 1 << 20, LARGEST = 2 << 20, FIELDS = 6, WORDS = 512 };

/* A whole file as text; NULL, with errno, where it cannot be read or is too large. */
static char *read_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat file;
    char *text = NULL;
    size_t used = 0;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &file) == 0 && !S_ISREG(file.st_mode))
        errno = EINVAL;
    else if (file.st_size > LARGEST)
        errno = EFBIG;
    else
        text = malloc((size_t)file.st_size + 1);
    while (text && used < (size_t)file.st_size) {
        ssize_t n = read(fd, text + used, (size_t)file.st_size - used);

        if (n <= 0)
            break;
        used += (size_t)n;
    }
    if (text)
        text[used] = '\0';
    close(fd);
    return text;
}

static int check_readable(const char *path)
{
    char *text = path ? read_text(path) : NULL;

    if (path && !text) {
        cli_fail("doctor: cannot read %.200s: %s", path, strerror(errno));
        return -1;
    }
    free(text);
    return 0;
}

static void as_text(struct findings *findings, const char *path, bool job)
{
    char *text = path ? read_text(path) : NULL;

    if (text)
        doctor_text_rules(findings, path, text, job);
    free(text);
}

static unsigned number(const char *text)
{
    uint32_t value;

    return rc_parse_u32(rc_str(text), INT32_MAX, &value) ? value : 0;
}

/* One line of what Python said. */
static void take(struct findings *findings, const struct doctor_request *request, const struct doctor_slurm *slurm,
                 char *line)
{
    char *field[FIELDS] = { "", "", "", "", "", "" };
    unsigned count = 0;

    for (char *next = line; next && count < FIELDS; count++) {
        field[count] = next;
        next = strchr(next, '\t');
        if (next)
            *next++ = '\0';
    }
    if (strcmp(field[0], "finding") == 0 && finding_by_name(field[1]) < FINDING_COUNT) {
        findings_add(findings, finding_by_name(field[1]), field[2], number(field[3]), field[5], "%s", field[4]);
    } else if (strcmp(field[0], "text") == 0) {
        bool job = request->job && strcmp(field[1], request->job) == 0;

        findings_fact(findings, job ? "job" : "script", "%s: looked at as text alone (%s)", field[1], field[2]);
        as_text(findings, field[1], job);
    } else if (strcmp(field[0], "fact") == 0 && strcmp(field[1], "mpi") == 0) {
        doctor_slurm_type(findings, slurm, field[4], field[2], number(field[3]));
    } else if (strcmp(field[0], "fact") == 0 && strcmp(field[1], "openmpi") == 0) {
        doctor_openmpi(findings, slurm, field[4], field[5], field[2], number(field[3]));
    } else if (strcmp(field[0], "fact") == 0 && strcmp(field[1], "ddp") != 0) {
        findings_fact(findings, field[1], "%s", field[2]);
    }
}

/* Runs `python3 -I main.py`. False where that did not end well: nothing is known then. */
static bool ask_python(struct findings *findings, const struct doctor_request *request,
                       const struct doctor_slurm *slurm, const char *python)
{
    static char answer[ANSWER];
    char helper[PATH_MAX];
    const char *words[WORDS] = { helper,   slurm->series[0] ? slurm->series : "-",
                                 "script", request->script ? request->script : "-",
                                 "job",    request->job ? request->job : "-" };
    struct rc_program program = {
        .path = python,
        .argument = "-I",
        .more = words,
        .env = (const char *const *)environ,
        .milliseconds = PATIENCE_MS,
    };
    ssize_t size;
    int status;

    /* it is not run by itself, so it need not be one that may be */
    if (rc_own_program("doctor/main.py", helper) < 0 && errno != EACCES)
        return false;
    for (size_t i = 0; request->line && request->line[i] && i + 7 < WORDS; i++)
        words[6 + i] = request->line[i];
    size = rc_program_run(&program, answer, sizeof(answer), &status);
    if (size < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return false;
    for (char *line = answer, *next; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        take(findings, request, slurm, line);
    }
    return true;
}

int doctor_script(struct findings *findings, const struct doctor_request *request, const struct doctor_slurm *slurm)
{
    char python[PATH_MAX];
    bool found = doctor_find_program("python3", python);

    if (check_readable(request->script) < 0 || check_readable(request->job) < 0)
        return -1;
    if (found && ask_python(findings, request, slurm, python))
        return 0;
    findings_fact(findings, "Python", "%s: scripts are looked at as text alone",
                  found ? "the one on PATH could not parse them" : "none on PATH");
    as_text(findings, request->script, false);
    as_text(findings, request->job, true);
    return 0;
}
