/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "serverchild.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "rendezvous/client.h"
#include "rendezvous/local.h"

enum { LONG_MS = 600000 };

struct order {
    int decided;
    size_t padding;
    bool stops;
    char text[RC_WIRE_BODY_MAX];
};

static struct rc_str decide(void *more, const struct rc_roll_call *call)
{
    const struct rc_gather *roll = call->gather;
    struct order *order = more;
    int n = snprintf(order->text, sizeof(order->text), "answer=1\nport=%u\n", roll->count);

    memset(order->text + n, 'x', order->padding);
    if (dprintf(order->decided, "%u %s%s\n", roll->count, rc_gather_is_whole(roll) ? "whole" : "part",
                call->foreign ? " foreign" : "") < 0)
        _exit(9);
    if (order->stops)
        raise(SIGSTOP);
    return (struct rc_str){ order->text, (size_t)n + order->padding };
}

static int said_to;

static void say(enum rc_message_id id, const char *text)
{
    if (dprintf(said_to, "%s %s\n", rc_message_entry(id)->id, text) < 0)
        _exit(9);
}

/* So many descriptors as are open, and so many more. */
static void limit_descriptors(int open_one, rlim_t more)
{
    int next = dup(open_one);
    const struct rlimit limit = { .rlim_cur = (rlim_t)next + 1 + more, .rlim_max = (rlim_t)next + 1 + more };

    close(next);
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        _exit(5);
}

static void add_own(struct rc_server *server, struct rc_str text)
{
    struct rc_gather_request request;

    if (!rc_gather_request_read(text, &request))
        _exit(6);
    rc_server_gather(server, &request);
}

static void run(int listener, const struct server_start *start, int life, int decided, int said)
{
    static struct order order;
    const int listeners[RC_LISTENERS_MAX] = { listener, -1 };
    const struct rc_server_settings settings = {
        .watch_seconds = start->watch, .job = 42, .nodes = start->silence ? 2 : 0, .hosts = RC_STR("n[1-2]")
    };
    struct rc_server *server;
    unsigned before = unit_open_descriptors();
    int rc;

    alarm(SERVER_GUARD);
    if (start->descriptors)
        limit_descriptors(listener, start->descriptors);
    order = (struct order){ .decided = decided, .padding = start->padding, .stops = start->stops };
    if (rc_server_create(listeners, SERVER_TOKEN, &server) < 0)
        _exit(2);
    said_to = said;
    rc_server_watch(server, &settings, start->silence, say);
    if (start->own.n)
        add_own(server, start->own);
    rc = rc_server_run(server, life, &settings, start->decide ? start->decide : decide,
                       start->decide ? start->more : &order);
    rc_server_destroy(server);
    _exit(rc != 0 ? 3 : unit_open_descriptors() != before - 1 ? 4 : 0);
}

static int listen_for(const struct server_start *start, struct rc_endpoint *endpoint)
{
    static char text[RC_WIRE_TOKEN + RC_LOCAL_NAME + 8];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    *endpoint = (struct rc_endpoint){ .token = RC_STR(SERVER_TOKEN), .hosts = RC_STR("127.0.0.1") };
    if (!start->local)
        return rc_listen(0, 0, 0, &endpoint->port);
    assert_true(rc_endpoint_read(rc_str(rc_local_endpoint(start->local, &arena)), endpoint));
    return rc_local_listen(start->local);
}

struct server_child server_open(struct server_start start)
{
    struct server_child server;
    int listener = listen_for(&start, &server.endpoint);
    int life[2] = { -1, -1 };
    int decided[2];
    int said[2];

    assert_true(listener >= 0);
    assert_int_equal(pipe2(decided, O_CLOEXEC), 0);
    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    if (!start.ends_by_itself)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life), 0);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        if (life[1] >= 0)
            close(life[1]);
        run(listener, &start, life[0], decided[1], said[1]);
    }
    close(listener);
    close(decided[1]);
    close(said[1]);
    if (life[0] >= 0)
        close(life[0]);
    server.life = life[1];
    server.decided = decided[0];
    server.said = said[0];
    return server;
}

void server_decides(const struct server_child *server, const char *expected)
{
    char line[32] = "";

    assert_true(read(server->decided, line, sizeof(line) - 1) >= 0);
    assert_string_equal(line, expected);
}

void server_says(const struct server_child *server, const char *expected)
{
    char line[2048] = "";
    ssize_t n = read(server->said, line, sizeof(line) - 1);

    assert_true(n > 0);
    if (strncmp(line, expected, strlen(expected)) != 0 || strchr(line, '\n') != line + n - 1)
        fail_msg("it says: %s", line);
}

void server_close(struct server_child *server)
{
    const int left[] = { server->decided, server->said };
    int status;

    if (server->life >= 0)
        close(server->life);
    for (unsigned i = 0; i < UNIT_COUNT(left); i++) {
        char line[512] = "";

        assert_true(read(left[i], line, sizeof(line) - 1) >= 0);
        assert_string_equal(line, "");
        close(left[i]);
    }
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
    assert_int_equal(status, 0);
}

void server_answers(const struct server_child *server, const char *text, const char *answer)
{
    struct rc_reply reply;

    assert_int_equal(rc_client_request(&server->endpoint, rc_str(text), LONG_MS, &reply, NULL), 0);
    assert_int_equal(reply.size, strlen(answer));
    assert_string_equal(reply.text, answer);
    free(reply.text);
}

int server_connect(const struct server_child *server, int flags, int room)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(server->endpoint.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const struct timeval guard = { .tv_sec = SERVER_GUARD };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    int yes = 1;

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof(guard));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (room)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    assert_true(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
    return fd;
}

int server_send(const struct server_child *server, const char *text)
{
    int fd = server_connect(server, 0, 0);
    struct rc_str message;

    message.p = rc_wire_pack(SERVER_TOKEN, rc_str(text), &message.n);
    assert_non_null(message.p);
    assert_true(unit_send(fd, message));
    free((char *)(uintptr_t)message.p);
    return fd;
}

int server_tell(const struct server_child *server, const char *text)
{
    int fd = server_send(server, text);

    /* the server may accept the first one together with `fd`; it accepts the second one after it has read `fd` */
    for (int i = 0; i < 2; i++)
        server_answers(server, "look -\n", "gathered 0 0\n");
    return fd;
}

size_t server_hears(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n;

    while ((n = recv(fd, text + used, size - 1 - used, 0)) > 0)
        used += (size_t)n;
    /* with a reset where something of ours was not read */
    assert_true(n == 0 || errno == ECONNRESET);
    text[used] = '\0';
    close(fd);
    return used;
}

void server_replies(int fd, const char *text)
{
    char expected[1024] = "";
    char got[1024];

    if (text)
        snprintf(expected, sizeof(expected), "rollcall 1 " SERVER_TOKEN " %zu\n%s", strlen(text), text);
    server_hears(fd, got, sizeof(got));
    assert_string_equal(got, expected);
}

const char *server_entry(char text[SERVER_ENTRY], unsigned node, unsigned nodes)
{
    snprintf(text, SERVER_ENTRY,
             "gather roll %u %u " SERVER_LONG " all\n"
             "roll=1\nscope=slurm:1.0\nhost=n%u\nnode=%u\nnodes=%u\nworld=%u\ntasks=%u\n",
             node, nodes, node, node, nodes, nodes, node);
    return text;
}
