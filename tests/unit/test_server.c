/* SPDX-License-Identifier: BSD-3-Clause */
/* The server among those who may connect to it: it runs in a child, the connections are sockets of this process. */
#include "config.h"

#include "serverchild.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define WRONG "0123456789abcdef0123456789abcdee"

enum {
    MANY = 300,
    LESS = MANY - 50, /* descriptors: fewer than there are connections */
    NODES = 400,
    LARGE = 60000,
    TEXT_SIZE = LARGE + 256,
};

/* The server may have hung up already. */
static void say(int fd, struct rc_str text)
{
    (void)unit_send(fd, text);
}

static void hears(int fd, const char *answer)
{
    char expected[256];
    char text[256];

    server_hears(fd, text, sizeof(text));
    if (*answer)
        snprintf(expected, sizeof(expected), "rollcall 1 " SERVER_TOKEN " %zu\n%s", strlen(answer), answer);
    else
        expected[0] = '\0';
    assert_string_equal(text, expected);
}

static struct rc_str entry_of(unsigned node, unsigned nodes)
{
    static char text[256];

    return server_entry(text, node, nodes);
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

static int register_node(const struct server_child *server, unsigned node, unsigned nodes)
{
    int fd = server_connect(server, 0, 0);

    say(fd, message(SERVER_TOKEN, entry_of(node, nodes)));
    return fd;
}

/* What somebody hears who is no node. */
static const char *ask(const struct server_child *server, const char *question, char text[512])
{
    int fd = server_connect(server, 0, 0);

    say(fd, message(SERVER_TOKEN, rc_str(question)));
    server_hears(fd, text, 512);
    return text;
}

static void two_are_answered(const struct server_child *server, int first, int second)
{
    hears(first, "answer=1\nport=2\n");
    hears(second, "answer=1\nport=2\n");
    server_decides(server, "2 1\n");
}

/* That it has been heard is to be seen where somebody else's, sent later, is answered. */
static void two_nodes_meet(const struct server_child *server)
{
    int first = register_node(server, 0, 2);

    two_are_answered(server, first, register_node(server, 1, 2));
}

UNIT_TEST(check_own_entry, "the server's own node; without a life it ends when all have their answer")
{
    struct server_child server = server_open((struct server_start){ .ends_by_itself = true, .own = entry_of(0, 1) });

    server_decides(&server, "1 1\n");
    server_close(&server);
    server = server_open((struct server_start){ .ends_by_itself = true, .own = entry_of(0, 2) });
    hears(register_node(&server, 1, 2), "answer=1\nport=2\n");
    server_decides(&server, "2 1\n");
    server_close(&server);
}

static const struct unit_text strangers[] = {
    { TEXT("GET / HTTP/1.1\r\nHost: n1\r\nUser-Agent: a browser\r\nAccept: everything\r\n\r\n"), "a browser" },
    { TEXT("rollcall 1 " SERVER_TOKEN " 4294967295\n"), "a length that is far too large" },
    { TEXT("rollcall 1 " WRONG " 10\nroll=1\nho\n"), "another token" },
    { TEXT("rollcall 1 " SERVER_TOKEN " 7\nroll=1\n and more than was announced"), "more than was announced" },
};

/* Whoever it is, it hears nothing, and the others do not notice. */
UNIT_ROWS(check_stranger, "a stranger", strangers)
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int early = server_connect(&server, 0, 0);
    int late;

    say(early, row->input);
    hears(early, "");
    two_nodes_meet(&server);
    late = server_connect(&server, 0, 0);
    say(late, row->input);
    close(late);
    server_close(&server);
}

#define REFUSED_BY \
    " and the server's " PACKAGE_VERSION " do not understand each other (install one release on all hosts)\n"

static const struct unit_text not_understood[] = {
    { TEXT("rollcall 1 " SERVER_TOKEN " 0\n"), "no entry at all" },
    { TEXT("rollcall 1 " SERVER_TOKEN " 10\nreached=x\n"), "a task that is no number" },
    { TEXT("rollcall 1 " SERVER_TOKEN " 10\nstore try\n"), "a question that the store does not know" },
    { TEXT("rollcall 2 " SERVER_TOKEN " 8\nhello=1\n"), "a text of another version" },
    { TEXT("rollcall 2 " SERVER_TOKEN " 26\nroll=2\nhost=n1\nnode=1,2,3\n"), "an entry whose common names are others" },
    { TEXT("rollcall 2 " SERVER_TOKEN " 14\nquestion=roll\n"), "a question of another version" },
};

UNIT_ROWS(check_not_understood, "who has the token is told why nothing comes of it:", not_understood)
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int fd = server_connect(&server, 0, 0);

    say(fd, row->input);
    hears(fd, "failed=this node's rollcall" REFUSED_BY);
    two_nodes_meet(&server);
    server_close(&server);
}

/* What it says beyond the common names is not understood; it waits for the answer of all, and starts as they do. */
UNIT_TEST(check_other_release, "a node of another release")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int first = register_node(&server, 0, 2);
    int fd = server_connect(&server, 0, 0);
    struct rc_str entry = entry_of(1, 2);
    char text[512];
    struct rc_str lines;

    rc_str_split(entry, '\n', &lines);
    snprintf(text, sizeof(text), "rollcall 2 " SERVER_TOKEN " %zu\nroll=2\nversion=9.8\nnews=1\n%.*s",
             strlen("roll=2\nversion=9.8\nnews=1\n") + lines.n, (int)lines.n, lines.p);
    say(fd, rc_str(text));
    two_are_answered(&server, first, fd);
    ask(&server, RC_SERVER_QUESTION, text);
    assert_non_null(strstr(text, "version=9.8\n"));
    assert_non_null(strstr(text, "foreign=1\n"));
    assert_null(strstr(text, "news"));
    server_close(&server);
}

UNIT_TEST(check_cut, "entries that are cut anywhere")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    char text[512];
    struct rc_str whole = message(SERVER_TOKEN, entry_of(1, 2));

    assert_true(whole.n < sizeof(text));
    memcpy(text, whole.p, whole.n);
    for (size_t cut = 0; cut < whole.n; cut++) {
        int fd = server_connect(&server, 0, 0);

        say(fd, (struct rc_str){ text, cut });
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        hears(fd, "");
    }
    two_nodes_meet(&server);
    server_close(&server);
}

UNIT_TEST(check_drip, "an entry byte by byte")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int first = register_node(&server, 0, 2);
    int second = server_connect(&server, 0, 0);
    struct rc_str whole = message(SERVER_TOKEN, entry_of(1, 2));

    for (size_t i = 0; i < whole.n; i++)
        say(second, (struct rc_str){ whole.p + i, 1 });
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

/* As many connections as it keeps, and more; then with fewer descriptors than that. */
UNIT_TEST(check_idle, "more idle connections than it keeps")
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

/* A node's entry lies there when the crowd comes, all while the server does not run: it is heard before it is shown
 * out. */
UNIT_TEST(check_crowd_after, "a crowd after a node")
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

/* All of them are there before the first one speaks: nobody is shown out. */
UNIT_TEST(check_many_nodes, "many nodes at once")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    char expected[32];
    int fd[NODES];

    for (unsigned i = 0; i < NODES; i++)
        fd[i] = server_connect(&server, 0, 0);
    for (unsigned i = 0; i < NODES; i++)
        say(fd[i], message(SERVER_TOKEN, entry_of(i, NODES)));
    snprintf(expected, sizeof(expected), "answer=1\nport=%u\n", (unsigned)NODES);
    for (unsigned i = 0; i < NODES; i++)
        hears(fd[i], expected);
    snprintf(expected, sizeof(expected), "%u 1\n", (unsigned)NODES);
    server_decides(&server, expected);
    server_close(&server);
}

UNIT_TEST(check_latecomers, "latecomers")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int fd;

    two_nodes_meet(&server);
    for (unsigned i = 0; i < 3; i++)
        hears(register_node(&server, 1, 2), "answer=1\nport=2\n");
    fd = server_connect(&server, 0, 0);
    say(fd, message(WRONG, entry_of(1, 2)));
    hears(fd, "");
    server_close(&server);
}

/* Who asks for the roll is no node. */
UNIT_TEST(check_question, "who asks for the roll")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    char text[512];

    assert_string_equal(ask(&server, RC_SERVER_QUESTION, text), "rollcall 1 " SERVER_TOKEN " 0\n");
    hears(register_node(&server, 0, 1), "answer=1\nport=1\n");
    server_decides(&server, "1 1\n");
    assert_non_null(strstr(ask(&server, RC_SERVER_QUESTION, text), entry_of(0, 1).p));
    server_close(&server);
}

/* Thousands of nodes may say it: it costs none of them the roll. */
UNIT_TEST(check_greeting, "who says that it is there")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    char text[512];

    hears(register_node(&server, 0, 1), "answer=1\nport=1\n");
    server_decides(&server, "1 1\n");
    assert_string_equal(ask(&server, RC_SERVER_GREETING, text), "rollcall 1 " SERVER_TOKEN " 0\n");
    server_close(&server);
}

/* Over PMIx the server is a node's own, which goes on once all have their answer. */
UNIT_TEST(check_late, "a node that comes while the others' answer is made, at a server that ends by itself")
{
    struct server_child server = server_open((struct server_start){ .ends_by_itself = true, .stops = true });
    int first = register_node(&server, 0, 1);
    int late;
    int status;

    server_decides(&server, "1 1\n");
    assert_int_equal(waitpid(server.pid, &status, WUNTRACED), server.pid);
    assert_true(WIFSTOPPED(status));
    late = register_node(&server, 1, 2);
    kill(server.pid, SIGCONT);
    hears(first, "answer=1\nport=1\n");
    hears(late, "answer=1\nport=1\n");
    server_close(&server);
}

UNIT_TEST(check_life_before_answer, "its life ends before there is an answer")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int fd = register_node(&server, 0, 2);

    server_close(&server);
    hears(fd, "");
    server = server_open((struct server_start){ .seconds = 0 });
    server_close(&server);
}

UNIT_TEST(check_deadline, "the deadline")
{
    struct server_child server = server_open((struct server_start){ .seconds = 3 });
    int fd = register_node(&server, 0, 2);

    hears(fd, "answer=1\nport=1\n");
    server_decides(&server, "1 0\n");
    hears(register_node(&server, 1, 2), "answer=1\nport=1\n");
    server_close(&server);
}

UNIT_TEST(check_absent, "a node that takes no part is told so at once, and nobody waits for it")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int fd = server_connect(&server, 0, 0);
    char text[512];

    snprintf(text, sizeof(text), "%sabsent=no program\n", entry_of(1, 2).p);
    say(fd, message(SERVER_TOKEN, rc_str(text)));
    assert_int_equal(server_hears(fd, text, sizeof(text)), strlen("rollcall 1 " SERVER_TOKEN " 0\n"));
    hears(register_node(&server, 0, 2), "answer=1\nport=2\n");
    server_decides(&server, "2 1\n");
    server_close(&server);
}

/* Who is there twice is for the roll call to say: the server counts entries. */
UNIT_TEST(check_duplicates, "the same node twice, with another number of nodes: nobody waits for a third one")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int one = register_node(&server, 1, 2);

    two_are_answered(&server, one, register_node(&server, 1, 3));
    server_close(&server);
}

/* A second message on the same connection is none: its sender is done with, its first entry stays. */
UNIT_TEST(check_talkative, "two messages on one connection")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });
    int one = register_node(&server, 0, 2);

    say(one, message(SERVER_TOKEN, entry_of(1, 2)));
    hears(one, "");
    hears(register_node(&server, 1, 2), "answer=1\nport=2\n");
    server_decides(&server, "2 1\n");
    server_close(&server);
}

UNIT_TEST(check_large_answer, "a large answer, and a slow reader")
{
    struct server_child server = server_open((struct server_start){ .ends_by_itself = true, .padding = LARGE });
    static char text[TEXT_SIZE];
    static char expected[TEXT_SIZE];
    int slow = server_connect(&server, 0, 2048);
    int second;
    int n;

    say(slow, message(SERVER_TOKEN, entry_of(0, 2)));
    second = register_node(&server, 1, 2);
    n = snprintf(expected, sizeof(expected), "rollcall 1 " SERVER_TOKEN " %zu\nanswer=1\nport=2\n",
                 sizeof("answer=1\nport=2\n") - 1 + LARGE);
    memset(expected + n, 'x', LARGE);
    server_hears(second, text, sizeof(text));
    assert_string_equal(text, expected);
    server_hears(slow, text, sizeof(text));
    assert_string_equal(text, expected);
    server_decides(&server, "2 1\n");
    server_close(&server);
}

/* Gone before the answer, or never reading it: nobody waits for such a one for long, and nobody dies of SIGPIPE. */
UNIT_TEST(check_gone, "nodes that are gone, or deaf")
{
    struct server_child server = server_open((struct server_start){ .padding = LARGE });
    static char text[TEXT_SIZE];
    int deaf = server_connect(&server, 0, 2048);

    close(register_node(&server, 0, 3));
    say(deaf, message(SERVER_TOKEN, entry_of(1, 3)));
    assert_true(server_hears(register_node(&server, 2, 3), text, sizeof(text)) > LARGE);
    server_decides(&server, "3 1\n");
    assert_true(server_hears(register_node(&server, 2, 3), text, sizeof(text)) > LARGE);
    server_close(&server);
    close(deaf);
}
