/* SPDX-License-Identifier: BSD-3-Clause */
/* A conversation that an older release recorded (tests/vectors/wire-1.def), with today's server and today's client. */
#include "config.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "libexec/exchange/exchange.h"
#include "rendezvous/client.h"
#include "rendezvous/session.h"
#include "serverchild.h"

#define TOKEN SERVER_TOKEN

struct exchange {
    const char *who;
    bool waits;
    const char *said;
    const char *heard;
};

enum { EXCHANGES_MAX = 16, TEXT_SIZE = 4096, LONG_MS = 60000 };

struct meeting {
    struct rc_str input;
    const char *why;
    struct exchange exchange[EXCHANGES_MAX];
};

static const struct meeting meetings[] = {
#define EXCHANGE(who, waits, said, heard) { who, waits, said, heard },
#define MEETING(name, ...)                { TEXT(name), "as it was recorded", { __VA_ARGS__ } },
#include "tests/vectors/wire-1.def"
#undef EXCHANGE
#undef MEETING
};

static void hears(int fd, const struct exchange *exchange)
{
    char text[TEXT_SIZE];

    server_hears(fd, text, sizeof(text));
    assert_string_equal(text, exchange->heard);
}

UNIT_ROWS(check_server, "today's server answers", meetings)
{
    static struct rc_verdict verdict = { .check = RC_CHECK_STOP, .same = RC_CHECK_WARN };
    struct server_child server = server_open((struct server_start){ .decide = rc_verdict_decide, .more = &verdict });
    int fd[EXCHANGES_MAX];
    size_t waiting = 0;

    for (size_t i = 0; i < EXCHANGES_MAX && row->exchange[i].who; i++) {
        fd[i] = server_connect(&server, 0, 0);
        assert_true(unit_send(fd[i], rc_str(row->exchange[i].said)));
        for (; !row->exchange[i].waits && waiting <= i; waiting++)
            hears(fd[waiting], &row->exchange[waiting]);
    }
    server_close(&server);
}

/* All have come; to wait longer would change nothing. */
UNIT_TEST(check_unordered, "an order of which a node of another release cannot be told")
{
    static struct rc_verdict verdict = { .check = RC_CHECK_WARN };
    static const struct rc_roll rolls[] = {
        { .scope = RC_STR("s"),
          .host = RC_STR("n1"),
          .nodes = 2,
          .world = 2,
          .tasks = RC_STR("0"),
          .place = RC_STR("s1 n1") },
        { .scope = RC_STR("s"),
          .host = RC_STR("n2"),
          .node = 1,
          .nodes = 2,
          .world = 2,
          .tasks = RC_STR("1"),
          .version = RC_STR("9.8"),
          .foreign = true },
    };

    rc_verdict_decide(&verdict, rolls, UNIT_COUNT(rolls), true);
    assert_true(rc_str_is(verdict.answer.unordered, "not all nodes support it"));
    assert_false(verdict.answer.order.p);
}

/* Hears what was said then, and nothing else; answers what was answered then. */
static pid_t replay(const struct exchange *exchange, struct rc_endpoint *endpoint)
{
    int listener = rc_listen(0, 0, 0, &endpoint->port);
    char text[TEXT_SIZE];
    pid_t pid = fork();
    int fd;

    assert_true(listener >= 0 && pid >= 0);
    if (pid > 0) {
        close(listener);
        return pid;
    }
    alarm(SERVER_GUARD);
    fcntl(listener, F_SETFL, 0);
    fd = accept(listener, NULL, NULL);
    if (recv(fd, text, strlen(exchange->said), MSG_WAITALL) != (ssize_t)strlen(exchange->said) ||
        memcmp(text, exchange->said, strlen(exchange->said)) != 0)
        _exit(1);
    _exit(!unit_send(fd, rc_str(exchange->heard)));
}

static struct rc_str body_of(const char *message)
{
    struct rc_str body;

    rc_str_split(rc_str(message), '\n', &body);
    return body;
}

/* What is read of a text and written again is that text: no name of it has another meaning or form. */
static void is_read(struct rc_str text)
{
    UNIT_ARENA(arena, TEXT_SIZE);
    UNIT_ARENA(findings, TEXT_SIZE);
    struct rc_answer answer;
    struct rc_roll roll;

    if (rc_str_starts(text, "roll=")) {
        assert_true(rc_roll_read(text, &roll));
        assert_string_equal(rc_roll_write(&roll, &arena), text.p);
    } else if (rc_str_starts(text, "answer=")) {
        assert_true(rc_answer_read(text, &answer, &findings));
        assert_string_equal(rc_answer_write(&answer, &arena), text.p);
    }
}

/* As a task asks the store: its words are the client's own. */
static void ask_store(const struct rc_endpoint *server, struct rc_str question, struct rc_str reply)
{
    struct rc_str value;
    struct rc_str line = rc_str_split(question, '\n', &value);
    char key[RC_STORE_KEY_MAX];
    char got[64];
    struct rc_str verb;
    struct rc_str rest;
    uint64_t before;
    size_t size = 0;

    rc_str_split(line, ' ', &line);
    verb = rc_str_split(line, ' ', &line);
    snprintf(key, sizeof(key), "%.*s", (int)line.n, line.p);
    rc_str_split(reply, '\n', &rest);
    if (rc_str_is(verb, "put")) {
        assert_int_equal(rc_store_client_put(server, key, value, LONG_MS, got, sizeof(got), &size), rest.n == 0);
    } else if (rc_str_is(verb, "get")) {
        assert_int_equal(rc_store_client_get(server, key, LONG_MS, got, sizeof(got), &size), 0);
    } else {
        assert_int_equal(rc_store_client_count(server, key, LONG_MS, &before), 0);
        assert_int_equal(before, 0);
        return;
    }
    assert_int_equal(size, rest.n);
    assert_memory_equal(got, rest.p, size);
}

static void say_again(const struct exchange *exchange)
{
    struct rc_endpoint server = { .token = RC_STR(TOKEN), .hosts = RC_STR("127.0.0.1") };
    struct rc_str text = body_of(exchange->said);
    struct rc_str heard = body_of(exchange->heard);
    const char *const task[] = { "SLURM_NODEID=0", NULL };
    struct rc_env env;
    struct rc_reply reply;
    pid_t pid = replay(exchange, &server);
    int status;

    is_read(text);
    if (!rc_str_is(text, RC_SERVER_QUESTION))
        is_read(heard);
    if (rc_str_starts(text, "store ")) {
        ask_store(&server, text, heard);
    } else if (rc_str_starts(text, RC_SERVER_GREETING)) {
        rc_env_index(&env, task);
        assert_int_equal(rc_session_greet(&server, &env), 0);
    } else {
        assert_int_equal(rc_client_request(&server, text, LONG_MS, &reply, NULL), 0);
        assert_string_equal(reply.text, heard.p);
        free(reply.text);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

UNIT_ROWS(check_client, "today's client says", meetings)
{
    for (size_t i = 0; i < EXCHANGES_MAX && row->exchange[i].who; i++)
        if (rc_str_starts(rc_str(row->exchange[i].said), "rollcall 1 "))
            say_again(&row->exchange[i]);
}
