/* SPDX-License-Identifier: BSD-3-Clause */
/* ending.c - the first failing task of a node ends the step, unless the step received a signal, after which others may
 * be saving.
 *
 * slurmstepd sends signals to the step's container (22.05 to 26.05 proctrack_p_signal); srun does not see those of
 * scancel --signal. So the first task starts a monitor, rollcall-exchange, as a child of slurmstepd, which queries it
 * at a failure before srun is notified. Without a signal the monitor has srun's server set kill_on_bad_exit. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node.h"
#include "rendezvous/client.h"
#include "rendezvous/wire.h"
#include "resolve/command.h"
#include "spank.h"

/* OUTPUT_MS: slurmstepd forwards output in another thread. Without a delay the last line was lost in 6 of 20 steps on a
 * busy node; with 200 ms in none of 30. LEAVE_MS: a remaining process delays proctrack/cgroup by a second. */
enum { OUTPUT_MS = 200, ANSWER_MS = 4000, LEAVE_MS = 100, STACK_SIZE = 16384, VARIABLE_SIZE = 1024 };

enum { STEPD, MONITOR };

static struct {
    int end[2];
    ino_t file[2];
    struct rc_once *started;
} line;

/* With CONTAIN_SPANK (26.05) user_init has a separate descriptor table. */
static bool is_open(int end)
{
    struct stat file;

    return line.started && fstat(line.end[end], &file) == 0 && S_ISSOCK(file.st_mode) && file.st_ino == line.file[end];
}

void rc_spank_ending_prepare(void)
{
    struct stat file[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line.end) < 0)
        return;
    if (fstat(line.end[STEPD], &file[STEPD]) < 0 || fstat(line.end[MONITOR], &file[MONITOR]) < 0)
        return;
    line.file[STEPD] = file[STEPD].st_ino;
    line.file[MONITOR] = file[MONITOR].st_ino;
    line.started = rc_once_memory(sizeof(*line.started));
}

struct start {
    const char *path;
    char **env;
};

/* Runs in a child of slurmstepd that shares this memory until execve. The monitor reads the blocked signals. */
static int run_monitor(void *more)
{
    static char *argv[] = { (char *)(uintptr_t)RC_EXCHANGE, (char *)(uintptr_t)RC_EXCHANGE_MONITOR, NULL };
    const struct start *start = more;
    sigset_t all;
    int null;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (dup2(line.end[MONITOR], STDIN_FILENO) == STDIN_FILENO && dup2(null, STDOUT_FILENO) == STDOUT_FILENO &&
        dup2(null, STDERR_FILENO) == STDERR_FILENO)
        execve(start->path, argv, start->env);
    _exit(1);
}

static void start_monitor(const struct rc_endpoint *endpoint)
{
    static char stack[STACK_SIZE] __attribute__((aligned(16)));
    char text[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    char *env[] = { (char *)(uintptr_t)rc_format(&arena, RC_MONITOR_SERVER "="), NULL };
    struct start start = { .env = env };

    rc_join(&arena);
    rc_endpoint_write(endpoint, &arena);
    if (arena.full)
        return;
    rc_spank_outside_enter();
    start.path = rc_spank_program(RC_EXCHANGE);
    clone(run_monitor, stack + sizeof(stack), CLONE_PARENT | CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
    rc_spank_outside_leave();
}

void rc_spank_ending_begin(const struct rc_options *options, const struct rc_env *env, const struct rc_command *command)
{
    char text[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_endpoint endpoint;
    struct rc_str step;

    if (options->mode == RC_MODE_ALONE || rc_command_goes_on(command) || rc_env_get(env, RC_NO_MONITOR).n ||
        !is_open(MONITOR) || !rc_endpoint_of_srun(env, &endpoint, &step, &arena) ||
        !rc_endpoint_is_own_step(env, step) || !rc_once_begin(line.started))
        return;
    start_monitor(&endpoint);
    rc_once_done(line.started);
}

static void close_end(int end)
{
    if (is_open(end))
        close(line.end[end]);
    line.file[end] = 0;
}

/* Return the size of the monitor's next packet; 0 if it has ended, -1 on a timeout. */
static ssize_t receive(char *text, size_t size)
{
    struct pollfd monitor = { .fd = line.end[STEPD], .events = POLLIN };
    ssize_t n;

    if (!is_open(STEPD) || poll(&monitor, 1, ANSWER_MS) != 1)
        return -1;
    n = recv(line.end[STEPD], text, size, MSG_DONTWAIT);
    return n < 0 && errno == ECONNRESET ? 0 : n;
}

/* The monitor answers when srun knows that the step must end, or at once after a signal. Only SIGKILL ends it
 * earlier. */
static void report_failure(void)
{
    const struct timespec moment = { .tv_nsec = OUTPUT_MS * 1000000L };
    char text[VARIABLE_SIZE], byte;
    struct rc_endpoint server;
    struct rc_reply reply;
    ssize_t n = line.started && atomic_load(&line.started->state) ? receive(text, sizeof(text)) : -1;

    if (n <= 0 || !rc_endpoint_read((struct rc_str){ text, (size_t)n }, &server))
        return;
    nanosleep(&moment, NULL);
    send(line.end[STEPD], "f", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (receive(&byte, 1) == 0 && rc_client_request(&server, RC_STR(RC_SERVER_FAILED), ANSWER_MS, &reply, NULL) == 0)
        free(reply.text);
}

/* The monitor ends when its socket is closed. */
static void end_monitor(void)
{
    struct pollfd monitor = { .fd = line.end[STEPD] };

    if (is_open(STEPD) && shutdown(line.end[STEPD], SHUT_WR) == 0)
        poll(&monitor, 1, LEAVE_MS);
    close_end(STEPD);
}

void rc_spank_ending_task_ended(spank_t spank)
{
    static uint32_t ended;
    static bool failed;
    uint32_t tasks;
    int status;

    /* by now slurmstepd has forked all tasks */
    close_end(MONITOR);
    if (!failed && spank_get_item(spank, S_TASK_EXIT_STATUS, &status) == ESPANK_SUCCESS && status != 0) {
        failed = true;
        report_failure();
    }
    if (rc_spank_number(spank, S_JOB_LOCAL_TASK_COUNT, &tasks) && ++ended >= tasks)
        end_monitor();
}
