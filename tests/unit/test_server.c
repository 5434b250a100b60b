/* SPDX-License-Identifier: BSD-3-Clause */
/* The server and its connections: it runs in a child, the connections are sockets of this process. */
#include "config.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "libexec/exchange/exchange.h"
#include "rendezvous/client.h"
#include "serverchild.h"

#define WRONG "0123456789abcdef0123456789abcdee"

enum {
    MANY = 300,
    LESS = MANY - 50, /* descriptors: fewer than there are connections */
    NODES = 400,
    LARGE = 60000,
    TEXT_SIZE = LARGE + 256,
};

static struct rc_str message(const char *token, const char *text)
{
    static char message[TEXT_SIZE];
    size_t size;
    char *packed = rc_wire_pack(token, rc_str(text), &size);

    assert_non_null(packed);
    assert_true(size <= sizeof(message));
    memcpy(message, packed, size);
    free(packed);
    return (struct rc_str){ message, size };
}

static const char *entry_of(unsigned node, unsigned nodes)
{
    static char text[SERVER_ENTRY];

    return server_entry(text, node, nodes);
}

static int register_node(const struct server_child *server, unsigned node, unsigned nodes)
{
    return server_send(server, entry_of(node, nodes));
}

static void two_are_answered(const struct server_child *server, int first, int second)
{
    server_replies(first, "answer=1\nport=2\n");
    server_replies(second, "answer=1\nport=2\n");
    server_decides(server, "2 whole\n");
}

static void two_nodes_meet(const struct server_child *server)
{
    int first = register_node(server, 0, 2);

    two_are_answered(server, first, register_node(server, 1, 2));
}

UNIT_TEST(check_own_entry, "server: member without a connection, no life -> ends when all have their answer")
{
    struct server_child server = server_open(
        (struct server_start){ .ends_by_itself = true, .own = rc_str(entry_of(0, 1)) });

    server_decides(&server, "1 whole\n");
    server_close(&server);
    server = server_open((struct server_start){ .ends_by_itself = true, .own = rc_str(entry_of(0, 2)) });
    server_replies(register_node(&server, 1, 2), "answer=1\nport=2\n");
    server_decides(&server, "2 whole\n");
    server_close(&server);
}

static const struct unit_text strangers[] = {
    { TEXT("GET / HTTP/1.1\r\nHost: n1\r\nUser-Agent: a browser\r\nAccept: everything\r\n\r\n"), "a browser" },
    { TEXT("rollcall 1 " SERVER_TOKEN " 4294967295\n"), "a length that is far too large" },
    { TEXT("rollcall 1 " WRONG " 10\nlook roll\n"), "another token" },
    { TEXT("rollcall 1 " SERVER_TOKEN " 7\nroll=1\n and more than was announced"), "more than was announced" },
};

UNIT_ROWS(check_stranger, "server: no reply, no effect", strangers)
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int early = server_connect(&server, 0, 0);
    int late;

    unit_send(early, row->input);
    server_replies(early, NULL);
    two_nodes_meet(&server);
    late = server_connect(&server, 0, 0);
    unit_send(late, row->input);
    close(late);
    server_close(&server);
}

static const struct unit_text not_understood[] = {
    { TEXT(""), "an empty message" },
    { TEXT("roll=1\nscope=s\nhost=n1\nnode=0\nnodes=1\nworld=1\ntasks=0\n"), "no verb" },
    { TEXT("gather roll 0 1 1000 1000\nroll=1\n"), "a malformed request" },
    { TEXT("raised=x\n"), "a malformed failure" },
    { TEXT("reported=x\n"), "a malformed report" },
    { TEXT("owner=0\n"), "an owner that is no process" },
};

UNIT_ROWS(check_not_understood, "server: refused", not_understood)
{
    struct server_child server = server_open((struct server_start){ .stops = false });

    server_replies(server_send(&server, row->input.p), RC_SERVER_REFUSED);
    two_nodes_meet(&server);
    server_close(&server);
}

UNIT_TEST(check_foreign, "server: message of another wire version -> refused, and the roll call stops all")
{
    static struct rc_verdict verdict;
    struct server_child server = server_open((struct server_start){ .decide = rc_verdict_decide, .more = &verdict });
    int early = register_node(&server, 0, 2);
    int foreign = server_connect(&server, 0, 0);
    static const char stop[] =
        "answer=1\nstop=1\n"
        "finding=RC608 a node uses version 2, at 127.0.0.1, of the protocol, and rollcall " PACKAGE_VERSION
        " here another one; no task starts; install the same version of rollcall on all nodes and login hosts\n";

    unit_send(foreign, RC_STR("rollcall 2 " SERVER_TOKEN " 14\ngather roll 0\n"));
    server_replies(foreign, RC_SERVER_REFUSED);
    server_replies(early, stop);
    server_replies(register_node(&server, 1, 2), stop);
    server_close(&server);
}

UNIT_TEST(check_cut, "server: request cut anywhere -> no reply")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    struct rc_str whole = message(SERVER_TOKEN, entry_of(1, 2));

    for (size_t cut = 0; cut < whole.n; cut++) {
        int fd = server_connect(&server, 0, 0);

        unit_send(fd, (struct rc_str){ whole.p, cut });
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        server_replies(fd, NULL);
    }
    two_nodes_meet(&server);
    server_close(&server);
}

UNIT_TEST(check_drip, "server: request byte by byte -> answered")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int first = register_node(&server, 0, 2);
    int second = server_connect(&server, 0, 0);
    struct rc_str whole = message(SERVER_TOKEN, entry_of(1, 2));

    for (size_t i = 0; i < whole.n; i++)
        unit_send(second, (struct rc_str){ whole.p + i, 1 });
    two_are_answered(&server, first, second);
    server_close(&server);
}

static void send_crowd(const struct server_child *server, int connections[MANY])
{
    for (unsigned i = 0; i < MANY; i++)
        connections[i] = server_connect(server, SOCK_NONBLOCK, 0);
}

static void withdraw(const int connections[MANY])
{
    for (unsigned i = 0; i < MANY; i++)
        close(connections[i]);
}

UNIT_TEST(check_idle, "server: more idle connections than descriptors -> nodes are answered")
{
    static const rlim_t descriptors[] = { LESS, 70 };
    int connections[MANY];

    for (unsigned i = 0; i < UNIT_COUNT(descriptors); i++) {
        struct server_child server = server_open((struct server_start){ .descriptors = descriptors[i] });

        send_crowd(&server, connections);
        two_nodes_meet(&server);
        withdraw(connections);
        server_close(&server);
    }
}

/* The server is suspended until all are there. */
UNIT_TEST(check_crowd_after, "server: idle connections after a waiting request -> the request is read first")
{
    struct server_child server = server_open((struct server_start){ .descriptors = LESS });
    int connections[MANY];
    int first, status;

    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(server.pid, &status, WUNTRACED), server.pid);
    first = register_node(&server, 0, 2);
    send_crowd(&server, connections);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    two_are_answered(&server, first, register_node(&server, 1, 2));
    withdraw(connections);
    server_close(&server);
}

/* All are connected before the first one sends. */
UNIT_TEST(check_many_nodes, "server: 400 nodes at once -> all are answered")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    char expected[32];
    int fd[NODES];

    for (unsigned i = 0; i < NODES; i++)
        fd[i] = server_connect(&server, 0, 0);
    for (unsigned i = 0; i < NODES; i++)
        unit_send(fd[i], message(SERVER_TOKEN, entry_of(i, NODES)));
    snprintf(expected, sizeof(expected), "answer=1\nport=%u\n", (unsigned)NODES);
    for (unsigned i = 0; i < NODES; i++)
        server_replies(fd[i], expected);
    snprintf(expected, sizeof(expected), "%u whole\n", (unsigned)NODES);
    server_decides(&server, expected);
    server_close(&server);
}

UNIT_TEST(check_latecomers, "server: nodes after the answer -> the same answer")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd;

    two_nodes_meet(&server);
    for (unsigned i = 0; i < 3; i++)
        server_replies(register_node(&server, 1, 2), "answer=1\nport=2\n");
    fd = server_connect(&server, 0, 0);
    unit_send(fd, message(WRONG, entry_of(1, 2)));
    server_replies(fd, NULL);
    server_close(&server);
}

UNIT_TEST(check_look, "server: look at the roll call -> the entries, before and after the answer")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    struct rc_str entry;
    char expected[2 * SERVER_ENTRY];

    rc_str_split(rc_str(entry_of(0, 1)), '\n', &entry);
    server_answers(&server, "look roll\n", "gathered 0 0\n");
    server_replies(register_node(&server, 0, 1), "answer=1\nport=1\n");
    server_decides(&server, "1 whole\n");
    snprintf(expected, sizeof(expected), "gathered 1 1\n0 %zu\n%s", entry.n, entry.p);
    server_answers(&server, "look roll\n", expected);
    server_close(&server);
}

UNIT_TEST(check_late, "server without a life: node that comes while the answer is made -> answered before its end")
{
    struct server_child server = server_open((struct server_start){ .ends_by_itself = true, .stops = true });
    int first = register_node(&server, 0, 1);
    int late;
    int status;

    server_decides(&server, "1 whole\n");
    assert_int_equal(waitpid(server.pid, &status, WUNTRACED), server.pid);
    assert_true(WIFSTOPPED(status));
    late = register_node(&server, 1, 2);
    kill(server.pid, SIGCONT);
    server_replies(first, "answer=1\nport=1\n");
    server_replies(late, "answer=1\nport=1\n");
    server_close(&server);
}

/* A task's next meeting has another server. */
UNIT_TEST(check_again,
          "server without a life: one that comes after the replies -> refused, while others have theirs yet to read")
{
    struct server_child server = server_open((struct server_start){ .ends_by_itself = true, .padding = LARGE });
    int slow = server_connect(&server, 0, 1024);
    struct rc_reply reply;
    char byte;

    unit_send(slow, message(SERVER_TOKEN, entry_of(0, 2)));
    close(register_node(&server, 1, 2));
    server_decides(&server, "2 whole\n");
    assert_int_equal(recv(slow, &byte, 1, 0), 1);
    assert_int_equal(rc_client_request(&server.endpoint, rc_str(entry_of(1, 2)), 5000, &reply, NULL), -ECONNREFUSED);
    close(slow);
    server_close(&server);
}

UNIT_TEST(check_life_before_answer, "server: end of its life before the answer -> no reply")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd = register_node(&server, 0, 2);

    server_close(&server);
    server_replies(fd, NULL);
    server = server_open((struct server_start){ .stops = false });
    server_close(&server);
}

UNIT_TEST(check_deadline, "server: one of two nodes by the deadline -> answered, and so is the late one")
{
    struct server_child server = server_open((struct server_start){ .stops = false });

    server_replies(server_send(&server, "gather roll 0 2 100 1000 all\n"), "answer=1\nport=1\n");
    server_decides(&server, "1 part\n");
    server_replies(register_node(&server, 1, 2), "answer=1\nport=1\n");
    server_close(&server);
}

UNIT_TEST(check_duplicates, "server: one node twice, with different numbers of nodes -> the lower number counts")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int one = register_node(&server, 1, 2);

    two_are_answered(&server, one, register_node(&server, 1, 3));
    server_close(&server);
}

UNIT_TEST(check_talkative, "server: two messages on one connection -> closed, and its member has not come")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int one = server_tell(&server, entry_of(0, 2));

    unit_send(one, message(SERVER_TOKEN, entry_of(1, 2)));
    server_replies(one, NULL);
    two_nodes_meet(&server);
    server_close(&server);
}

UNIT_TEST(check_large_answer, "server: large answer, slow reader -> all of it arrives")
{
    struct server_child server = server_open((struct server_start){ .ends_by_itself = true, .padding = LARGE });
    static char text[TEXT_SIZE];
    static char expected[TEXT_SIZE];
    int slow = server_connect(&server, 0, 2048);
    int second;
    int n;

    unit_send(slow, message(SERVER_TOKEN, entry_of(0, 2)));
    second = register_node(&server, 1, 2);
    n = snprintf(expected, sizeof(expected), "rollcall 1 " SERVER_TOKEN " %zu\nanswer=1\nport=2\n",
                 sizeof("answer=1\nport=2\n") - 1 + LARGE);
    memset(expected + n, 'x', LARGE);
    server_hears(second, text, sizeof(text));
    assert_string_equal(text, expected);
    server_hears(slow, text, sizeof(text));
    assert_string_equal(text, expected);
    server_decides(&server, "2 whole\n");
    server_close(&server);
}

UNIT_TEST(check_gone, "server: one node hangs up, another never reads -> the others are answered")
{
    struct server_child server = server_open((struct server_start){ .padding = LARGE });
    static char text[TEXT_SIZE];
    int deaf = server_connect(&server, 0, 2048);
    int third;

    close(server_tell(&server, entry_of(0, 3)));
    unit_send(deaf, message(SERVER_TOKEN, entry_of(1, 3)));
    third = server_tell(&server, entry_of(2, 3));
    assert_true(server_hears(register_node(&server, 0, 3), text, sizeof(text)) > LARGE);
    assert_true(server_hears(third, text, sizeof(text)) > LARGE);
    server_decides(&server, "3 whole\n");
    assert_true(server_hears(register_node(&server, 2, 3), text, sizeof(text)) > LARGE);
    server_close(&server);
    close(deaf);
}
