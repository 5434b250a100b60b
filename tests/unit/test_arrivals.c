/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has reached init_process_group: what counts as an arrival, what is said when, and a real server in a child. */
#include "config.h"

#include "rendezvous/server.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rendezvous/client.h"
#include "rendezvous/wire.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

enum {
    LONG = 60000, /* milliseconds that nothing here needs */
    GUARD = 100,  /* seconds after which a test that hangs has failed */
};

static const struct {
    struct rc_str input;
    const char *why;
} wrong[] = {
    { TEXT("reached="), "nothing" },
    { TEXT("reached=\n"), "an empty line" },
    { TEXT("reached=0\n"), "not of how many" },
    { TEXT("reached=0 4"), "no end of the line" },
    { TEXT("reached=0 4\n\n"), "more than a line" },
    { TEXT("reached=0 4\nx"), "more behind it" },
    { TEXT("reached=0 4 \n"), "a blank behind it" },
    { TEXT("reached= 0 4\n"), "a blank before it" },
    { TEXT("reached=0  4\n"), "two blanks" },
    { TEXT("reached=4 4\n"), "a task that the step has not" },
    { TEXT("reached=0 0\n"), "a step without tasks" },
    { TEXT("reached=0 5\n"), "another step's count" },
    { TEXT("reached=-1 4\n"), "a sign" },
    { TEXT("reached=00 4\n"), "a leading zero" },
    { TEXT("reached=0 0x4\n"), "hexadecimal" },
    { TEXT("reached=4294967296 4\n"), "wraps to 0" },
    { TEXT("reached=0 4294967300\n"), "wraps to 4" },
    { TEXT("reached=0 16777217\n"), "more tasks than there can be" },
    { TEXT("reached=0\0 4\n"), "a NUL" },
    { TEXT("reached=node=0 4\n"), "a name too many" },
    { TEXT("reached=0,1 4\n"), "a list" },
    { TEXT("reached=0 4 more\n"), "a word too many" },
};

static bool take(struct rc_arrivals *arrivals, uint32_t task, uint32_t tasks, int64_t now)
{
    char text[32];

    snprintf(text, sizeof(text), "reached=%u %u\n", task, tasks);
    return rc_arrivals_take(arrivals, rc_str(text), 0, now);
}

static const char *say(struct rc_arrivals *arrivals, const struct rc_roll *rolls, size_t count, int64_t now,
                       enum rc_message_id *id)
{
    static char space[1024];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };

    return rc_arrivals_say(arrivals, rolls, count, now, id, &arena);
}

static void silent(struct rc_arrivals *arrivals, int64_t now)
{
    enum rc_message_id id;

    assert_null(say(arrivals, NULL, 0, now, &id));
}

/* The text up to the "; " behind the tasks and their hosts. */
static void names(struct rc_arrivals *arrivals, const struct rc_roll *rolls, size_t count, int64_t now,
                  const char *expected)
{
    enum rc_message_id id = RC708;
    const char *text = say(arrivals, rolls, count, now, &id);

    assert_non_null(text);
    assert_int_equal(id, RC707);
    if (strncmp(text, expected, strlen(expected)) != 0)
        fail_msg("the line is: %s", text);
}

/* As the first of all, and when somebody has come. */
UNIT_ROWS(refuses, "no arrival", wrong)
{
    struct rc_arrivals arrivals = { .seconds = 60 };
    struct rc_str text = unit_guard(row->input);

    assert_true(rc_arrivals_is_one(text));
    assert_false(rc_arrivals_take(&arrivals, text, 4, 1));
    assert_int_equal(arrivals.tasks, 0);
    assert_int_equal(rc_arrivals_due(&arrivals), INT64_MAX);
    assert_true(take(&arrivals, 3, 4, 1));
    assert_false(rc_arrivals_take(&arrivals, text, 0, 1));
    assert_int_equal(arrivals.count, 1);
    rc_arrivals_free(&arrivals);
}

UNIT_TEST(tells_kinds, "what is of this kind")
{
    assert_true(rc_arrivals_is_one(RC_STR("reached=0 1\n")));
    assert_false(rc_arrivals_is_one(RC_STR("reached")));
    assert_false(rc_arrivals_is_one(RC_STR("")));
    assert_false(rc_arrivals_is_one(RC_STR("roll=1\n")));
    assert_false(rc_arrivals_is_one(RC_STR("store get reached=\n")));
}

UNIT_TEST(all_in_time, "all in time")
{
    struct rc_arrivals arrivals = { .seconds = 60 };

    silent(&arrivals, 1000000);
    for (uint32_t task = 0; task < 9; task++) {
        assert_true(take(&arrivals, task, 9, 1000 + task));
        silent(&arrivals, 1000 + task);
    }
    assert_int_equal(rc_arrivals_due(&arrivals), INT64_MAX);
    silent(&arrivals, INT64_MAX);
    /* a second group of the same processes, and what comes behind the time */
    assert_true(take(&arrivals, 3, 9, 900000));
    silent(&arrivals, INT64_MAX);
    rc_arrivals_free(&arrivals);
}

/* Several processes of a task are one, however many they are. */
UNIT_TEST(one_is_missing, "one is missing, and comes")
{
    struct rc_arrivals arrivals = { .seconds = 60 };
    enum rc_message_id id;

    for (uint32_t i = 0; i < 20; i++)
        assert_true(take(&arrivals, i % 3, 4, 5000 + i));
    assert_int_equal(rc_arrivals_due(&arrivals), 65000);
    silent(&arrivals, 64999);
    names(&arrivals, NULL, 0, 65000,
          "60 s after the first, 3 of 4 tasks have reached init_process_group, but not "
          "task 3; see what they print and do (py-spy dump --pid PID); ");
    assert_int_equal(rc_arrivals_due(&arrivals), INT64_MAX);
    silent(&arrivals, 70000);
    assert_true(take(&arrivals, 0, 4, 71000));
    silent(&arrivals, 72000);
    assert_true(take(&arrivals, 3, 4, 125499));
    assert_string_equal(say(&arrivals, NULL, 0, 125499, &id),
                        "all 4 tasks have reached init_process_group now, 120 s after the first");
    assert_int_equal(id, RC708);
    silent(&arrivals, 130000);
    rc_arrivals_free(&arrivals);
}

/* Those who come behind the line, but not all. */
UNIT_TEST(some_stay_away, "some stay away")
{
    struct rc_arrivals arrivals = { .seconds = 1 };

    assert_true(take(&arrivals, 0, 4, 0));
    names(&arrivals, NULL, 0, 1000,
          "1 s after the first, 1 of 4 tasks have reached init_process_group, but not tasks "
          "1-3; ");
    assert_true(take(&arrivals, 1, 4, 2000));
    silent(&arrivals, 2000);
    assert_true(take(&arrivals, 2, 4, 3000));
    silent(&arrivals, INT64_MAX);
    rc_arrivals_free(&arrivals);
}

UNIT_TEST(nobody_asks, "nobody asks")
{
    struct rc_arrivals arrivals = { .seconds = 0 };

    assert_true(take(&arrivals, 0, 4, 0));
    assert_int_equal(rc_arrivals_due(&arrivals), INT64_MAX);
    silent(&arrivals, INT64_MAX);
    assert_null(arrivals.come);
}

static struct rc_roll node(const char *host, const char *tasks)
{
    return (struct rc_roll){ .host = rc_str(host), .tasks = rc_str(tasks), .world = 8 };
}

UNIT_TEST(on_hosts, "tasks with their hosts")
{
    const struct rc_roll rolls[] = {
        node("n4.example", "3,7"),
        node("n3.example", "2,6"),
        node("n2.example", "1,5"),
        node("n1.example", "0,4"),
    };
    struct rc_arrivals arrivals = { .seconds = 9, .job = 42 };
    struct rc_arrivals again;

    for (uint32_t task = 0; task < 8; task++)
        if (task != 2 && task != 3 && task != 7)
            assert_true(take(&arrivals, task, 8, 0));
    again = arrivals;
    names(&arrivals, rolls, 4, 9000,
          "9 s after the first, 5 of 8 tasks have reached init_process_group, but not tasks 2-3,7 on n[3-4].example; "
          "see what they print and do (srun --jobid=42 --overlap -N1 -w n3 ps xf, py-spy dump --pid PID); ");
    /* where node n3 did not answer, it is not known where task 2 is */
    arrivals = again;
    names(&arrivals, rolls + 2, 2, 9000,
          "9 s after the first, 5 of 8 tasks have reached init_process_group, but not tasks 2-3,7; see what they print "
          "and do (srun --jobid=42 --overlap -N1 ps xf, py-spy dump --pid PID); ");
    rc_arrivals_free(&arrivals);
}

/* The longest list there is, and as many tasks as there can be. */
UNIT_TEST(many, "a step as large as there can be")
{
    struct rc_arrivals arrivals = { .seconds = 3600 };

    assert_true(take(&arrivals, RC_MAX_TASKS - 1, RC_MAX_TASKS, 0));
    for (uint32_t task = 0; task < 8192; task += 2)
        assert_true(take(&arrivals, task, RC_MAX_TASKS, 0));
    names(&arrivals, NULL, 0, 3600000,
          "3600 s after the first, 4097 of 16777216 tasks have reached init_process_group, "
          "but not tasks 1,3,5,7,9,11,13,15,17,19,21,23 and 16773107 more; ");
    rc_arrivals_free(&arrivals);
}

/* A server in a process of its own. */
struct office {
    pid_t pid;
    int life;
    int said; /* a line each time */
    struct rc_endpoint endpoint;
};

static struct rc_str decide(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    (void)more, (void)rolls, (void)count, (void)complete;
    return RC_STR("answer=1\n");
}

static void say_it(void *more, enum rc_message_id id, const char *text)
{
    if (dprintf(*(const int *)more, "%s %s\n", rc_message_entry(id)->id, text) < 0)
        _exit(9);
}

/* expected: rc_server_expect, where it is not 0 */
static struct office open_office(uint32_t seconds, uint32_t expected)
{
    uint16_t port;
    int listener = rc_listen(0, 0, &port);
    struct office office;
    int life[2];
    int said[2];

    assert_true(listener >= 0);
    assert_int_equal(pipe(life), 0);
    assert_int_equal(pipe(said), 0);
    office.pid = fork();
    assert_true(office.pid >= 0);
    if (office.pid == 0) {
        struct rc_server *server = rc_server_create(listener, TOKEN);

        close(life[1]);
        alarm(GUARD);
        if (!server)
            _exit(8);
        rc_server_watch(server, seconds, 42, say_it, &said[1]);
        if (expected)
            rc_server_expect(server, expected);
        if (rc_server_run(server, GUARD, life[0], decide, NULL) != 0)
            _exit(7);
        rc_server_destroy(server);
        _exit(0);
    }
    close(listener);
    close(life[0]);
    close(said[1]);
    office.life = life[1];
    office.said = said[0];
    office.endpoint = (struct rc_endpoint){ RC_STR(TOKEN), port, RC_STR("127.0.0.1") };
    return office;
}

/* It ends with its life, and has said nothing more. */
static void close_office(struct office *office)
{
    char line[512];
    int status;

    close(office->life);
    assert_int_equal(read(office->said, line, sizeof(line)), 0);
    assert_int_equal(waitpid(office->pid, &status, 0), office->pid);
    assert_int_equal(status, 0);
    close(office->said);
}

/* A node's one task of two; it gets the answer where it is the last. */
static void hand_in(const struct office *office, const char *entry)
{
    struct rc_reply reply;

    assert_int_equal(rc_client_request(&office->endpoint, rc_str(entry), LONG, &reply, NULL), 0);
    assert_string_equal(reply.text, "answer=1\n");
    free(reply.text);
}

static void is_heard(const struct office *office, const char *text)
{
    struct rc_reply reply;

    assert_int_equal(rc_client_request(&office->endpoint, rc_str(text), LONG, &reply, NULL), 0);
    assert_int_equal(reply.size, 0);
    free(reply.text);
}

static void is_not_heard(const struct office *office, const char *text)
{
    struct rc_reply reply;

    assert_true(rc_client_request(&office->endpoint, rc_str(text), LONG, &reply, NULL) < 0);
}

static void says(const struct office *office, const char *expected)
{
    char line[512] = "";

    assert_true(read(office->said, line, sizeof(line) - 1) > 0);
    if (strncmp(line, expected, strlen(expected)) != 0)
        fail_msg("the line is: %s", line);
}

/* A step on one node has no roll. */
UNIT_TEST(at_a_server, "at a server without a roll")
{
    struct office office = open_office(1, 0);

    is_heard(&office, "reached=1 3\n");
    is_not_heard(&office, "reached=3 3\n");
    is_not_heard(&office, "reached=0 4\n");
    is_not_heard(&office, "reached=0\n");
    says(&office, "RC707 1 s after the first, 1 of 3 tasks have reached init_process_group, but not tasks 0,2; ");
    is_heard(&office, "reached=2 3\n");
    is_heard(&office, "reached=2 3\n");
    is_heard(&office, "reached=0 3\n");
    says(&office, "RC708 all 3 tasks have reached init_process_group now, ");
    close_office(&office);
}

UNIT_TEST(behind_a_roll, "at a server behind its roll")
{
    struct office office = open_office(1, 0);

    hand_in(&office, "roll=1\nscope=slurm:42.0\nhost=n1\nnode=0\nnodes=1\nworld=2\ntasks=0-1\n");
    is_not_heard(&office, "reached=0 3\n");
    is_heard(&office, "reached=0 2\n");
    says(&office, "RC707 1 s after the first, 1 of 2 tasks have reached init_process_group, but not task 1 on n1; ");
    close_office(&office);
}

UNIT_TEST(at_a_server_that_does_not_watch, "at a server that does not watch")
{
    struct office office = open_office(0, 0);

    is_heard(&office, "reached=1 3\n");
    is_not_heard(&office, "reached=3 3\n");
    close_office(&office);
}

UNIT_TEST(nobody_calls, "nobody calls the server")
{
    struct office office = open_office(0, 1);

    says(&office, "RC621 the step has begun 1 s ago, and none of its nodes has called srun; ");
    close_office(&office);
}

UNIT_TEST(nobody_has_called, "nobody has called it by its end")
{
    struct office office = open_office(0, GUARD);

    close(office.life);
    says(&office, "RC621 the step has ended, and none of its nodes has called srun; ");
    office.life = open("/dev/null", O_RDONLY);
    close_office(&office);
}

UNIT_TEST(somebody_calls, "a question is a call")
{
    struct office office = open_office(0, GUARD);
    struct rc_reply reply;

    assert_int_equal(rc_client_request(&office.endpoint, RC_STR(RC_SERVER_QUESTION), LONG, &reply, NULL), 0);
    free(reply.text);
    close_office(&office);
}
