/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

/* rollcall-exchange - the nodes of a launch exchange data before its tasks start.
 *
 *   rollcall-exchange node                  one node's part; a request on standard input (node.c)
 *   rollcall-exchange server SETTINGS       srun's server: where all nodes go (server.h; the settings: wire.h)
 *   rollcall-exchange store                 a store server, where srun has no rendezvous server (storeserver.c)
 *   rollcall-exchange inventory             what the node has; its part in the exchange asks for it
 *   rollcall-exchange monitor               in a step: which signals it receives (monitor.c)
 *   rollcall-exchange lookup                where MASTER_ADDR leads to; the plugin asks for it
 *
 * A program of its own, so that nothing of it stays in slurmstepd, in srun or in
 * the process that becomes the user's: no connection, no thread, no memory.
 *
 * The server inherits its listening socket as descriptor 3, and as 4 a socket whose
 * other end srun holds: when srun is gone, however it ended, so is the server.
 * The token comes in the variable ROLLCALL_TOKEN. It prints what is wrong on
 * srun's standard error, once, and nothing else.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "effects/lookup.h"
#include "exchange.h"
#include "rendezvous/wire.h"
#include "roll/names.h"
#include "system/node.h"

enum { STATUS_USAGE = 2, SILENCE_SECONDS = 15, LINE_SIZE = 2048, WRITTEN_MS = 100 };

static int usage(void)
{
    fputs(
        "usage: rollcall-exchange node|inventory|lookup|store|server SETTINGS (rollcall's own; see rollcall --help)\n",
        stderr);
    return STATUS_USAGE;
}

/* A thread writes to standard error: that of srun may be a pipe that nobody reads, or a terminal that is stopped. The
 * server waits for it for WRITTEN_MS, so that a task's line comes before its output, and no more until it has written.
 * Lines that do not fit any more are lost. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_cond_t written;
    pthread_t thread;
    bool threaded; /* false: who has a line writes it */
    bool busy;     /* the thread has not written all */
    bool over;
    size_t used;
    char text[UINT16_MAX];
} printer = { .lock = PTHREAD_MUTEX_INITIALIZER,
              .more = PTHREAD_COND_INITIALIZER,
              .written = PTHREAD_COND_INITIALIZER };

static void write_lines(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDERR_FILENO, text, size);

        if (n <= 0)
            return;
        text += n;
        size -= (size_t)n;
    }
}

static void *print_lines(void *unused)
{
    static char text[sizeof(printer.text)];
    size_t size = 1;

    while (size > 0) {
        pthread_mutex_lock(&printer.lock);
        printer.busy = printer.used > 0;
        pthread_cond_signal(&printer.written);
        while (!printer.used && !printer.over)
            pthread_cond_wait(&printer.more, &printer.lock);
        size = printer.used;
        memcpy(text, printer.text, size);
        printer.used = 0;
        pthread_mutex_unlock(&printer.lock);
        write_lines(text, size);
    }
    return unused;
}

static struct timespec after(long milliseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += milliseconds * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* srun waits a second for this process. */
static void end_printer(void)
{
    struct timespec until = after(1000);

    if (!printer.threaded)
        return;
    pthread_mutex_lock(&printer.lock);
    printer.over = true;
    pthread_cond_signal(&printer.more);
    pthread_mutex_unlock(&printer.lock);
    pthread_timedjoin_np(printer.thread, NULL, &until);
}

/* One call a line: srun's own lines go to the same terminal. */
static void print_finding(enum rc_message_id id, const char *text)
{
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    const char *all = rc_message_line(&arena, rc_message_entry(id)->level, id, text);
    struct timespec until = after(WRITTEN_MS);
    size_t size = strlen(all);
    bool is_stuck;

    if (!printer.threaded) {
        write_lines(all, size);
        return;
    }
    pthread_mutex_lock(&printer.lock);
    is_stuck = printer.busy;
    if (size <= sizeof(printer.text) - printer.used) {
        memcpy(printer.text + printer.used, all, size);
        printer.used += size;
        printer.busy = true;
    }
    pthread_cond_signal(&printer.more);
    while (printer.busy && !is_stuck)
        is_stuck = pthread_cond_timedwait(&printer.written, &printer.lock, &until) != 0;
    pthread_mutex_unlock(&printer.lock);
}

static struct rc_server *server;

static const char *explain_silence(const struct rc_callers *callers)
{
    if (callers->nodes && callers->count == callers->nodes)
        return "rollcall runs there, and another line has that node's reason";
    return callers->nodes && callers->started >= 0 ? RC_NO_CALL_STARTED : RC_NO_CALL_BEFORE;
}

/* The server's own decision, said where srun's own lines go. */
static struct rc_str decide_and_say(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    struct rc_verdict *verdict = more;
    struct rc_messages *findings = &verdict->answer.findings;
    struct rc_callers *callers = rc_server_callers(server);
    struct rc_str text;

    verdict->silence = explain_silence(callers);
    text = rc_verdict_decide(verdict, rolls, count, complete);
    for (unsigned i = 0; i < findings->count; i++)
        if (findings->list[i].id != RC601 || !rc_callers_name(callers))
            print_finding(findings->list[i].id, findings->list[i].text);
    return text;
}

/* Closes what srun, or a task, had open without close-on-exec: this process outlives them. */
static void close_from(int first)
{
    long limit = sysconf(_SC_OPEN_MAX);

    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
    for (int fd = first; fd < (limit > 0 && limit < 65536 ? limit : 65536); fd++)
        close(fd);
}

/* A task that ended before it was to take this process with it has left a pipe that nobody reads. */
static bool is_answer_read(void)
{
    struct pollfd answer = { .fd = STDOUT_FILENO };

    return poll(&answer, 1, 0) < 0 || !(answer.revents & POLLERR);
}

static int serve_srun(const struct rc_server_settings *settings)
{
    static struct rc_verdict verdict;
    const char *token = getenv(RC_SERVER_TOKEN);
    char name[RC_NODE_NAME_SIZE];
    int rc;

    if (!rc_wire_is_token(rc_str(token)))
        return usage();
    verdict.seconds = settings->seconds;
    verdict.check = settings->check;
    verdict.same = settings->same;
    verdict.srun = rc_str(rc_node_name(name));
    close_from(RC_SERVER_LIFE + 1);
    /* standard error may be a pipe whose reader has gone */
    signal(SIGPIPE, SIG_IGN);
    printer.threaded = pthread_create(&printer.thread, NULL, print_lines, NULL) == 0;
    server = rc_server_create(RC_SERVER_LISTENER, RC_SERVER_LIFE, token);
    if (!server)
        return 1;
    rc_server_watch(server, settings, SILENCE_SECONDS, print_finding);
    rc = rc_server_run(server, settings->seconds, decide_and_say, &verdict);
    rc_server_destroy(server);
    end_printer();
    return rc < 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *argument;
        int (*answer)(void);
    } questions[] = {
        { RC_EXCHANGE_NODE, exchange_node },
        { EXCHANGE_INVENTORY, exchange_inventory },
        { RC_LOOKUP_ARGUMENT, exchange_lookup },
    };
    struct rc_server_settings settings;

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        if (argc == 2 && strcmp(argv[1], questions[i].argument) == 0) {
            /* the answer is of no use once the task is gone */
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            return is_answer_read() ? questions[i].answer() : 1;
        }
    }
    if (argc == 2 && strcmp(argv[1], RC_EXCHANGE_STORE) == 0) {
        close_from(STDERR_FILENO + 1);
        signal(SIGPIPE, SIG_IGN);
        return exchange_start_store();
    }
    if (argc == 2 && strcmp(argv[1], RC_EXCHANGE_MONITOR) == 0) {
        close_from(STDIN_FILENO + 1);
        return exchange_monitor();
    }
    if (argc == 3 && strcmp(argv[1], RC_EXCHANGE_SERVER) == 0 && rc_server_settings_read(rc_str(argv[2]), &settings))
        return serve_srun(&settings);
    return usage();
}
