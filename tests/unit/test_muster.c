/* SPDX-License-Identifier: BSD-3-Clause */
/* Missing members: which lines name them, and when. */
#include "config.h"

#include "serverchild.h"

#define CAUSES                                                                                                    \
    "; a prolog or another plugin still works there or has failed, nothing gets through, or slurmd there has no " \
    "rollcall (see its log) and tasks run without ranks\n"
#define ENDED     "RC621 the step has ended, and nothing came from "
#define LOOK      "; see slurmd's log there: it must load rollcall.so\n"
#define CURE      "; see what they print and do (py-spy dump --pid PID); a smaller world on purpose: watch=on\n"
#define ALL_NODES "RC623 every node of the step has called srun now, "

struct row {
    struct rc_str input;
    const char *hosts;
    uint32_t of;
    enum rc_ending ending;
    const char *expected;
    const char *why;
};

/* A character each second: the member of that number attends, `.` none does, `!` the missing ones are named elsewhere.
 * They are named 3 s after the first one. */
static const struct row nodes[] = {
    { TEXT("012.."), "n[1-3]", 3, RC_ENDED_WELL, "", "all call" },
    { TEXT("01"), "n[1-3]", 3, RC_ENDED_WELL,
      ENDED "n3; unless RC611 reports otherwise, its tasks ran without ranks" LOOK,
      "one does not, and the step ends soon" },
    { TEXT("."), "n[1-3]", 3, RC_ENDED_BADLY,
      ENDED "n[1-3]; unless another line reports otherwise, their tasks ran without ranks" LOOK, "it ends badly" },
    { TEXT("."), "n[1-3]", 3, RC_ENDED_SOMEHOW, "", "srun was killed: the tasks may not have begun" },
    { TEXT("..........."), "n[1-3]", 3, RC_ENDED_SOMEHOW, "", "none calls: a prolog takes longer than that" },
    { TEXT("............."), "n[1-3]", 3, RC_ENDED_WELL,
      "RC621 nothing from n[1-3] 12 s after srun began the step" CAUSES ENDED
      "n[1-3]; unless RC611 reports otherwise, their tasks ran without ranks\n",
      "none calls for four times as long" },
    { TEXT("..1......"), "n[1-3]", 3, RC_ENDED_SOMEHOW,
      "RC621 nothing from n[1,3] 3 s after the first node's call" CAUSES, "one calls" },
    { TEXT("..............012..."), "n[1-3]", 3, RC_ENDED_WELL,
      "RC621 nothing from n[1-3] 12 s after srun began the step" CAUSES ALL_NODES "16 s after its start\n",
      "all are slow" },
    { TEXT("0....1...."), "n[1-3]", 3, RC_ENDED_SOMEHOW,
      "RC621 nothing from n[2-3] 3 s after the first node's call" CAUSES,
      "one is slower than another: they are named once" },
    { TEXT("0.!..."), "n[1-2]", 2, RC_ENDED_WELL,
      ENDED "n2; unless RC611 reports otherwise, its tasks ran without ranks\n", "RC601 has named it" },
    { TEXT("0.!..1"), "n[1-2]", 2, RC_ENDED_WELL, ALL_NODES "5 s after its start\n",
      "RC601 has named it, and it comes" },
    { TEXT("0..2."), "", 4, RC_ENDED_SOMEHOW, "RC621 nothing from nodes 1,3 3 s after the first node's call" CAUSES,
      "no names" },
    { TEXT("0001000"), "n[1-2]", 2, RC_ENDED_WELL, "", "one of them again and again" },
};

static const struct row tasks[] = {
    { TEXT("0123...."), "", 4, RC_ENDED_WELL, "", "all in time" },
    { TEXT("........"), "", 4, RC_ENDED_WELL, "", "none: a program without init_process_group" },
    { TEXT("0120120"), "", 4, RC_ENDED_WELL,
      "RC707 3 s after the first, 3 of 4 tasks have reached init_process_group, but not task 3" CURE,
      "one is missing" },
    { TEXT("..0....1..2..3.."), "", 4, RC_ENDED_WELL,
      "RC707 3 s after the first, 1 of 4 tasks have reached init_process_group, but not tasks 1-3" CURE
      "RC708 all 4 tasks have reached init_process_group now, 11 s after the first\n",
      "some are missing, and come" },
};

static void put_line(struct rc_arena *arena, const char *id, const char *text)
{
    rc_format(arena, "%s %s\n", id, text);
    rc_join(arena);
}

static void run(const struct row *row, bool are_nodes)
{
    struct rc_muster muster = { .seconds = 3, .hosts = *row->hosts ? rc_str(row->hosts) : RC_ABSENT };
    struct rc_gathers gathers = { .tree = NULL };
    struct rc_gather *gather = rc_gathers_find(&gathers, RC_STR("x"), row->of);
    UNIT_ARENA(arena, 8192);
    UNIT_ARENA(said, 2048);
    enum rc_message_id id;
    const char *text;
    int64_t now = 1000;

    rc_copy(&said, RC_STR(""));
    rc_join(&said);
    muster.since = are_nodes ? now : -1;
    for (const char *call = row->input.p; *call; call++, now += 1000) {
        if (*call >= '0')
            rc_gather_attend(gather, (uint32_t)(*call - '0'), now);
        else if (*call == '!')
            assert_false(rc_muster_name(&muster, gather));
        assert_true(!gather->came || muster.named || rc_muster_due(&muster, gather) >= gather->begun + 3000);
        while ((text = are_nodes ? rc_muster_nodes(&muster, gather, now, &id, &arena)
                                 : rc_muster_tasks(&muster, gather, NULL, now, &id, &arena)))
            put_line(&said, rc_message_entry(id)->id, text);
    }
    text = are_nodes ? rc_muster_end(&muster, gather, (char)row->ending, &arena) : NULL;
    if (text)
        put_line(&said, "RC621", text);
    assert_string_equal(said_room, row->expected);
    rc_gathers_free(&gathers);
}

UNIT_ROWS(check_nodes, "nodes", nodes)
{
    run(row, true);
}

UNIT_ROWS(check_tasks, "tasks", tasks)
{
    run(row, false);
}

UNIT_TEST(check_silent, "muster: no time, or no gather -> nothing is printed")
{
    struct rc_muster muster = { .seconds = 0 };
    struct rc_gathers gathers = { .tree = NULL };
    struct rc_gather *gather = rc_gathers_find(&gathers, RC_STR("x"), 2);
    UNIT_ARENA(arena, 1024);
    enum rc_message_id id;

    rc_gather_attend(gather, 0, 1);
    assert_null(rc_muster_nodes(&muster, gather, INT64_MAX - 1, &id, &arena));
    assert_null(rc_muster_tasks(&muster, gather, NULL, INT64_MAX - 1, &id, &arena));
    muster.seconds = 3;
    assert_null(rc_muster_nodes(&muster, NULL, INT64_MAX - 1, &id, &arena));
    assert_null(rc_muster_tasks(&muster, NULL, NULL, INT64_MAX - 1, &id, &arena));
    assert_null(rc_muster_end(&muster, NULL, RC_ENDED_WELL, &arena));
    rc_gathers_free(&gathers);
}

static void add_node(struct rc_gathers *gathers, struct rc_gather *roll, uint32_t node, const char *host,
                     const char *ranks)
{
    UNIT_ARENA(arena, 512);
    struct rc_gather_request request = { .member = node, .of = 4 };

    request.value = rc_str(
        rc_format(&arena, "roll=1\nscope=s\nhost=%s\nnode=%u\nnodes=4\nworld=8\ntasks=%s\n", host, node, ranks));
    rc_gather_arrive(gathers, roll, &request, 0);
}

UNIT_TEST(check_hosts, "tasks: missing ones are named with their hosts, if the roll call has all of them")
{
    struct rc_muster muster = { .seconds = 9, .job = 42 };
    struct rc_gathers gathers = { .tree = NULL };
    struct rc_gather *tasks_of = rc_gathers_find(&gathers, RC_STR("tasks"), 8);
    struct rc_gather *roll = rc_gathers_find(&gathers, RC_STR("roll"), 4);
    struct rc_muster again;
    UNIT_ARENA(arena, 4096);
    enum rc_message_id id;

    for (uint32_t task = 0; task < 8; task++)
        if (task != 2 && task != 3 && task != 7)
            rc_gather_attend(tasks_of, task, 0);
    again = muster;
    add_node(&gathers, roll, 3, "n4.example", "3,7");
    add_node(&gathers, roll, 1, "n2.example", "1,5");
    assert_string_equal(rc_muster_tasks(&muster, tasks_of, roll, 9000, &id, &arena),
                        "9 s after the first, 5 of 8 tasks have reached init_process_group, but not tasks 2-3,7; see "
                        "what they print and do (srun --jobid=42 --overlap -N1 ps xf, py-spy dump --pid PID); a "
                        "smaller world on purpose: watch=on");
    add_node(&gathers, roll, 2, "n3.example", "2,6");
    assert_string_equal(rc_muster_tasks(&again, tasks_of, roll, 9000, &id, &arena),
                        "9 s after the first, 5 of 8 tasks have reached init_process_group, but not tasks 2-3,7 on "
                        "n[3-4].example; see what they print and do (srun --jobid=42 --overlap -N1 -w n3 ps xf, py-spy "
                        "dump --pid PID); a smaller world on purpose: watch=on");
    rc_gathers_free(&gathers);
}

UNIT_TEST(check_many, "tasks: as many as there can be -> the line names the first, and counts the others")
{
    static const char expected[] = "3600 s after the first, 4097 of 16777216 tasks have reached init_process_group, "
                                   "but not tasks 1,3,5,7,9,11,13,15,17,19,21,23 and 16773107 more; ";
    struct rc_muster muster = { .seconds = 3600 };
    struct rc_gathers gathers = { .tree = NULL };
    struct rc_gather *gather = rc_gathers_find(&gathers, RC_STR("tasks"), RC_MAX_TASKS);
    UNIT_ARENA(arena, 1024);
    enum rc_message_id id;

    rc_gather_attend(gather, RC_MAX_TASKS - 1, 0);
    for (uint32_t task = 0; task < 8192; task += 2)
        rc_gather_attend(gather, task, 0);
    assert_memory_equal(rc_muster_tasks(&muster, gather, NULL, 3600000, &id, &arena), expected, sizeof(expected) - 1);
    rc_gathers_free(&gathers);
}

UNIT_TEST(check_server_tasks, "server that watches tasks: RC707 with hosts of the roll call, RC708 when all have come")
{
    struct server_child server = server_open((struct server_start){ .watch = 1 });

    server_answers(&server,
                   "gather roll 0 1 1 1 all\n"
                   "roll=1\nscope=slurm:42.0\nhost=n1\nnode=0\nnodes=1\nworld=2\ntasks=0-1\n",
                   "answer=1\nport=1\n");
    server_decides(&server, "1 whole\n");
    server_answers(&server, "attend tasks 0 2\n", "");
    server_answers(&server, "attend tasks 2 3\n", "");
    server_says(&server,
                "RC707 1 s after the first, 1 of 2 tasks have reached init_process_group, but not task 1 on n1; ");
    server_answers(&server, "attend tasks 1 2\n", "");
    server_says(&server, "RC708 all 2 tasks have reached init_process_group now, ");
    server_close(&server);
}

UNIT_TEST(check_server_nodes, "server that expects nodes: attendance, reports and roll call count as calls")
{
    struct server_child server = server_open((struct server_start){ .silence = 1 });

    server_answers(&server, "attend nodes 1 2\n", "");
    server_answers(&server, "attend nodes 2 3\n", "");
    server_says(&server, "RC621 nothing from n1 1 s after the first node's call; ");
    assert_int_equal(write(server.life, "w", 1), 1);
    server_says(&server, ENDED "n1; unless RC611 reports otherwise, its tasks ran without ranks\n");
    server_close(&server);
    server = server_open((struct server_start){ .silence = SERVER_GUARD });
    close(server_tell(&server, "gather roll 0 2 " SERVER_LONG " all\n"));
    server_answers(&server, "reported=1\nid=0\nnode=1\ntext=x\n", "");
    server_says(&server, "RC101 x\n");
    assert_int_equal(write(server.life, "w", 1), 1);
    server_close(&server);
}

UNIT_TEST(check_server_killed, "server whose srun is killed: missing nodes are not named")
{
    struct server_child server = server_open((struct server_start){ .silence = SERVER_GUARD });

    server_answers(&server, "look roll\n", "gathered 0 0\n");
    close(server.life);
    server.life = -1;
    server_close(&server);
}
