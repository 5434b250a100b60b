/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has reached init_process_group: what counts as an arrival, what is said when, and a real server in a child. */
#include "config.h"

#include "serverchild.h"

#include "rendezvous/client.h"

enum { LONG = 60000 }; /* milliseconds that nothing here needs */

static const struct unit_text wrong[] = {
    { TEXT("reached="), "nothing" },
    { TEXT("reached=\n"), "an empty line" },
    { TEXT("reached=0\n"), "not of how many" },
    { TEXT("reached=0 4"), "no end of the line" },
    { TEXT("reached=0 4\n\n"), "more than a line" },
    { TEXT("reached=0 4\nx"), "more after it" },
    { TEXT("reached=0 4 \n"), "a blank after it" },
    { TEXT("reached= 0 4\n"), "a blank before it" },
    { TEXT("reached=0  4\n"), "two blanks" },
    { TEXT("reached=4 4\n"), "a task that the step has not" },
    { TEXT("reached=0 0\n"), "a step without tasks" },
    { TEXT("reached=0 5\n"), "another step's count" },
    { TEXT("reached=00 4\n"), "a leading zero" },
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

/* The text up to the "; " after the tasks and their hosts. */
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

    assert_false(rc_arrivals_take(&arrivals, text, 4, 1));
    assert_int_equal(arrivals.tasks, 0);
    assert_int_equal(rc_arrivals_due(&arrivals), INT64_MAX);
    assert_true(take(&arrivals, 3, 4, 1));
    assert_false(rc_arrivals_take(&arrivals, text, 0, 1));
    assert_int_equal(arrivals.count, 1);
    rc_arrivals_free(&arrivals);
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
    /* a second group of the same processes, and what comes after the time */
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

/* Those who come after the line, but not all. */
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

static void is_refused(const struct server_child *server, const char *text)
{
    struct rc_reply reply;

    assert_int_equal(rc_client_request(&server->endpoint, rc_str(text), LONG, &reply, NULL), 0);
    assert_true(rc_str_starts(rc_str(reply.text), "failed="));
    free(reply.text);
}

/* A step on one node has no roll. */
UNIT_TEST(at_a_server, "at a server without a roll")
{
    struct server_child server = server_open((struct server_start){ .watch = 1 });

    server_answers(&server, "reached=1 3\n", "");
    is_refused(&server, "reached=3 3\n");
    is_refused(&server, "reached=0 4\n");
    is_refused(&server, "reached=0\n");
    server_says(&server,
                "RC707 1 s after the first, 1 of 3 tasks have reached init_process_group, but not tasks 0,2; ");
    server_answers(&server, "reached=2 3\n", "");
    server_answers(&server, "reached=2 3\n", "");
    server_answers(&server, "reached=0 3\n", "");
    server_says(&server, "RC708 all 3 tasks have reached init_process_group now, ");
    server_close(&server);
}

UNIT_TEST(after_a_roll, "at a server after its roll")
{
    struct server_child server = server_open((struct server_start){ .watch = 1 });

    server_answers(&server, "roll=1\nscope=slurm:42.0\nhost=n1\nnode=0\nnodes=1\nworld=2\ntasks=0-1\n",
                   "answer=1\nport=1\n");
    server_decides(&server, "1 1\n");
    is_refused(&server, "reached=0 3\n");
    server_answers(&server, "reached=0 2\n", "");
    server_says(&server,
                "RC707 1 s after the first, 1 of 2 tasks have reached init_process_group, but not task 1 on n1; ");
    server_close(&server);
}

UNIT_TEST(at_a_server_that_does_not_watch, "at a server that does not watch")
{
    struct server_child server = server_open((struct server_start){ .seconds = 0 });

    server_answers(&server, "reached=1 3\n", "");
    is_refused(&server, "reached=3 3\n");
    server_close(&server);
}

#define CAUSES                                                                                \
    " s after Slurm started all tasks; another plugin there comes before rollcall and still " \
    "works or has failed, nothing gets through, or slurmd there has no rollcall (see its "    \
    "log) and tasks run without ranks\n"
#define ENDED "RC621 the step has ended, and nothing came from "
#define LOOK  "; see slurmd's log there: it must load rollcall.so\n"

/* A character each second: the node of that number calls, `.` nobody does, `!` the missing ones are named elsewhere.
 * They are named after 3 s. Slurm has started all tasks at the beginning; with `-` there, at `+`. */
static const struct {
    struct rc_str input;
    const char *hosts;
    uint32_t nodes;
    enum rc_ending ending;
    const char *expected;
    const char *why;
} calling[] = {
    { TEXT("012.."), "n[1-3]", 3, RC_ENDED_WELL, "", "all call" },
    { TEXT("01"), "n[1-3]", 3, RC_ENDED_WELL,
      ENDED "n3; unless RC611 reports otherwise, its tasks ran without ranks" LOOK,
      "one does not, and the step ends soon" },
    { TEXT("."), "n[1-3]", 3, RC_ENDED_BADLY,
      ENDED "n[1-3]; unless another line reports otherwise, their tasks ran without ranks" LOOK, "it ends badly" },
    { TEXT("."), "n[1-3]", 3, RC_ENDED_SOMEHOW, "", "srun was killed: the tasks may not have begun" },
    { TEXT("-......"), "n[1-3]", 3, RC_ENDED_UNSTARTED, "", "a prolog takes longer than that" },
    { TEXT("-0.....+..1"), "n[1-2]", 2, RC_ENDED_WELL, "", "and the tasks call when it has ended" },
    { TEXT("."), "n[1-3]", 3, RC_ENDED_UNSTARTED, "", "not all tasks were started: their prolog may still run" },
    { TEXT("......."), "n[1-3]", 3, RC_ENDED_WELL,
      "RC621 nothing from n[1-3] 3" CAUSES ENDED
      "n[1-3]; unless RC611 reports otherwise, their tasks ran without ranks\n",
      "nobody calls" },
    { TEXT("..1......"), "n[1-3]", 3, RC_ENDED_UNSTARTED, "RC621 nothing from n[1,3] 5" CAUSES, "one calls" },
    { TEXT("......012..."), "n[1-3]", 3, RC_ENDED_WELL,
      "RC621 nothing from n[1-3] 3" CAUSES "RC623 every node of the step has called srun now, 8 s after its start\n",
      "all are slow" },
    { TEXT(".....0....1"), "n[1-3]", 3, RC_ENDED_UNSTARTED,
      "RC621 nothing from n[1-3] 3" CAUSES "RC621 nothing from n[2-3] 8" CAUSES, "one is slower than another" },
    { TEXT("0.!..."), "n[1-2]", 2, RC_ENDED_WELL,
      ENDED "n2; unless RC611 reports otherwise, its tasks ran without ranks\n", "RC601 has named it" },
    { TEXT("0.!..1"), "n[1-2]", 2, RC_ENDED_WELL,
      "RC623 every node of the step has called srun now, 5 s after its start\n", "RC601 has named it, and it comes" },
    { TEXT("0...."), "n1", 2, RC_ENDED_UNSTARTED, "RC621 nothing from node 1 3" CAUSES, "names that are others'" },
    { TEXT("0..2."), "", 4, RC_ENDED_UNSTARTED, "RC621 nothing from nodes 1,3 3" CAUSES, "no names" },
    { TEXT("00093"), "n[1-2]", 2, RC_ENDED_UNSTARTED, "RC621 nothing from n2 3" CAUSES,
      "one of them twice, and others" },
    { TEXT("......"), "", 0, RC_ENDED_WELL, "", "nobody is expected" },
};

static void put_line(struct rc_arena *arena, const char *id, const char *text)
{
    rc_format(arena, "%s %s\n", id, text);
    rc_join(arena);
}

UNIT_ROWS(check_calls, "calls", calling)
{
    struct rc_callers callers = { .nodes = 0 };
    UNIT_ARENA(arena, 4096);
    UNIT_ARENA(said, 1024);
    enum rc_message_id id;
    const char *text;
    int64_t now = 0;

    rc_copy(&said, RC_STR(""));
    rc_join(&said);
    assert_true(!row->nodes || rc_callers_expect(&callers, rc_str(row->hosts), row->nodes, 3, 0));
    if (*row->input.p != '-')
        rc_callers_start(&callers, 0);
    for (const char *call = row->input.p; call < row->input.p + row->input.n; call++, now += 1000) {
        if (*call >= '0')
            rc_callers_take(&callers, rc_str(rc_format(&arena, "more=1\nnode=%u\n", (uint32_t)(*call - '0'))), now);
        else if (*call == '+')
            rc_callers_start(&callers, now);
        else if (*call == '!')
            assert_false(rc_callers_name(&callers));
        assert_true(rc_callers_due(&callers) > now || now >= 3000);
        while ((text = rc_callers_say(&callers, now, &id, &arena)))
            put_line(&said, rc_message_entry(id)->id, text);
    }
    text = rc_callers_end(&callers, row->ending, &arena);
    if (text)
        put_line(&said, "RC621", text);
    assert_string_equal(said_room, row->expected);
    rc_callers_free(&callers);
}

UNIT_TEST(who_has_not_called, "a server that expects calls")
{
    struct server_child server = server_open((struct server_start){ .expected = 3 });

    server_answers(&server, RC_SERVER_GREETING "node=1\n", "");
    assert_int_equal(write(server.life, &(const char){ RC_LIFE_STARTED }, 1), 1);
    server_says(&server, "RC621 nothing from n1 3 s after Slurm started all tasks; ");
    assert_int_equal(write(server.life, "w", 1), 1);
    server_says(&server, ENDED "n1; unless RC611 reports otherwise, its tasks ran without ranks\n");
    server_close(&server);
}

UNIT_TEST(srun_is_killed, "a server whose srun is killed")
{
    struct server_child server = server_open((struct server_start){ .expected = SERVER_GUARD });

    server_answers(&server, "question=roll\n", "");
    close(server.life);
    server.life = -1;
    server_close(&server);
}
