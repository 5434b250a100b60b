/* SPDX-License-Identifier: BSD-3-Clause */
/* The server among those who may connect to it: it runs in a child, the connections are sockets of this process. */
#include "config.h"

#include "rendezvous/server.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rendezvous/wire.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define WRONG "0123456789abcdef0123456789abcdee"

enum {
    LONG = 600,  /* seconds that nothing here needs */
    GUARD = 100, /* seconds after which a test that hangs has failed */
    MANY = 300,
    LESS = MANY - 50, /* descriptors: fewer than there are connections */
    NODES = 400,
    LARGE = 60000,
    TEXT_SIZE = LARGE + 256,
};

enum life { ALONE, WITH_LIFE };

struct row {
    struct rc_str input;
    const char *why;
};

/* A server in a process of its own. */
struct office {
    pid_t pid;
    uint16_t port;
    int life;   /* -1: none */
    int report; /* what it was asked to decide: a line "COUNT COMPLETE" each time */
};

struct order {
    int report;
    size_t padding; /* of the answer */
    char text[TEXT_SIZE];
};

/* "answer=1\nport=COUNT\n", and what else it was made to say. */
static struct rc_str decide(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    struct order *order = more;
    int n = snprintf(order->text, sizeof(order->text), "answer=1\nport=%zu\n", count);

    (void)rolls;
    memset(order->text + n, 'x', order->padding);
    if (dprintf(order->report, "%zu %d\n", count, complete) < 0)
        _exit(9);
    return (struct rc_str){ order->text, (size_t)n + order->padding };
}

/* Ends with 0 if the server did, and left no descriptor. */
static void run_server(int listener, unsigned seconds, int life, int report, struct rc_str own, size_t padding)
{
    static struct order order;
    struct rc_server *server;
    unsigned before = unit_open_descriptors();
    int rc;

    alarm(GUARD);
    order = (struct order){ .report = report, .padding = padding };
    server = rc_server_create(listener, TOKEN);
    if (!server || (own.n && !rc_server_add(server, own)))
        _exit(2);
    rc = rc_server_run(server, seconds, life, decide, &order);
    rc_server_destroy(server);
    _exit(rc != 0 ? 3 : unit_open_descriptors() != before - 1 ? 4 : 0);
}

struct start {
    unsigned seconds;
    enum life with;
    struct rc_str own; /* entry */
    size_t padding;
    rlim_t descriptors; /* 0: as many as there are */
};

static struct office open_office_with(struct start start)
{
    const struct rlimit limit = { .rlim_cur = start.descriptors, .rlim_max = start.descriptors };
    struct office office = { .life = -1 };
    int life[2] = { -1, -1 };
    int report[2];
    int listener = rc_listen(0, 0, &office.port);

    assert_true(listener >= 0);
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    if (start.with == WITH_LIFE)
        assert_int_equal(pipe2(life, O_CLOEXEC), 0);
    office.pid = fork();
    assert_true(office.pid >= 0);
    if (office.pid == 0) {
        if (life[1] >= 0)
            close(life[1]);
        if (start.descriptors && setrlimit(RLIMIT_NOFILE, &limit) < 0)
            _exit(5);
        run_server(listener, start.seconds, life[0], report[1], start.own, start.padding);
    }
    close(listener);
    close(report[1]);
    if (life[0] >= 0)
        close(life[0]);
    office.life = life[1];
    office.report = report[0];
    return office;
}

static struct office open_office(unsigned seconds, enum life with)
{
    return open_office_with((struct start){ .seconds = seconds, .with = with });
}

/* What it decided, once: "2 1\n" for two entries that are all; "" where it ended without. */
static void decided(const struct office *office, const char *expected)
{
    char line[32] = "";

    assert_true(read(office->report, line, sizeof(line) - 1) >= 0);
    assert_string_equal(line, expected);
}

/* It ended by itself, or because its life did, and decided no more than what was read. */
static void ends(struct office *office)
{
    int status;

    if (office->life >= 0)
        close(office->life);
    decided(office, "");
    assert_int_equal(waitpid(office->pid, &status, 0), office->pid);
    assert_int_equal(status, 0);
    close(office->report);
}

static int go_there(const struct office *office, int flags, int room)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(office->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const struct timeval guard = { .tv_sec = GUARD };
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

static int go(const struct office *office)
{
    return go_there(office, 0, 0);
}

static void say(int fd, struct rc_str text)
{
    for (size_t sent = 0; sent < text.n;) {
        ssize_t n = send(fd, text.p + sent, text.n - sent, MSG_NOSIGNAL);

        /* the server may have hung up already */
        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

/* All that comes until the server hangs up. */
static size_t hear_all(int fd, char *text, size_t size)
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

static void hears(int fd, const char *answer)
{
    char expected[256];
    char text[256];

    hear_all(fd, text, sizeof(text));
    if (*answer)
        snprintf(expected, sizeof(expected), "rollcall 1 " TOKEN " %zu\n%s", strlen(answer), answer);
    else
        expected[0] = '\0';
    assert_string_equal(text, expected);
}

static struct rc_str entry_of(unsigned node, unsigned nodes)
{
    static char text[256];
    int n = snprintf(text, sizeof(text), "roll=1\nscope=slurm:1.0\nhost=n%u\nnode=%u\nnodes=%u\nworld=%u\ntasks=%u\n",
                     node, node, nodes, nodes, node);

    return (struct rc_str){ text, (size_t)n };
}

static struct rc_str message(const char *token, struct rc_str entry)
{
    static char text[TEXT_SIZE];
    size_t size;
    char *packed = rc_wire_pack(token, entry, &size);

    assert_non_null(packed);
    assert_true(size <= sizeof(text));
    memcpy(text, packed, size);
    free(packed);
    return (struct rc_str){ text, size };
}

static int register_node(const struct office *office, unsigned node, unsigned nodes)
{
    int fd = go(office);

    say(fd, message(TOKEN, entry_of(node, nodes)));
    return fd;
}

/* That it has been heard is to be seen where somebody else's, sent later, is answered. */
static void two_nodes_meet(const struct office *office)
{
    int first = register_node(office, 0, 2);
    int second = register_node(office, 1, 2);

    hears(first, "answer=1\nport=2\n");
    hears(second, "answer=1\nport=2\n");
    decided(office, "2 1\n");
}

UNIT_TEST(check_two_nodes, "two nodes meet")
{
    struct office office = open_office(LONG, WITH_LIFE);

    two_nodes_meet(&office);
    ends(&office);
}

UNIT_TEST(check_own_entry, "the server's own node; without a life it ends when all have their answer")
{
    struct office office;
    int fd;

    office = open_office_with((struct start){ .seconds = LONG, .with = ALONE, .own = entry_of(0, 1) });
    decided(&office, "1 1\n");
    ends(&office);
    office = open_office_with((struct start){ .seconds = LONG, .with = ALONE, .own = entry_of(0, 2) });
    fd = register_node(&office, 1, 2);
    hears(fd, "answer=1\nport=2\n");
    decided(&office, "2 1\n");
    ends(&office);
}

static const struct row strangers[] = {
    { TEXT("GET / HTTP/1.1\r\nHost: n1\r\nUser-Agent: a browser\r\nAccept: everything\r\n\r\n"), "a browser" },
    { TEXT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n\n\n\n\n"), "binary" },
    { TEXT("rollcall 1 " TOKEN " 65537\n"), "a length that is too large" },
    { TEXT("rollcall 1 " TOKEN " 4294967295\n"), "a length that is far too large" },
    { TEXT("rollcall 1 " WRONG " 10\nroll=1\nho\n"), "another token" },
    { TEXT("rollcall 1 " TOKEN " 0\n"), "no entry at all" },
    { TEXT("rollcall 1 " TOKEN " 7\nroll=1\n"), "an entry of nothing" },
    { TEXT("rollcall 1 " TOKEN " 9\nanswer=1\n"), "an answer" },
    { TEXT("rollcall 1 " TOKEN " 7\nroll=1\n and more than was announced"), "more than was announced" },
};

/* Whoever it is, it hears nothing, and the others do not notice. */
UNIT_ROWS(check_stranger, "a stranger", strangers)
{
    struct office office = open_office(LONG, WITH_LIFE);
    int early = go(&office);
    int late;

    say(early, row->input);
    hears(early, "");
    two_nodes_meet(&office);
    late = go(&office);
    say(late, row->input);
    /* from then on, all that had the token are told */
    if (rc_str_starts(row->input, "rollcall 1 " TOKEN " 0\n") || rc_str_starts(row->input, "rollcall 1 " TOKEN " 9\n"))
        hears(late, "answer=1\nport=2\n");
    else
        close(late);
    ends(&office);
}

UNIT_TEST(check_cut, "entries that are cut anywhere")
{
    struct office office = open_office(LONG, WITH_LIFE);
    char text[512];
    struct rc_str whole = message(TOKEN, entry_of(1, 2));

    assert_true(whole.n < sizeof(text));
    memcpy(text, whole.p, whole.n);
    for (size_t cut = 0; cut < whole.n; cut++) {
        int fd = go(&office);

        say(fd, (struct rc_str){ text, cut });
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        hears(fd, "");
    }
    two_nodes_meet(&office);
    ends(&office);
}

UNIT_TEST(check_drip, "an entry byte by byte")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int first = register_node(&office, 0, 2);
    int second = go(&office);
    struct rc_str whole = message(TOKEN, entry_of(1, 2));

    for (size_t i = 0; i < whole.n; i++)
        say(second, (struct rc_str){ whole.p + i, 1 });
    hears(first, "answer=1\nport=2\n");
    hears(second, "answer=1\nport=2\n");
    decided(&office, "2 1\n");
    ends(&office);
}

static void send_crowd(const struct office *office, int connections[MANY])
{
    for (unsigned i = 0; i < MANY; i++)
        connections[i] = go_there(office, SOCK_NONBLOCK, 0);
}

static void withdraw(const int connections[MANY])
{
    for (unsigned i = 0; i < MANY; i++)
        close(connections[i]);
}

/* As many connections as it keeps, and more; then with fewer descriptors than that. */
UNIT_TEST(check_idle, "more idle connections than it keeps")
{
    static const rlim_t descriptors[] = { LESS, 80 };
    int connections[MANY];

    for (unsigned i = 0; i < UNIT_COUNT(descriptors); i++) {
        struct office office = open_office_with(
            (struct start){ .seconds = LONG, .with = WITH_LIFE, .descriptors = descriptors[i] });

        send_crowd(&office, connections);
        two_nodes_meet(&office);
        withdraw(connections);
        ends(&office);
    }
}

/* A node's entry lies there when the connections comes, all while the server does not run: it is heard before it is
 * shown out. */
UNIT_TEST(check_crowd_behind, "a connections behind a node")
{
    struct office office = open_office_with((struct start){ .seconds = LONG, .with = WITH_LIFE, .descriptors = LESS });
    int connections[MANY];
    int first, second;
    int status;

    assert_int_equal(kill(office.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(office.pid, &status, WUNTRACED), office.pid);
    first = register_node(&office, 0, 2);
    send_crowd(&office, connections);
    assert_int_equal(kill(office.pid, SIGCONT), 0);
    second = register_node(&office, 1, 2);
    hears(first, "answer=1\nport=2\n");
    hears(second, "answer=1\nport=2\n");
    decided(&office, "2 1\n");
    withdraw(connections);
    ends(&office);
}

/* All of them are there before the first one speaks: nobody is shown out. */
UNIT_TEST(check_many_nodes, "many nodes at once")
{
    struct office office = open_office(LONG, WITH_LIFE);
    char expected[32];
    int fd[NODES];

    for (unsigned i = 0; i < NODES; i++)
        fd[i] = go(&office);
    for (unsigned i = 0; i < NODES; i++)
        say(fd[i], message(TOKEN, entry_of(i, NODES)));
    snprintf(expected, sizeof(expected), "answer=1\nport=%u\n", (unsigned)NODES);
    for (unsigned i = 0; i < NODES; i++)
        hears(fd[i], expected);
    snprintf(expected, sizeof(expected), "%u 1\n", (unsigned)NODES);
    decided(&office, expected);
    ends(&office);
}

UNIT_TEST(check_latecomers, "latecomers")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int fd;

    two_nodes_meet(&office);
    for (unsigned i = 0; i < 3; i++)
        hears(register_node(&office, 1, 2), "answer=1\nport=2\n");
    fd = go(&office);
    say(fd, message(WRONG, entry_of(1, 2)));
    hears(fd, "");
    ends(&office);
}

/* Who asks for the roll is no node. */
UNIT_TEST(check_question, "who asks for the roll")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int fd = go(&office);
    char text[512];

    say(fd, message(TOKEN, RC_STR(RC_SERVER_QUESTION)));
    hear_all(fd, text, sizeof(text));
    assert_string_equal(text, "rollcall 1 " TOKEN " 0\n");
    fd = register_node(&office, 0, 1);
    hears(fd, "answer=1\nport=1\n");
    decided(&office, "1 1\n");
    fd = go(&office);
    say(fd, message(TOKEN, RC_STR(RC_SERVER_QUESTION)));
    hear_all(fd, text, sizeof(text));
    assert_non_null(strstr(text, entry_of(0, 1).p));
    ends(&office);
}

UNIT_TEST(check_life_before_answer, "its life ends before there is an answer")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int fd = register_node(&office, 0, 2);

    ends(&office);
    hears(fd, "");
    office = open_office(LONG, WITH_LIFE);
    ends(&office);
}

UNIT_TEST(check_deadline, "the deadline")
{
    struct office office = open_office(1, WITH_LIFE);
    int fd = register_node(&office, 0, 2);

    hears(fd, "answer=1\nport=1\n");
    decided(&office, "1 0\n");
    hears(register_node(&office, 1, 2), "answer=1\nport=1\n");
    ends(&office);
}

UNIT_TEST(check_absent, "a node that takes no part is told so at once, and nobody waits for it")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int fd = go(&office);
    char text[512];

    snprintf(text, sizeof(text), "%sabsent=no program\n", entry_of(1, 2).p);
    say(fd, message(TOKEN, rc_str(text)));
    assert_int_equal(hear_all(fd, text, sizeof(text)), strlen("rollcall 1 " TOKEN " 0\n"));
    hears(register_node(&office, 0, 2), "answer=1\nport=2\n");
    decided(&office, "2 1\n");
    ends(&office);
}

/* Who is there twice is for the roll call to say: the server counts entries. */
UNIT_TEST(check_duplicates, "the same entry twice")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int one = register_node(&office, 1, 2);
    int again = register_node(&office, 1, 2);

    hears(one, "answer=1\nport=2\n");
    hears(again, "answer=1\nport=2\n");
    decided(&office, "2 1\n");
    ends(&office);
}

/* A second message on the same connection is none: its sender is done with, its first entry stays. */
UNIT_TEST(check_talkative, "two messages on one connection")
{
    struct office office = open_office(LONG, WITH_LIFE);
    int one = register_node(&office, 0, 2);

    say(one, message(TOKEN, entry_of(1, 2)));
    hears(one, "");
    hears(register_node(&office, 1, 2), "answer=1\nport=2\n");
    decided(&office, "2 1\n");
    ends(&office);
}

UNIT_TEST(check_large_answer, "a large answer, and a slow reader")
{
    struct office office = open_office_with((struct start){ .seconds = LONG, .with = ALONE, .padding = LARGE });
    static char text[TEXT_SIZE];
    static char expected[TEXT_SIZE];
    int slow = go_there(&office, 0, 2048);
    int second;
    int n;

    say(slow, message(TOKEN, entry_of(0, 2)));
    second = register_node(&office, 1, 2);
    n = snprintf(expected, sizeof(expected), "rollcall 1 " TOKEN " %zu\nanswer=1\nport=2\n",
                 sizeof("answer=1\nport=2\n") - 1 + LARGE);
    memset(expected + n, 'x', LARGE);
    hear_all(second, text, sizeof(text));
    assert_string_equal(text, expected);
    hear_all(slow, text, sizeof(text));
    assert_string_equal(text, expected);
    decided(&office, "2 1\n");
    ends(&office);
}

/* Gone before the answer, or never reading it: nobody waits for such a one for long, and nobody dies of SIGPIPE. */
UNIT_TEST(check_gone, "nodes that are gone, or deaf")
{
    struct office office = open_office_with((struct start){ .seconds = LONG, .with = WITH_LIFE, .padding = LARGE });
    static char text[TEXT_SIZE];
    int deaf = go_there(&office, 0, 2048);

    close(register_node(&office, 0, 3));
    say(deaf, message(TOKEN, entry_of(1, 3)));
    assert_true(hear_all(register_node(&office, 2, 3), text, sizeof(text)) > LARGE);
    decided(&office, "3 1\n");
    assert_true(hear_all(register_node(&office, 2, 3), text, sizeof(text)) > LARGE);
    ends(&office);
    close(deaf);
}
