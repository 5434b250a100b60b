/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/numbers.h"
#include "system/beside.h"
#include "system/program.h"

#define COMMAND "rollcall"
#define SUFFIX  ".XXXXXX"

enum { LINE_SIZE = 1024, ALL_MAY_READ = 0666, CHECK_FAILED = 2 };

static void say_why(struct report *report, const char *why)
{
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    struct rc_str path = rc_str(report->path);

    report->say(report->more, RC625,
                rc_format(&arena,
                          "the report %q is not written: %s; the step goes on; name a file in a folder that srun's "
                          "node can write to",
                          &path, why));
    report->path[0] = '\0';
}

/* What the pattern stands for (resolve/option.h). */
static bool complete_name(const struct rc_server_settings *settings, char path[PATH_MAX])
{
    struct rc_arena arena = { .base = path, .size = PATH_MAX };

    rc_format(&arena, "");
    for (const char *p = settings->report; *p; p++) {
        struct rc_str one = { p, 1 };

        rc_join(&arena);
        if (*p != '%' || !p[1])
            rc_copy(&arena, one);
        else if (*++p == '%')
            rc_copy(&arena, one);
        else
            rc_format_number(&arena, *p == 'j' ? settings->job : settings->step);
    }
    return !arena.full;
}

/* The file itself where the name is a link. A device, or a folder, must not be replaced. */
static const char *follow_link(char path[PATH_MAX])
{
    char *real = realpath(path, NULL);
    const char *why = NULL;
    struct stat file;

    if (!real)
        return errno == ENOENT ? NULL : strerror(errno);
    if (stat(real, &file) == 0 && !S_ISREG(file.st_mode))
        why = "there is something else of that name";
    else
        snprintf(path, PATH_MAX, "%s", real);
    free(real);
    return why;
}

/* Where a file appears and is renamed. */
static bool is_folder_open(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";

    if (slash)
        snprintf(folder, sizeof(folder), "%.*s", slash > path ? (int)(slash - path) : 1, path);
    return access(folder, W_OK | X_OK) == 0;
}

void exchange_report_begin(struct report *report, const struct rc_server_settings *settings, rc_server_say *say,
                           void *more)
{
    const char *why;

    *report = (struct report){ .say = say, .more = more };
    if (!settings->report[0])
        return;
    if (!complete_name(settings, report->path)) {
        snprintf(report->path, sizeof(report->path), "%.100s", settings->report);
        say_why(report, strerror(ENAMETOOLONG));
        return;
    }
    why = follow_link(report->path);
    if (!why && !is_folder_open(report->path))
        why = strerror(errno);
    if (why)
        say_why(report, why);
}

/* The record, and behind it times and entries. The reader reads all of it before it writes anything. Closes fd. False
 * without memory, or where the reader has gone. */
static bool put_record(int fd, const struct rc_record *record, const struct rc_server *server)
{
    FILE *file = fdopen(fd, "w");
    static char text[RC_RECORD_SIZE + 1];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *head = rc_record_write(record, &arena);
    size_t times_size = 0;
    size_t roll_size = 0;
    char *times = rc_server_times(server, &times_size);
    char *roll = rc_server_roll(server, &roll_size);
    bool good = file && head && times && roll && fprintf(file, "%s\n", head) >= 0 &&
                fwrite(times, 1, times_size, file) == times_size && fputc('\n', file) != EOF &&
                fwrite(roll, 1, roll_size, file) == roll_size;

    good = (file ? fclose(file) : close(fd)) == 0 && good;
    free(times);
    free(roll);
    return good;
}

/* Standard input and standard error are pipes. */
struct check {
    pid_t child;
    int input;
    int errors;
};

static bool set_actions(posix_spawn_file_actions_t *actions, const int input[2], const int errors[2], int file)
{
    return posix_spawn_file_actions_adddup2(actions, input[0], STDIN_FILENO) == 0 &&
           posix_spawn_file_actions_adddup2(actions, file, STDOUT_FILENO) == 0 &&
           posix_spawn_file_actions_adddup2(actions, errors[1], STDERR_FILENO) == 0;
}

static int spawn_check(const char *form, const int input[2], const int errors[2], int file, pid_t *child)
{
    static const char *const none[] = { NULL };
    char path[PATH_MAX];
    const char *argv[] = { COMMAND, "check", "--from", "-", form, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc;

    if (!rc_beside_file(ROLLCALL_BIN_FROM_LIBEXEC, COMMAND, path, sizeof(path)).p)
        return ENOENT;
    if ((rc = posix_spawn_file_actions_init(&actions)) != 0)
        return rc;
    if ((rc = posix_spawnattr_init(&attributes)) == 0) {
        rc = rc_program_signals(&attributes, 0);
        if (rc == 0)
            rc = set_actions(&actions, input, errors, file)
                     ? posix_spawn(child, path, &actions, &attributes, (char *const *)(uintptr_t)argv,
                                   (char *const *)(uintptr_t)none)
                     : ENOMEM;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Starts rollcall check, which writes to `file`. 0 or an errno. */
static int start_check(const char *path, int file, struct check *check)
{
    bool is_page = rc_str_ends(rc_str(path), ".html");
    int input[2];
    int errors[2];
    int rc;

    if (pipe2(input, O_CLOEXEC) < 0)
        return errno;
    if (pipe2(errors, O_CLOEXEC) < 0) {
        rc = errno;
        close(input[0]);
        close(input[1]);
        return rc;
    }
    rc = spawn_check(is_page ? "--html" : "--json", input, errors, file, &check->child);
    close(input[0]);
    close(errors[1]);
    check->input = input[1];
    check->errors = errors[0];
    if (rc != 0) {
        close(input[1]);
        close(errors[0]);
    }
    return rc;
}

/* Waits for its end. Returns what it has to say where it failed: its own line, or NULL. */
static const char *end_check(const struct check *check, char *line, size_t size)
{
    int status = 0;
    ssize_t n;

    while (waitpid(check->child, &status, 0) < 0 && errno == EINTR)
        continue;
    n = read(check->errors, line, size - 1);
    close(check->errors);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) < CHECK_FAILED)
        return NULL;
    return line[0] ? line : COMMAND " check has failed";
}

/* Makes the report in an open file. NULL, or why not. */
static const char *fill_file(const char *path, int file, const struct rc_record *record, const struct rc_server *server,
                             char *line, size_t size)
{
    struct check check;
    int rc = start_check(path, file, &check);
    bool heard;
    const char *why;

    if (rc != 0) {
        snprintf(line, size, COMMAND " check does not start: %s", strerror(rc));
        return line;
    }
    heard = put_record(check.input, record, server);
    why = end_check(&check, line, size);
    return why || heard ? why : strerror(ENOMEM);
}

void exchange_report_end(struct report *report, const struct rc_record *record, const struct rc_server *server)
{
    char temporary[PATH_MAX + sizeof(SUFFIX)];
    char line[LINE_SIZE / 2];
    const char *why;
    mode_t mask;
    int file;

    if (!report->path[0])
        return;
    snprintf(temporary, sizeof(temporary), "%s" SUFFIX, report->path);
    file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        say_why(report, strerror(errno));
        return;
    }
    umask(mask = umask(0));
    why = fill_file(report->path, file, record, server, line, sizeof(line));
    if (!why && (fchmod(file, ALL_MAY_READ & ~mask) < 0 || rename(temporary, report->path) < 0))
        why = strerror(errno);
    close(file);
    if (!why)
        return;
    unlink(temporary);
    say_why(report, why);
}
