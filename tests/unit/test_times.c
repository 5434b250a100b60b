/* SPDX-License-Identifier: BSD-3-Clause */
/* What start-up took: what a task may tell of itself, what the server makes of it, what is said, and the way there and
 * back as a text. */
#include "config.h"

#include "rendezvous/times.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "rendezvous/startup.h"
#include "rendezvous/timesread.h"

enum { TEXT_SIZE = 2048 };

struct row {
    struct rc_str input;
    const char *why;
};

static const struct row wrong_words[] = {
    { TEXT(""), "an empty word" },
    { TEXT("torch=1"), "torch alone" },
    { TEXT("torch=1 init=2"), "not when it was sent" },
    { TEXT("torch=1 joined=3 sent=4"), "joined without a call" },
    { TEXT("init=2 sent=4"), "without torch" },
    { TEXT("sent=4"), "when it was sent alone" },
    { TEXT("torch=3 init=2 sent=4"), "torch behind the call" },
    { TEXT("torch=1 init=5 sent=4"), "a call that is yet to come" },
    { TEXT("torch=1 init=3 joined=2 sent=4"), "joined before the call" },
    { TEXT("torch=1 init=2 joined=5 sent=4"), "it will have joined" },
    { TEXT("torch=1 torch=1 init=2 sent=4"), "twice" },
    { TEXT("torch=1 init=2 sent=4 "), "a blank behind it" },
    { TEXT("torch=1  init=2 sent=4"), "two blanks" },
    { TEXT("torch=1 init=2 sent"), "no value" },
    { TEXT("torch=1 init=2 sent="), "an empty value" },
    { TEXT("torch=1 init=2 =3 sent=4"), "no name" },
    { TEXT("torch=-1 init=2 sent=4"), "a sign" },
    { TEXT("torch=01 init=2 sent=4"), "a leading zero" },
    { TEXT("torch=1.5 init=2 sent=4"), "a fraction" },
    { TEXT("torch=1 init=2 sent=4294967295"), "what stands for nothing" },
    { TEXT("torch=1 init=2 sent=4294967296"), "wraps to 0" },
    { TEXT("torch=1\0 init=2 sent=4"), "a NUL" },
};

static void refuses_words(const void *data)
{
    const struct row *row = data;
    struct rc_told told = { 7, 7, 7, 7 };

    assert_false(rc_told_read(unit_guard(row->input), &told));
    assert_int_equal(told.torch + told.init + told.joined + told.sent, 28);
}

static void takes_words(const void *data)
{
    struct rc_told told;

    (void)data;
    assert_true(rc_told_read(RC_ABSENT, &told));
    assert_int_equal(told.sent, RC_UNKNOWN);
    assert_true(rc_told_read(unit_guard(RC_STR("torch=1 init=2 sent=3")), &told));
    assert_int_equal(told.torch, 1);
    assert_int_equal(told.init, 2);
    assert_int_equal(told.joined, RC_UNKNOWN);
    assert_int_equal(told.sent, 3);
    assert_true(rc_told_read(RC_STR("torch=0 init=0 joined=0 sent=4294967294 newer=x"), &told));
    assert_int_equal(told.joined, 0);
    assert_int_equal(told.sent, RC_UNKNOWN - 1);
}

static void tell(struct rc_times *times, uint32_t task, const char *words, int64_t now)
{
    struct rc_told told;

    assert_true(rc_told_read(rc_str(words), &told));
    rc_times_take(times, task, 4, &told, now);
}

static void stands(const struct rc_times *times, uint32_t task, uint32_t begun, uint32_t torch, uint32_t init,
                   uint32_t joined)
{
    const uint32_t expected[] = { begun, torch, init, joined };

    for (unsigned mark = 0; mark < RC_MARKS; mark++)
        assert_int_equal(times->task[task].at[mark], expected[mark]);
}

/* By the server's clock: a process that told at 15.004 s, 5 s after its start, has begun at 10.004 s. */
static void by_the_servers_clock(const void *data)
{
    struct rc_times times = { .base = 1000000 };

    (void)data;
    tell(&times, 2, "torch=4000 init=4500 sent=5000", 1015004);
    stands(&times, 2, 10004, 14004, 14504, 0);
    /* the same process, on another way to the server */
    tell(&times, 2, "torch=4000 init=4500 joined=9000 sent=9001", 1019003);
    stands(&times, 2, 10002, 14002, 14502, 19002);
    assert_int_equal(times.told, 1);
    assert_int_equal(times.joined, 1);
    /* begun before the server, and longer ago than there are milliseconds */
    tell(&times, 0, "torch=4000 init=4500 sent=90000", 1015000);
    stands(&times, 0, 1, 4001, 4501, 0);
    tell(&times, 1, "torch=4294967294 init=4294967294 sent=4294967294", 900000);
    stands(&times, 1, 1, RC_UNKNOWN - 1, RC_UNKNOWN - 1, 0);
    tell(&times, 3, "torch=1 init=2 sent=3", INT64_MAX / 2);
    stands(&times, 3, RC_UNKNOWN - 4, RC_UNKNOWN - 3, RC_UNKNOWN - 2, 0);
    rc_times_free(&times);
}

/* Of several processes of a task the last one counts; another program behind them does not. */
static void several_processes(const void *data)
{
    struct rc_times times = { .base = 0 };

    (void)data;
    tell(&times, 0, "torch=100 init=200 sent=200", 1200);
    tell(&times, 0, "torch=150 init=350 sent=350", 1400);
    stands(&times, 0, 1050, 1200, 1400, 0);
    tell(&times, 0, "torch=100 init=200 sent=1000", 2000);
    stands(&times, 0, 1050, 1200, 1400, 0);
    tell(&times, 0, "torch=100 init=200 joined=900 sent=1000", 2000);
    stands(&times, 0, 1000, 1100, 1200, 1900);
    tell(&times, 0, "torch=150 init=350 joined=900 sent=950", 2000);
    stands(&times, 0, 1050, 1200, 1400, 1950);
    tell(&times, 0, "torch=10 init=20 sent=30", 2500);
    tell(&times, 0, "torch=10 init=20 joined=30 sent=40", 2500);
    stands(&times, 0, 1050, 1200, 1400, 1950);
    assert_int_equal(times.told, 1);
    assert_int_equal(times.joined, 1);
    rc_times_free(&times);
}

static void too_many_tasks(const void *data)
{
    struct rc_times times = { .base = 0 };
    const struct rc_told told = { 1, 2, RC_UNKNOWN, 3 };

    (void)data;
    rc_times_take(&times, RC_MAX_TASKS - 1, RC_MAX_TASKS, &told, 10);
    rc_times_take(&times, 0, RC_TIMES_TASKS_MAX + 1, &told, 10);
    assert_null(times.task);
    rc_times_take(&times, RC_TIMES_TASKS_MAX - 1, RC_TIMES_TASKS_MAX, &told, 10);
    assert_int_equal(times.told, 1);
    rc_times_free(&times);
}

static struct rc_roll node(uint32_t number, const char *host, const char *tasks)
{
    return (struct rc_roll){ .host = rc_str(host), .tasks = rc_str(tasks), .node = number, .world = 4 };
}

static const char *line(const struct rc_times *times, const struct rc_roll *rolls, size_t count)
{
    static char space[TEXT_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };

    return rc_startup_line(times, rolls, count, &arena);
}

/* A step of four tasks on two nodes, whose roll call takes a second. */
static struct rc_times two_nodes(uint32_t torch_of_2, uint32_t torch_of_3)
{
    struct rc_times times = { .base = 0 };
    const uint32_t torch[] = { 2000, 2100, torch_of_2, torch_of_3 };

    rc_times_call(&times, 0, 900);
    rc_times_call(&times, 1, 1000);
    rc_times_answer(&times, 1001);
    rc_times_answer(&times, 5000);
    for (uint32_t task = 0; task < 4; task++) {
        struct rc_told told = { 500 + torch[task], 1500 + torch[task], 65000, 65000 };

        rc_times_take(&times, task, 4, &told, 65500);
    }
    return times;
}

static void nobody_stands_out(const void *data)
{
    const struct rc_roll rolls[] = { node(1, "n2", "2-3"), node(0, "n1", "0-1") };
    struct rc_times times = two_nodes(2900, 2999);

    (void)data;
    assert_string_equal(
        line(&times, rolls, 2),
        "start-up took 66 s, in the median of 4 tasks: the roll call was reached after 0.9 s, torch came "
        "in after 2.1 s, init_process_group was called 1.0 s after torch came in, init_process_group "
        "took 61 s");
    rc_times_free(&times);
}

static void one_node_stands_out(const void *data)
{
    const struct rc_roll rolls[] = { node(1, "n2.example", "2-3"), node(0, "n1.example", "0-1") };
    struct rc_times times = two_nodes(2500, 41000);

    (void)data;
    /* the process began before the end of the roll call, for which it waited */
    assert_string_equal(line(&times, rolls, 2),
                        "start-up took 66 s: torch came in after 41 s on n2.example, 2.1 s in the median of 4 tasks");
    /* where it is not known who is where */
    assert_string_equal(line(&times, rolls + 1, 1),
                        "start-up took 66 s: torch came in after 41 s in task 3, 2.1 s in the median of 4 tasks");
    rc_times_free(&times);
    times = two_nodes(41000, 41001);
    assert_string_equal(line(&times, NULL, 0),
                        "start-up took 66 s: torch came in after 41 s in tasks 2-3, 2.1 s in the median of 4 tasks");
    rc_times_free(&times);
}

/* Twice the median, and no second more; a second more, and not twice; no tenth of the whole; and what is nearer to the
 * others than to the slowest one. */
static void what_stands_out(const void *data)
{
    static const struct {
        uint32_t median, slow, slowest, init;
        const char *expected;
    } rows[] = {
        { 900, 900, 1800, 1800, "" },           { 100, 100, 1099, 1099, "" },
        { 100, 100, 1100, 1100, "on n3" },      { 2000, 2000, 3999, 3999, "" },
        { 2000, 2000, 4000, 4000, "on n3" },    { 2000, 2000, 4000, 19998, "on n3" },
        { 2000, 2000, 4000, 20010, "" },        { 2000, 22000, 40000, 40000, "on n[2-3]" },
        { 2000, 20000, 40000, 40000, "on n3" }, { 0, 0, 1000, 1000, "on n3" },
    };
    const struct rc_roll rolls[] = { node(0, "n1", "0-1"), node(1, "n2", "2"), node(2, "n3", "3") };

    (void)data;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const uint32_t torch[] = { rows[i].median, rows[i].median, rows[i].slow, rows[i].slowest };
        struct rc_times times = { .base = 0 };
        struct rc_startup startup;
        char space[TEXT_SIZE];
        struct rc_arena arena = { .base = space, .size = sizeof(space) };

        for (uint32_t task = 0; task < 4; task++)
            rc_times_take(&times, task, 4, &(struct rc_told){ torch[task], rows[i].init, RC_UNKNOWN, 60000 }, 60001);
        assert_true(rc_startup_find(&times, 3, &startup));
        assert_string_equal(rc_startup_odd(&times, &startup, RC_STAGE_TORCH, rolls, 3, &arena), rows[i].expected);
        assert_int_equal(startup.stage[RC_STAGE_JOIN].count, 0);
        rc_times_free(&times);
    }
}

static void a_node_that_calls_late(const void *data)
{
    const struct rc_roll rolls[] = { node(0, "n1", "0"), node(1, "n2", "1"), node(2, "n3", "2-3") };
    struct rc_times times = two_nodes(2000, 2000);

    (void)data;
    rc_times_call(&times, 2, 45000);
    times.answered = 45001;
    assert_string_equal(line(&times, rolls, 3),
                        "start-up took 66 s: the roll call was reached after 45 s on n3, 1.0 s in "
                        "the median of 3 nodes");
    rc_times_free(&times);
}

/* The two gravest of three. */
static void several_stages(const void *data)
{
    const struct rc_roll rolls[] = { node(0, "n1", "0"), node(1, "n2", "1"), node(2, "n3", "2"), node(3, "n4", "3") };
    struct rc_times times = { .base = 0 };

    (void)data;
    rc_times_answer(&times, 1000);
    rc_times_take(&times, 0, 4, &(struct rc_told){ 1000, 2000, RC_UNKNOWN, 59000 }, 60000);
    rc_times_take(&times, 1, 4, &(struct rc_told){ 1000, 2000, RC_UNKNOWN, 39000 }, 60000);
    rc_times_take(&times, 2, 4, &(struct rc_told){ 31000, 32000, RC_UNKNOWN, 59000 }, 60000);
    rc_times_take(&times, 3, 4, &(struct rc_told){ 1000, 6000, RC_UNKNOWN, 59000 }, 60000);
    assert_string_equal(
        line(&times, rolls, 4),
        "start-up of 4 of 4 tasks so far: torch came in after 31 s on n3, 1.0 s in the median of 4 tasks; "
        "the program began 20 s after the roll call on n2, 0.0 s in the median of 4 tasks");
    rc_times_free(&times);
}

static void without_anything(const void *data)
{
    struct rc_times times = { .base = 0 };

    (void)data;
    assert_null(line(&times, NULL, 0));
    rc_times_call(&times, 0, 10);
    assert_null(line(&times, NULL, 0));
    tell(&times, 3, "torch=1000 init=1100 sent=1200", 3200);
    /* on one node there is no roll call */
    assert_string_equal(
        line(&times, NULL, 0),
        "start-up of 1 of 4 tasks so far, in the median of 1 tasks: the program began 2.0 s after srun, "
        "torch came in after 1.0 s, init_process_group was called 0.1 s after torch came in");
    rc_times_free(&times);
}

/* As long as a line of it can be. */
static void the_longest(const void *data)
{
    static char host[4][300];
    struct rc_roll rolls[4];
    struct rc_times times = { .base = 0 };

    (void)data;
    for (uint32_t i = 0; i < 4; i++) {
        memset(host[i], 'a' + (int)i, sizeof(host[i]) - 1);
        rolls[i] = node(i, host[i], i == 0 ? "0" : i == 1 ? "1" : i == 2 ? "2" : "3");
        rc_times_take(&times, i, 4,
                      &(struct rc_told){ i < 2 ? 1000 : 2000000000, i < 2 ? 1000 : 4100000000, RC_UNKNOWN, 4200000000 },
                      4200000001);
    }
    assert_non_null(line(&times, rolls, 4));
    assert_true(strlen(line(&times, rolls, 4)) < 600);
    rc_times_free(&times);
}

/* There and back. */
static void as_text(const void *data)
{
    const struct rc_roll rolls[] = { node(1, "n2", "2-3"), node(0, "n 1", "0-1") };
    struct rc_times times = two_nodes(2500, 41000);
    struct rc_times_read read = { .count = 0 };
    size_t size;
    char *text = rc_times_text(&times, rolls, 2, &size);

    (void)data;
    assert_string_equal(text, "times=1\ntasks=4\nanswered=1001\nnode=1 900 2-3 n2\nnode=0 1000 0-1 n 1\n"
                              "task=0 500 3000 4000 65500\ntask=1 500 3100 4100 65500\ntask=2 500 3500 4500 65500\n"
                              "task=3 500 42000 43000 65500\n");
    assert_int_equal(size, strlen(text));
    assert_true(rc_times_read((struct rc_str){ text, size }, &read));
    assert_string_equal(line(&read.times, read.roll, read.count),
                        "start-up took 66 s: torch came in after 41 s on n2, 2.1 s in the median of 4 tasks");
    assert_true(rc_str_is(rc_times_node_of(&read, 1)->host, "n 1"));
    assert_true(rc_str_is(rc_times_node_of(&read, 3)->host, "n2"));
    assert_null(rc_times_node_of(&read, 4));
    rc_times_read_free(&read);
    free(text);
    rc_times_free(&times);
}

/* 100,000 tasks are no more than some megabytes, of which those that nobody wrote are not there. */
static void a_large_step(const void *data)
{
    struct rc_times times = { .base = 0 };
    struct rc_times_read read = { .count = 0 };
    size_t size;
    char *text;

    (void)data;
    for (uint32_t task = 0; task < 100000; task++)
        rc_times_take(&times, task, 100000, &(struct rc_told){ 1000 + task % 7, 2000, 3000, 4000 }, 9000);
    text = rc_times_text(&times, NULL, 0, &size);
    assert_true(size < 4000000);
    assert_true(rc_times_read((struct rc_str){ text, size }, &read));
    assert_int_equal(read.times.joined, 100000);
    assert_string_equal(line(&read.times, NULL, 0), line(&times, NULL, 0));
    rc_times_read_free(&read);
    free(text);
    rc_times_free(&times);
}

static const struct row wrong_texts[] = {
    { TEXT(""), "nothing" },
    { TEXT("times=2\n"), "another kind" },
    { TEXT("answer=1\n"), "an answer" },
    { TEXT("times=1\ntasks=4"), "no end of the line" },
    { TEXT("times=1\n\n"), "an empty line" },
    { TEXT("times=1\ntasks=0\n"), "no tasks" },
    { TEXT("times=1\ntasks=131073\n"), "more tasks than are kept" },
    { TEXT("times=1\ntasks=4\ntasks=4\n"), "tasks twice" },
    { TEXT("times=1\ntask=0 1 2 3 4\n"), "a task without a number of tasks" },
    { TEXT("times=1\ntasks=4\ntask=4 1 2 3 4\n"), "a task that the step has not" },
    { TEXT("times=1\ntasks=4\ntask=0 1 2 3 4\ntask=0 1 2 3 4\n"), "a task twice" },
    { TEXT("times=1\ntasks=4\ntask=0 1 2 3\n"), "a number missing" },
    { TEXT("times=1\ntasks=4\ntask=0 1 2 3 4 5\n"), "a number too many" },
    { TEXT("times=1\ntasks=4\ntask=0 0 0 0 0\n"), "never begun" },
    { TEXT("times=1\ntasks=4\ntask=0 1 3 2 4\n"), "not in order" },
    { TEXT("times=1\ntasks=4\ntask=0 1 2 3 2\n"), "joined before the call" },
    { TEXT("times=1\ntasks=4\ntask=0 1 2 3 4294967295\n"), "what stands for nothing" },
    { TEXT("times=1\ntasks=4\ntask=0 1 2 -3 4\n"), "a sign" },
    { TEXT("times=1\nnode=0 1 0-1\n"), "a node without a name" },
    { TEXT("times=1\nnode=0 1 0-1 \n"), "a node with an empty one" },
    { TEXT("times=1\nnode=0 1 1-0 n1\n"), "ranges that are none" },
    { TEXT("times=1\nnode=0 x 0 n1\n"), "no time" },
    { TEXT("times=1\nanswered=x\n"), "an answer at no time" },
    { TEXT("times=1\nnode=0 1 0 n\033[2J\n"), "an escape sequence" },
};

static void refuses_text(const void *data)
{
    const struct row *row = data;
    struct rc_times_read read = { .count = 0 };

    assert_false(rc_times_read(unit_guard(row->input), &read));
    rc_times_read_free(&read);
}

static void skips_what_is_newer(const void *data)
{
    struct rc_times_read read = { .count = 0 };

    (void)data;
    assert_true(rc_times_read(RC_STR("times=1\nnewer=7\nnode=0 0 0-16777215 n1\ntasks=2\ntask=1 1 1 1 0\n"), &read));
    assert_int_equal(rc_times_called(&read.times, 0), 0);
    assert_int_equal(read.times.told, 1);
    assert_true(rc_str_is(rc_times_node_of(&read, 0)->host, "n1"));
    rc_times_read_free(&read);
}

int main(void)
{
    UNIT_TABLE(refuses_words, "no times", wrong_words);
    unit_add_one(takes_words, "what a task may tell");
    unit_add_one(by_the_servers_clock, "by the server's clock");
    unit_add_one(several_processes, "several processes of a task");
    unit_add_one(too_many_tasks, "too many tasks");
    unit_add_one(nobody_stands_out, "nobody stands out");
    unit_add_one(one_node_stands_out, "one node stands out");
    unit_add_one(what_stands_out, "what stands out");
    unit_add_one(a_node_that_calls_late, "a node that calls late");
    unit_add_one(several_stages, "several stages");
    unit_add_one(without_anything, "of one task, and of none");
    unit_add_one(the_longest, "as long as a line can be");
    unit_add_one(as_text, "there and back as a text");
    unit_add_one(a_large_step, "a large step");
    UNIT_TABLE(refuses_text, "no text of a server's", wrong_texts);
    unit_add_one(skips_what_is_newer, "what a newer server says");
    return unit_run("times");
}
