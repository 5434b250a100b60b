/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - srun's server, and that of a launch without srun's.
 *
 * srun's inherits its listener as descriptor 3, and as 4 a socket to srun, with whose end the server ends.
 * ROLLCALL_TOKEN has the token. It prints only findings, to srun's standard error.
 *
 * The other is started by a process of RANK 0 (rendezvous/discovery.h). It prints its endpoint and stays, as a daemon,
 * until its owner ends. RANK 0's node prints the findings from the answer to the roll call. */
#include "config.h"

#include "exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/netaddr.h"
#include "rendezvous/client.h"
#include "rendezvous/local.h"
#include "roll/entry.h"
#include "system/node.h"
#include "system/program.h"

enum { SILENCE_SECONDS = 15, LINE_SIZE = 2048, WRITTEN_MS = 100, PUBLISH_MS = 10000, ENDPOINT_SIZE = 4096 };

extern char **environ;

/* A thread writes to standard error, which may be an unread pipe or a stopped terminal. The server waits WRITTEN_MS for
 * it, so that a task's line precedes its output, and then no more until it has written. Lines beyond the buffer are
 * lost. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_cond_t written;
    pthread_t thread;
    bool threaded; /* false: the caller writes */
    bool busy;     /* the thread has text to write */
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

/* One call per line: srun's lines go to the same terminal. */
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

void exchange_close_from(int first)
{
    long limit = sysconf(_SC_OPEN_MAX);

    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
    for (int fd = first; fd < (limit > 0 && limit < 65536 ? limit : 65536); fd++)
        close(fd);
}

/* Raise the descriptor limit, because each node needs one. It also bounds unauthenticated connections. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static struct rc_server *server;
static struct rc_verdict verdict;

/* srun's server prints the findings, to srun's standard error. */
static struct rc_str decide_and_say(void *more, const struct rc_roll_call *call)
{
    const struct rc_gather *nodes = rc_server_find(server, RC_GATHER_NODES);
    struct rc_messages *findings = &verdict.answer.findings;
    struct rc_str text;

    verdict.silence = nodes && rc_gather_has_all(nodes) ? "rollcall runs there, and another line has that node's reason"
                                                        : RC_NO_CALL;
    text = rc_verdict_decide(more, call);
    for (unsigned i = 0; i < findings->count; i++)
        if (findings->list[i].id != RC601 || !rc_server_name_missing(server))
            print_finding(findings->list[i].id, findings->list[i].text);
    return text;
}

int exchange_serve_srun(const struct rc_server_settings *settings)
{
    const int listener[RC_LISTENERS_MAX] = { RC_SERVER_LISTENER, -1 };
    const char *token = getenv(RC_SERVER_TOKEN);
    char name[RC_NODE_NAME_SIZE];
    int rc;

    if (!rc_wire_is_token(rc_str(token)))
        return 1;
    verdict.srun = rc_str(rc_node_name(name));
    exchange_close_from(RC_SERVER_LIFE + 1);
    raise_limit();
    /* standard error may be a pipe without a reader */
    signal(SIGPIPE, SIG_IGN);
    printer.threaded = pthread_create(&printer.thread, NULL, print_lines, NULL) == 0;
    if (rc_server_create(listener, token, &server) < 0)
        return 1;
    rc_server_watch(server, settings, SILENCE_SECONDS, print_finding);
    rc = rc_server_run(server, RC_SERVER_LIFE, settings, decide_and_say, &verdict);
    rc_server_destroy(server);
    end_printer();
    return rc < 0;
}

static const char *write_endpoint(const char *token, uint16_t port, struct rc_arena *arena)
{
    char text[RC_CLIENT_HOSTS_MAX * RC_NETADDR_TEXT];
    struct rc_arena hosts = { .base = text, .size = sizeof(text) };
    const struct rc_endpoint endpoint = {
        .token = rc_str(token),
        .port = port,
        .hosts = rc_str(rc_entry_addresses(RC_CLIENT_HOSTS_MAX, " ", &hosts)),
    };

    return rc_endpoint_write(&endpoint, arena);
}

/* Publish the text over PMIx with rollcall-pmix, from this program's folder. Return NULL, or the error in `line`. */
static const char *put_to_pmix(const char *text, char line[LINE_SIZE])
{
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = RC_PROGRAM_PMIX,
        .path = path,
        .argument = "put",
        .input = rc_str(text),
        .env = (const char *const *)environ,
        .milliseconds = PUBLISH_MS,
    };
    int rc;

    if (!rc_beside_file(".", "rollcall-pmix", path, sizeof(path)).p)
        return strerror(ENOENT);
    rc = rc_program_line(&program, line, LINE_SIZE);
    return rc == 0 ? NULL : rc == -ETIMEDOUT ? "no answer by the deadline" : line;
}

static int fail(const char *what, const char *why)
{
    printf("failed=%s: %s\n", what, why);
    return 1;
}

/* Runs in a daemon. */
static void stay_behind(const struct rc_server_settings *settings)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (chdir("/") < 0)
        return;
    rc_server_run(server, -1, settings, rc_verdict_decide, &verdict);
}

int exchange_serve_launch(const struct rc_server_settings *settings)
{
    char name[RC_LOCAL_NAME];
    char token[RC_WIRE_TOKEN + 1] = RC_LOCAL_TOKEN;
    char text[ENDPOINT_SIZE];
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    int listener[RC_LISTENERS_MAX] = { -1, -1 };
    const char *endpoint, *why;
    uint16_t port = 0;
    pid_t child;
    int rc = 0;

    exchange_close_from(STDERR_FILENO + 1);
    raise_limit();
    signal(SIGPIPE, SIG_IGN);
    snprintf(name, sizeof(name), "%.*s", (int)settings->local.n, settings->local.p);
    listener[0] = rc_local_listen(name);
    if (listener[0] == -EADDRINUSE) {
        puts("server=" RC_SERVER_TAKEN);
        return 0;
    }
    rc = listener[0] < 0 ? listener[0] : 0;
    if (rc == 0 && settings->pmix) {
        rc = rc_wire_new_token(token);
        listener[1] = rc < 0 ? rc : rc_listen(0, 0, 0, &port);
        rc = listener[1] < 0 ? listener[1] : 0;
    }
    if (rc == 0)
        rc = rc_server_create(listener, token, &server);
    if (rc < 0)
        return fail("a socket", strerror(-rc));
    endpoint = settings->pmix ? write_endpoint(token, port, &arena) : rc_local_endpoint(name, &arena);
    why = settings->pmix ? put_to_pmix(endpoint, line) : NULL;
    child = why ? 0 : fork();
    if (why)
        rc = fail("PMIx", why);
    else if (child < 0)
        rc = fail("a process", strerror(errno));
    else if (child > 0)
        printf("server=%s\n", endpoint);
    else
        stay_behind(settings);
    rc_server_destroy(server);
    return rc;
}
