/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb of the server: requests and replies as texts, and members at a real server in a child. */
#include "config.h"

#include <signal.h>
#include <sys/wait.h>

#include "rendezvous/client.h"
#include "serverchild.h"

#define NAME32   "abcdefghijklmnopqrstuvwxyz012345"
#define NAME128  NAME32 NAME32 NAME32 NAME32
#define LONG     SERVER_LONG " all\n"
#define TO_FIRST SERVER_LONG " first\n"

enum { MIB = 1 << 20, LONG_MS = 60000, SHORT_MS = 150, CROWD = 200 };

static const struct unit_text malformed[] = {
    { TEXT("gather"), "no name" },
    { TEXT("gather x 0 1 1 1 all"), "no end of the line" },
    { TEXT("gather  0 1 1 1 all\n"), "an empty name" },
    { TEXT("gather " NAME128 "x 0 1 1 1 all\n"), "a name that is too long" },
    { TEXT("gather x% 0 1 1 1 all\n"), "a percent sign in the name" },
    { TEXT("gather x\0y 0 1 1 1 all\n"), "a NUL in the name" },
    { TEXT("gather x\xc3\xa4 0 1 1 1 all\n"), "a name that is no ASCII" },
    { TEXT("gather x -1 1 1 1 all\n"), "a member below zero" },
    { TEXT("gather x 16777216 1 1 1 all\n"), "more members than there can be" },
    { TEXT("gather x 00 1 1 1 all\n"), "a leading zero" },
    { TEXT("gather x 0 0 1 1 all\n"), "of no member" },
    { TEXT("gather x 2 2 1 1 all\n"), "a member that there is not" },
    { TEXT("gather x 0 16777217 1 1 all\n"), "of more members than there can be" },
    { TEXT("gather x 0 1 1 all\n"), "one time" },
    { TEXT("gather x 0 1 1 2147483648 all\n"), "a time that is too long" },
    { TEXT("gather x 0 1 1 1 some\n"), "another word than first or all" },
    { TEXT("gather x 0 1 1 1 all \n"), "a blank at the end" },
    { TEXT("gather x 0 1 1 1 all more\n"), "a word too many" },
    { TEXT("attend x - 1\n"), "attendance without a member" },
    { TEXT("attend x 1 1\n"), "attendance of a member that there is not" },
    { TEXT("attend x 0 1\nv"), "attendance with a value" },
    { TEXT("look x 0\n"), "a look of a member" },
    { TEXT("look x\nv"), "a look with a value" },
    { TEXT("Gather x 0 1 1 1 all\n"), "capitals" },
    { TEXT("gathers x 0 1 1 1 all\n"), "another verb" },
};

UNIT_ROWS(check_malformed, "gather request: malformed -> refused", malformed)
{
    struct rc_gather_request request = { .of = 77 };

    assert_false(rc_gather_request_read(unit_guard(row->input), &request));
    assert_int_equal(request.of, 77);
}

static const struct unit_text requests[] = {
    { TEXT("gather x 0 1 0 0 all\n"), "the least" },
    { TEXT("gather " NAME128 " 16777215 16777216 2147483647 2147483647 first\n"), "the largest" },
    { TEXT("gather x - 3 0 0 all\n"), "only waits" },
    { TEXT("attend nodes 1 2\n"), "attends" },
    { TEXT("look a.b_c:d/e-f\n"), "looks" },
};

UNIT_ROWS(check_request, "gather request: read and written -> the same text", requests)
{
    struct rc_gather_request request;
    UNIT_ARENA(arena, RC_GATHER_HEAD_MAX);

    assert_true(rc_gather_request_read(unit_guard(row->input), &request));
    assert_string_equal(rc_gather_request_write(&request, &arena), row->input.p);
}

UNIT_TEST(check_value_size, "gather request: value of 1 MiB -> read; a byte more -> refused")
{
    static char text[MIB + 64] = "gather x 0 1 1 1 all\n";
    struct rc_gather_request request;
    size_t head = strlen(text);

    assert_true(rc_gather_request_read((struct rc_str){ text, head + MIB }, &request));
    assert_int_equal(request.value.n, MIB);
    assert_false(rc_gather_request_read((struct rc_str){ text, head + MIB + 1 }, &request));
}

static const struct {
    struct rc_str input;
    int rc;
    unsigned members;
    const char *why;
} replies[] = {
    { TEXT("gathered 0 1\n"), 0, 0, "no member" },
    { TEXT("gathered 2 3 rank 1 is missing\n7 3\na\nb0 0\n"), 0, 2, "two members" },
    { TEXT("gathered 2 2\n0 1\na1 2\nb"), 0, 1, "a value that is cut" },
    { TEXT("gathered 1 1\n0 1048577\n"), 0, 0, "a value that is too large" },
    { TEXT("full\n"), -ENOSPC, 0, "no room" },
    { TEXT("gathered 1 1"), -EPROTO, 0, "no end of the line" },
    { TEXT("gathered 1\n"), -EPROTO, 0, "not of how many" },
    { TEXT("answer=1\n"), -EPROTO, 0, "another reply" },
    { TEXT(""), -EPROTO, 0, "nothing" },
};

UNIT_ROWS(check_reply, "gather reply", replies)
{
    struct rc_gathered gathered = { .count = 77 };
    struct rc_str value;
    uint32_t member;
    unsigned members = 0;

    assert_int_equal(rc_gathered_read(unit_guard(row->input), &gathered), row->rc);
    assert_true(row->rc == 0 || gathered.count == 77);
    while (row->rc == 0 && rc_gathered_next(&gathered.list, &member, &value))
        members++;
    assert_int_equal(members, row->members);
}

/* Members take turns at one server: the server has handled a message before the next one is sent. A step is what a
 * member sends, after `<` when those before have their replies; or `!` and the number of the step whose member hangs
 * up, so that none is left. */
static const struct {
    struct rc_str input;
    const char *send[5];
    const char *reply[5];
    const char *why;
} rows[] = {
    { TEXT("all arrive"),
      { "gather x 1 3 " LONG "bee", "gather x 2 3 " LONG "\n\n", "gather x 0 3 " LONG },
      { "gathered 3 3\n1 3\nbee2 2\n\n\n0 0\n", "gathered 3 3\n1 3\nbee2 2\n\n\n0 0\n",
        "gathered 3 3\n1 3\nbee2 2\n\n\n0 0\n" },
      "all values, in the order of arrival" },
    { TEXT("two names"),
      { "gather x 0 2 " LONG "a", "gather y 0 1 " LONG "c", "gather x 1 2 " LONG "b" },
      { "gathered 2 2\n0 1\na1 1\nb", "gathered 1 1\n0 1\nc", "gathered 2 2\n0 1\na1 1\nb" },
      "gathers of their own" },
    { TEXT("the same name again"),
      { "gather x 0 2 " LONG "a", "gather x 1 2 " LONG "b", "<gather x 1 2 " LONG "c", "gather x 0 2 " LONG "d" },
      { "gathered 2 2\n0 1\na1 1\nb", "gathered 2 2\n0 1\na1 1\nb", "gathered 2 2\n1 1\nc0 1\nd",
        "gathered 2 2\n1 1\nc0 1\nd" },
      "another gather, as all have their reply" },
    { TEXT("time over"),
      { "gather x 0 4 900000 30 all\na", "<gather x 3 4 900000 900000 all\nlate" },
      { "gathered 1 4 ranks 1-3 did not make this call within 900 s\n0 1\na",
        "gathered 1 4 ranks 1-3 did not make this call within 900 s\n0 1\na" },
      "the missing are named, and a late one gets the same reply" },
    { TEXT("time over after each"),
      { "gather x 0 2 30 900000 all\n" },
      { "gathered 1 2 rank 1 did not make this call within 1 s\n0 0\n" },
      "by the latest arrival" },
    { TEXT("the same member twice"),
      { "gather x 0 2 " LONG "a", "gather x 0 2 " LONG "b" },
      { "gathered 2 2\n0 1\na0 1\nb", "gathered 2 2\n0 1\na0 1\nb" },
      "counts as two" },
    { TEXT("hangs up"),
      { "gather x 0 2 " LONG "a", "!0", "gather x 1 2 " LONG "b", "gather x 0 2 " LONG "c" },
      { NULL, NULL, "gathered 2 2\n1 1\nb0 1\nc", "gathered 2 2\n1 1\nb0 1\nc" },
      "has not come" },
    { TEXT("the lowest hangs up"),
      { "gather x 0 2 " TO_FIRST "a", "!0", "gather x 1 2 900000 30 first\nb" },
      { NULL, NULL, "gathered 1 2 rank 0 did not make this call within 900 s\n1 1\nb" },
      "the lowest of the others has the values" },
    { TEXT("different numbers of members"),
      { "gather x 0 9 " LONG, "gather x 1 2 " LONG },
      { "gathered 2 2\n0 0\n1 0\n", "gathered 2 2\n0 0\n1 0\n" },
      "the lowest counts" },
    { TEXT("to the first"),
      { "gather x 1 2 " TO_FIRST "a", "gather x 0 2 " TO_FIRST "b" },
      { "gathered 2 2\n", "gathered 2 2\n1 1\na0 1\nb" },
      "the lowest member has the values, the others the first line" },
    { TEXT("to the first, a late one"),
      { "gather x 1 2 900000 30 first\na", "<gather x 0 2 " TO_FIRST "b" },
      { "gathered 1 2 rank 0 did not make this call within 900 s\n1 1\na", "gathered 0 1\n" },
      "no values" },
    { TEXT("broadcast"),
      { "gather x - 1 0 0 all\n", "gather x 7 1 " LONG "a", "<gather x - 1 0 0 all\n", "gather x 3 1 " LONG "b" },
      { "gathered 1 1\n7 1\na", "gathered 1 1\n7 1\na", "gathered 1 1\n7 1\na", "gathered 1 1\n7 1\na" },
      "the first value stays" },
    { TEXT("a look"),
      { "look x\n", "gather x 0 2 " LONG "a", "look x\n", "gather x 1 2 " LONG "b" },
      { "gathered 0 0\n", "gathered 2 2\n0 1\na1 1\nb", "gathered 1 2\n0 1\na", "gathered 2 2\n0 1\na1 1\nb" },
      "what has arrived" },
    { TEXT("a look at a broadcast"),
      { "gather x 0 1 " LONG "a", "<look x\n" },
      { "gathered 1 1\n0 1\na", "gathered 1 1\n0 1\na" },
      "its value, also after the end" },
    { TEXT("attendance"),
      { "attend nodes 1 3\n", "attend nodes 7 8\n", "look nodes\n" },
      { "", "", "gathered 0 3\n" },
      "no value" },
};

/* The gather x has lost its only member. */
static void wait_for_none(const struct server_child *server)
{
    bool is_empty = false;

    while (!is_empty) {
        struct rc_reply reply;

        assert_int_equal(rc_client_request(&server->endpoint, RC_STR("look x\n"), LONG_MS, &reply, NULL), 0);
        is_empty = strcmp(reply.text, "gathered 0 2\n") == 0;
        free(reply.text);
    }
}

UNIT_ROWS(check_members, "gather", rows)
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd[5];
    unsigned replied = 0;
    unsigned steps = 0;

    for (; steps < UNIT_COUNT(fd) && row->send[steps]; steps++) {
        const char *text = row->send[steps];

        for (; *text == '<' && replied < steps; replied++)
            server_replies(fd[replied], row->reply[replied]);
        if (*text == '!') {
            close(fd[text[1] - '0']);
            wait_for_none(&server);
            replied = steps + 1;
        } else {
            fd[steps] = server_tell(&server, text + (*text == '<'));
        }
    }
    for (; replied < steps; replied++)
        server_replies(fd[replied], row->reply[replied]);
    server_close(&server);
}

UNIT_TEST(check_shortest, "gather: the member with the shortest time hangs up -> the others have their own time")
{
    static const char all[] = "gathered 2 2\n1 1\nb0 1\nc";
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd = server_tell(&server, "gather x 0 2 500 500 all\n");

    close(fd);
    wait_for_none(&server);
    fd = server_tell(&server, "gather x 1 2 " LONG "b");
    usleep(700000);
    server_answers(&server, "gather x 0 2 " LONG "c", all);
    server_replies(fd, all);
    server_close(&server);
}

UNIT_TEST(check_hosts,
          "gather of tasks: time over -> the missing are named with their hosts, if the roll call has them")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    char one[SERVER_ENTRY], two[SERVER_ENTRY];
    int fd = server_send(&server, server_entry(one, 0, 2));

    server_answers(&server, server_entry(two, 1, 2), "answer=1\nport=2\n");
    server_replies(fd, "answer=1\nport=2\n");
    server_decides(&server, "2 whole\n");
    server_answers(&server, "gather task/x 0 2 5000 30 all\n",
                   "gathered 1 2 rank 1 on n1 did not make this call within 5 s\n0 0\n");
    server_answers(&server, "gather x 0 2 5000 30 all\n",
                   "gathered 1 2 rank 1 did not make this call within 5 s\n0 0\n");
    server_close(&server);
}

UNIT_TEST(check_claims, "claim: the first one has it, also when it asks again")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    uint64_t number = 99;

    assert_int_equal(rc_client_claim(&server.endpoint, "a", RC_STR("me"), LONG_MS), 1);
    assert_int_equal(rc_client_claim(&server.endpoint, "a", RC_STR("you"), LONG_MS), 0);
    assert_int_equal(rc_client_claim(&server.endpoint, "a", RC_STR("me"), LONG_MS), 1);
    assert_int_equal(rc_client_claim(&server.endpoint, "no name", RC_STR("me"), LONG_MS), -EPROTONOSUPPORT);
    assert_int_equal(rc_client_number(&server.endpoint, "b", RC_STR("me"), LONG_MS, &number), 0);
    assert_int_equal(number, 0);
    assert_int_equal(rc_client_number(&server.endpoint, "b", RC_STR("you"), LONG_MS, &number), 0);
    assert_int_equal(number, 1);
    assert_int_equal(rc_client_number(&server.endpoint, "b", RC_STR("me"), LONG_MS, &number), 0);
    assert_int_equal(number, 0);
    server_close(&server);
    assert_int_equal(rc_client_claim(&server.endpoint, "a", RC_STR("me"), LONG_MS), -ECONNREFUSED);
}

UNIT_TEST(check_full, "server: 64 MiB of values -> the gather that does not fit is full, and gives its room back")
{
    static char text[MIB + 64];
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd[RC_GATHER_SIZE_MAX / MIB];

    for (unsigned i = 0; i < UNIT_COUNT(fd); i++) {
        int head = snprintf(text, sizeof(text), "gather x %u 100 " LONG, i);

        memset(text + head, 'v', MIB);
        text[head + MIB] = '\0';
        fd[i] = server_send(&server, text);
    }
    for (unsigned i = 0; i < UNIT_COUNT(fd); i++)
        server_answers(&server, "gather empty 0 1 1 1 all\n", "gathered 1 1\n0 0\n");
    assert_int_equal(rc_client_claim(&server.endpoint, "a", RC_STR("me"), LONG_MS), -ENOSPC);
    server_answers(&server, "gather x 64 100 " LONG "more", "full\n");
    for (unsigned i = 0; i < UNIT_COUNT(fd); i++)
        server_replies(fd[i], "full\n");
    server_answers(&server, "gather x 65 100 " LONG "late", "full\n");
    assert_int_equal(rc_client_claim(&server.endpoint, "b", RC_STR("me"), LONG_MS), 1);
    server_close(&server);
}

UNIT_TEST(check_full_replies, "server: broadcasts of more than 64 MiB -> no room for the one that does not fit")
{
    static char value[MIB];
    struct server_child server = server_open((struct server_start){ .stops = false });
    struct rc_gather_request request = { .of = 1, .value = { value, sizeof(value) } };
    struct rc_reply reply;

    for (unsigned i = 0; i < RC_GATHER_SIZE_MAX / MIB; i++) {
        char name[32];

        snprintf(name, sizeof(name), "x/%u", i);
        request.name = rc_str(name);
        assert_int_equal(rc_client_gather(&server.endpoint, &request, LONG_MS, &reply, NULL), 0);
        assert_int_equal(reply.size > MIB, i < RC_GATHER_SIZE_MAX / MIB - 1);
        free(reply.text);
    }
    server_answers(&server, "gather x/64 0 1 1 1 all\n", "gathered 1 1\n0 0\n");
    server_close(&server);
}

static void suspend(const struct server_child *server)
{
    int status;

    kill(server->pid, SIGSTOP);
    assert_int_equal(waitpid(server->pid, &status, WUNTRACED), server->pid);
    usleep(2500000);
}

UNIT_TEST(check_suspended, "server: suspended for longer than a gather's time -> members that came meanwhile count")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd[CROWD];
    char text[SERVER_ENTRY];
    char expected[32];

    for (int i = 0; i < CROWD; i++) {
        snprintf(text, sizeof(text), "gather roll %d %d 500 1400 all\n", i, CROWD);
        if (i == 0)
            fd[i] = server_tell(&server, text);
        if (i == 1) {
            usleep(100000); /* until it waits */
            suspend(&server);
        }
        if (i > 0)
            fd[i] = server_send(&server, text);
    }
    kill(server.pid, SIGCONT);
    snprintf(expected, sizeof(expected), "answer=1\nport=%d\n", CROWD);
    for (int i = 0; i < CROWD; i++)
        server_replies(fd[i], expected);
    snprintf(expected, sizeof(expected), "%d whole\n", CROWD);
    server_decides(&server, expected);
    server_close(&server);
}

UNIT_TEST(check_time_asleep, "server: suspended for longer than a gather's time -> the gather has its time after that")
{
    struct server_child server = server_open((struct server_start){ .stops = false });
    int fd = server_tell(&server, "gather x 0 2 1400 1400 all\n");

    usleep(100000); /* until it waits */
    suspend(&server);
    kill(server.pid, SIGCONT);
    usleep(100000);
    server_answers(&server, "gather x 1 2 " LONG, "gathered 2 2\n0 0\n1 0\n");
    server_replies(fd, "gathered 2 2\n0 0\n1 0\n");
    server_close(&server);
}

UNIT_TEST(check_deadline, "client: no reply by its deadline -> the member has not come")
{
    const struct rc_gather_request request = {
        .name = RC_STR("x"), .of = 2, .each = LONG_MS, .most = LONG_MS, .value = RC_STR("early")
    };
    struct server_child server = server_open((struct server_start){ .stops = false });
    struct rc_reply reply;

    assert_int_equal(rc_client_gather(&server.endpoint, &request, SHORT_MS, &reply, NULL), -ETIMEDOUT);
    wait_for_none(&server);
    server_close(&server);
}
