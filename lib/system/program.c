/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/clock.h"
#include "system/descriptor.h"

/* So often it looks whether the program has ended and left its output open to others; and so long it waits for the end
 * of one that it has killed. */
enum { LOOK_MS = 100, END_MS = 100 };

/* Opens a pipe, or a pair of sockets, with both ends above the standard streams. A daemon may have
 * closed those, and the dup2 of the child would then close its own source. 0 or an errno. */
static int open_pipe(int ends[2], bool as_sockets)
{
    int low[2];
    int error = 0;

    if ((as_sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) : pipe2(low, O_CLOEXEC)) < 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (ends[i] < 0)
            error = errno;
        close(low[i]);
    }
    for (int i = 0; error && i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return error;
}

int rc_program_signals(posix_spawnattr_t *attributes, short more)
{
    sigset_t none;
    sigset_t all;
    int error;

    sigemptyset(&none);
    sigfillset(&all);
    if ((error = posix_spawnattr_setsigmask(attributes, &none)) == 0 &&
        (error = posix_spawnattr_setsigdefault(attributes, &all)) == 0)
        error = posix_spawnattr_setflags(attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | more));
    return error;
}

/* Builds argv of the program. The strings are borrowed. NULL without memory. */
static char **make_arguments(const struct rc_program *program)
{
    const char *name = strrchr(program->path, '/');
    size_t count = 0;
    size_t used = 0;
    char **argv;

    while (program->more && program->more[count])
        count++;
    argv = malloc((count + 3) * sizeof(*argv));
    if (!argv)
        return NULL;
    argv[used++] = (char *)(uintptr_t)(name ? name + 1 : program->path);
    if (program->argument)
        argv[used++] = (char *)(uintptr_t)program->argument;
    for (size_t i = 0; program->argument && i < count; i++)
        argv[used++] = (char *)(uintptr_t)program->more[i];
    argv[used] = NULL;
    return argv;
}

static int spawn_child(const struct rc_program *program, int in, int out, pid_t *child)
{
    char **argv = make_arguments(program);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **env = rc_program_environment(program->kind, program->env);
    int error = ENOMEM;

    if (!argv || !env || (error = posix_spawn_file_actions_init(&actions)) != 0) {
        free(env);
        free(argv);
        return error;
    }
    if ((error = posix_spawnattr_init(&attributes)) == 0) {
        if ((error = rc_program_signals(&attributes, 0)) == 0 &&
            (error = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO)) == 0 &&
            (error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO)) == 0 &&
            (error = program->with_errors
                         ? posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO)
                         : posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) == 0)
            error = posix_spawn(child, program->path, &actions, &attributes, argv, env);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    free(argv);
    return error;
}

/* The whole input must fit into the pipe before there is a reader. Otherwise a program
 * that does not read would end the caller, perhaps a user's task, by SIGPIPE. */
static int fill_pipe(int fd, struct rc_str input)
{
    ssize_t n;

    if (input.n == 0)
        return 0;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return errno;
    n = write(fd, input.p, input.n);
    return n == (ssize_t)input.n ? 0 : n < 0 ? errno : E2BIG;
}

static bool has_ended(pid_t child)
{
    siginfo_t info = { .si_pid = 0 };

    /* a caller that ignores SIGCHLD has no children that have ended */
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == child;
}

/* Reads all that the child writes before the deadline. Its own children may keep the pipe
 * open: once it has ended, what is there is all. */
static ssize_t read_until(int fd, pid_t child, int64_t deadline, char *output, size_t size)
{
    size_t used = 0;

    for (;;) {
        struct pollfd in = { .fd = fd, .events = POLLIN };
        int64_t left = deadline - rc_milliseconds();
        bool ended = has_ended(child);
        int ready;
        ssize_t n;

        if (left <= 0)
            return -ETIMEDOUT;
        ready = poll(&in, 1, ended ? 0 : left > LOOK_MS ? LOOK_MS : (int)left);
        if (ready == 0 && ended)
            break;
        /* a signal says nothing of the pipe */
        if (ready <= 0)
            continue;
        n = read(fd, output + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
        if (used == size - 1)
            return -EMSGSIZE;
    }
    output[used] = '\0';
    return (ssize_t)used;
}

/* Waits for the child until then, and writes how it ended. */
static bool has_reaped(pid_t child, int64_t deadline, int *status)
{
    pid_t ended;

    while ((ended = waitpid(child, status, WNOHANG)) == 0 && rc_milliseconds() < deadline)
        poll(NULL, 0, 1);
    return ended != 0;
}

/* Likewise. After the deadline kills the child and returns false. One that waits for a device does not end by that: it
 * is left to init. */
static bool reap_child(pid_t child, int64_t deadline, int *status)
{
    /* the child closes its output when it ends, or just before */
    if (has_reaped(child, deadline, status))
        return true;
    kill(child, SIGKILL);
    has_reaped(child, rc_milliseconds() + END_MS, status);
    return false;
}

ssize_t rc_program_run(const struct rc_program *program, char *output, size_t size, int *status)
{
    int64_t deadline = rc_milliseconds() + program->milliseconds;
    int in[2];
    int out[2];
    pid_t child;
    ssize_t n;
    int error = open_pipe(in, program->kept);

    *status = 0;
    if (program->kept)
        *program->kept = -1;
    if (error)
        return -error;
    error = open_pipe(out, false);
    if (error) {
        close(in[0]);
        close(in[1]);
        return -error;
    }
    error = fill_pipe(in[1], program->input);
    if (program->kept)
        shutdown(in[1], SHUT_WR);
    else
        close(in[1]);
    if (!error)
        error = spawn_child(program, in[0], out[1], &child);
    close(in[0]);
    close(out[1]);
    if (error) {
        if (program->kept)
            close(in[1]);
        close(out[0]);
        return -error;
    }
    n = read_until(out[0], child, deadline, output, size);
    close(out[0]);
    /* if its output could not be read, the child is killed at once */
    if (!reap_child(child, n < 0 ? 0 : deadline, status) && n >= 0)
        n = -ETIMEDOUT;
    if (program->kept) {
        *program->kept = rc_descriptor_take(in[1]);
        close(in[1]);
    }
    return n;
}

bool rc_program_not_loaded(ssize_t n, int status)
{
    enum { NOT_LOADED = 127 };

    return n == 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_LOADED;
}

struct rc_str rc_program_reason(struct rc_str output, const char *word)
{
    struct rc_str rest;
    size_t size = strlen(word);

    if (!rc_str_starts(output, word))
        return RC_ABSENT;
    return rc_str_split((struct rc_str){ output.p + size, output.n - size }, '\n', &rest);
}

static int explain_end(const struct rc_program *program, const char *why, char *line, size_t size)
{
    const char *slash = strrchr(program->path, '/');

    snprintf(line, size, "%s: %s", slash ? slash + 1 : program->path, why);
    return -EIO;
}

int rc_program_line(const struct rc_program *program, char *line, size_t size)
{
    struct rc_str why;
    int status = 0;
    ssize_t n = rc_program_run(program, line, size, &status);

    if (n == -ETIMEDOUT)
        return -ETIMEDOUT;
    if (n < 0)
        return explain_end(program, strerror((int)-n), line, size);
    why = rc_program_reason((struct rc_str){ line, (size_t)n }, "failed=");
    if (why.p) {
        memmove(line, why.p, why.n);
        line[why.n] = '\0';
        return -EIO;
    }
    line[strcspn(line, "\n")] = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return explain_end(program,
                       WIFSIGNALED(status)                ? "was ended by a signal"
                       : rc_program_not_loaded(n, status) ? "a library that it needs cannot be loaded (see ldd)"
                                                          : "did not say why it failed",
                       line, size);
}
