/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "system/node.h"

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};

void rc_descriptor_send(int socket, int fd)
{
    union control control = {
        .head = { .cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    char byte = 0;
    struct iovec text = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.space)
    };

    memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    (void)!sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Receive a descriptor, or return -1. Do not block. */
static int descriptor_take(int socket)
{
    union control control;
    char byte;
    struct iovec text = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.space)
    };
    int fd = -1;

    if (recvmsg(socket, &message, MSG_DONTWAIT) == 1 && message.msg_controllen >= CMSG_LEN(sizeof(fd)) &&
        control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
    return fd;
}

#define LIBRARY_PATH "LD_LIBRARY_PATH="

/* From glibc's unsecvars.h, without names, times and temporary files; musl reads only LD_*. */
static const char *const loader_variables[] = {
    "LD_", "GCONV_PATH=", "GETCONF_DIR=", "GLIBC_TUNABLES=", "LOCPATH=", "MALLOC_", "NLSPATH=",
};

static bool starts_with(const char *entry, const char *start)
{
    return strncmp(entry, start, strlen(start)) == 0;
}

static bool is_for_loader(const char *entry)
{
    for (size_t i = 0; i < sizeof(loader_variables) / sizeof(*loader_variables); i++)
        if (starts_with(entry, loader_variables[i]))
            return true;
    return starts_with(entry, RC_PROGRAM_LIBRARIES);
}

/* Return the entry or its stored copy as LD_LIBRARY_PATH=, else NULL. */
static const char *library_path(const char *entry)
{
    if (starts_with(entry, LIBRARY_PATH))
        return entry;
    return starts_with(entry, RC_PROGRAM_LIBRARIES) ? entry + strlen(RC_PROGRAM_LIBRARIES) - strlen(LIBRARY_PATH)
                                                    : NULL;
}

/* Return the child's entry, in `room` if renamed; NULL to drop it. */
static const char *adapt_entry(enum rc_program_kind kind, const char *entry, char *room)
{
    const char *path = library_path(entry);

    if (kind == RC_PROGRAM_USER)
        return starts_with(entry, "LD_PRELOAD=") ? NULL : entry;
    if (!is_for_loader(entry))
        return entry;
    if (!path || kind == RC_PROGRAM_PMIX)
        return path;
    stpcpy(stpcpy(room, RC_PROGRAM_LIBRARIES), path + strlen(LIBRARY_PATH));
    return room;
}

/* Copy the list for the caller to free; most strings are borrowed. Return NULL without memory. */
static char **program_environment(enum rc_program_kind kind, const char *const *env)
{
    size_t room = 0;
    size_t count = 0;
    size_t used = 0;
    char **copy;
    char *renamed;

    for (; env[count]; count++)
        if (library_path(env[count]))
            room += strlen(RC_PROGRAM_LIBRARIES) + strlen(env[count]);
    copy = malloc((count + 1) * sizeof(*copy) + room);
    if (!copy)
        return NULL;
    renamed = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *entry = adapt_entry(kind, env[i], renamed);

        if (!entry)
            continue;
        copy[used++] = (char *)(uintptr_t)entry;
        if (entry == renamed)
            renamed += strlen(renamed) + 1;
    }
    copy[used] = NULL;
    return copy;
}

/* LOOK_MS: interval to check for an ended program whose output others keep open. With 60 processes on two cores, a
 * killed one took over 100 ms to end; PMIx_Finalize takes up to 2 s (RC_PROGRAM_END_MS). CLOSED_MS: grace after closing
 * the output; BEYOND_MS: rollcall-pmix's, if it does not detect that its output has no reader. */
enum { LOOK_MS = 100, CLOSED_MS = 200, BEYOND_MS = 1000 };

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Open a pipe or socket pair above the standard streams: if a daemon closed those, dup2() would close its source.
 * Return 0 or an errno. */
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
    return error;
}

enum { DEADLINE_SIZE = sizeof("4294967295") };

static char **make_arguments(const struct rc_program *program, char deadline[DEADLINE_SIZE])
{
    size_t count = 0;
    size_t used = 0;
    char **argv;

    while (program->more && program->more[count])
        count++;
    argv = malloc((count + 4) * sizeof(*argv));
    if (!argv)
        return NULL;
    argv[used++] = (char *)(uintptr_t)rc_str_base_name(rc_str(program->path)).p;
    if (program->argument)
        argv[used++] = (char *)(uintptr_t)program->argument;
    for (size_t i = 0; program->argument && i < count; i++)
        argv[used++] = (char *)(uintptr_t)program->more[i];
    if (program->kind == RC_PROGRAM_PMIX) {
        snprintf(deadline, DEADLINE_SIZE, "%u", program->milliseconds + BEYOND_MS);
        argv[used++] = deadline;
    }
    argv[used] = NULL;
    return argv;
}

struct start {
    const struct rc_program *program;
    char **argv;
    char **env;
    pid_t parent;
    int in;
    int out;
    int error;
};

/* In the child, which shares the caller's memory until execve(), as in posix_spawn(). */
static int run_child(void *more)
{
    struct start *start = more;
    int errors = start->out;
    sigset_t none;

    for (int number = 1; number < _NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* the caller has already ended */
    if (start->program->kind != RC_PROGRAM_PMIX && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != start->parent))
        _exit(1);
    /* timeout -s KILL kills the caller's process group */
    if (start->program->kind == RC_PROGRAM_PMIX)
        setpgid(0, 0);
    if (!start->program->with_errors)
        errors = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (dup2(start->in, STDIN_FILENO) >= 0 && dup2(start->out, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
        execve(start->program->path, start->argv, start->env);
    start->error = errno;
    _exit(1);
}

/* Like posix_spawn(), with PR_SET_PDEATHSIG, which the program might set too late. Not for rollcall-pmix, whose PMIx
 * server treats its death as a task's. */
static int spawn_child(const struct rc_program *program, int in, int out, pid_t *child)
{
    char deadline[DEADLINE_SIZE];
    static const size_t stack_size = 32768;
    struct start start = {
        .program = program,
        .argv = make_arguments(program, deadline),
        .env = program_environment(program->kind, program->env),
        .parent = getpid(),
        .in = in,
        .out = out,
        .error = ENOMEM,
    };
    char *stack = malloc(stack_size);
    sigset_t all, old;

    if (start.argv && start.env && stack) {
        start.error = 0;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &old);
        *child = clone(run_child, stack + stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
        if (*child < 0)
            start.error = errno;
        else if (start.error)
            waitpid(*child, NULL, 0);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    free(stack);
    free(start.env);
    free(start.argv);
    return start.error;
}

/* The input must fit: without a reader, SIGPIPE could kill the caller, perhaps a user's task. */
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

    /* fails if the caller ignores SIGCHLD and the child has ended */
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == child;
}

/* Read the output until the deadline or the child's end: its children may keep the pipe open. Suspended time does not
 * count. */
static ssize_t read_until(int fd, pid_t child, int64_t deadline, char *output, size_t size)
{
    size_t used = 0;

    for (;;) {
        struct pollfd in = { .fd = fd, .events = POLLIN };
        int64_t before = rc_milliseconds();
        int64_t left = deadline - before;
        bool ended = has_ended(child);
        int pause = ended || left < 0 ? 0 : left > LOOK_MS ? LOOK_MS : (int)left;
        int ready;
        ssize_t n;

        ready = poll(&in, 1, pause);
        deadline = rc_deadline_resume(deadline, before, pause);
        if (ready == 0 && ended)
            break;
        if (ready <= 0 && left <= 0)
            return -ETIMEDOUT;
        if (ready <= 0)
            continue;
        n = read(fd, output + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
        output[used] = '\0';
        if (used == size - 1)
            return -EMSGSIZE;
    }
    return (ssize_t)used;
}

/* Return true, with *status set, if the child ended by the deadline. */
static bool has_reaped(pid_t child, int64_t deadline, int *status)
{
    pid_t ended;

    while ((ended = waitpid(child, status, WNOHANG)) == 0 && rc_milliseconds() < deadline)
        poll(NULL, 0, 1);
    return ended != 0;
}

ssize_t rc_program_run(const struct rc_program *program, char *output, size_t size, int *status)
{
    int64_t deadline = rc_milliseconds() + program->milliseconds;
    int in[2] = { -1, -1 };
    int out[2] = { -1, -1 };
    pid_t child = 0;
    ssize_t n;
    int error;

    *status = 0;
    output[0] = '\0';
    if ((error = open_pipe(in, program->kept)) == 0 && (error = open_pipe(out, false)) == 0 &&
        (error = fill_pipe(in[1], program->input)) == 0) {
        if (program->kept)
            shutdown(in[1], SHUT_WR);
        else
            close_end(&in[1]);
        error = spawn_child(program, in[0], out[1], &child);
    }
    close_end(&in[0]);
    close_end(&out[1]);
    n = error ? -error : read_until(out[0], child, deadline, output, size);
    close_end(&out[0]);
    /* a child closes its output just before it ends; after a failed read, kill it */
    if (n >= 0 && deadline < rc_milliseconds() + CLOSED_MS)
        deadline = rc_milliseconds() + CLOSED_MS;
    if (!error && !has_reaped(child, n < 0 ? 0 : deadline, status)) {
        /* Slurm ends a step whose PMIx client is killed; rollcall-pmix ends without a reader */
        if (program->kind != RC_PROGRAM_PMIX)
            kill(child, SIGKILL);
        /* a process blocked in a device survives SIGKILL and is left to init */
        has_reaped(child, rc_milliseconds() + RC_PROGRAM_END_MS, status);
        if (n >= 0)
            n = -ETIMEDOUT;
    }
    if (program->kept)
        *program->kept = error ? -1 : descriptor_take(in[1]);
    close_end(&in[1]);
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
    snprintf(line, size, "%s: %s", rc_str_base_name(rc_str(program->path)).p, why);
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
                                                          : "gave no reason",
                       line, size);
}

void rc_last_line_wait(bool said)
{
    enum { SAID_MS = 200, SILENT_MS = 500 };
    const struct timespec pause = { .tv_nsec = (said ? SAID_MS : SILENT_MS) * 1000000L };

    nanosleep(&pause, NULL);
}
