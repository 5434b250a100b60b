/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the tasks of a node go: the text that rollcall-map answers with, and what a task carries of it. */
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

#define TWO                                                        \
    "node fabric=mlx5_0,mlx5_1 network=ib0\n"                      \
    "pin cpus=0-7,64-71 cores=8 gpu=1 fabric=mlx5_0 network=ib0\n" \
    "pin cpus=8-11 cores=4 gpu=0 near=far shared=yes\n"

UNIT_TEST(reads, "an answer is read")
{
    struct rc_pins pins;
    struct rc_pin pin;

    assert_true(rc_pins_read(unit_guard(RC_STR(TWO)), &pins));
    assert_int_equal(pins.count, 2);
    assert_int_equal(pins.least_cores, 4);
    assert_true(rc_str_is(pins.fabric, "mlx5_0,mlx5_1"));
    assert_true(rc_str_is(pins.network, "ib0"));
    assert_true(rc_pins_at(&pins, 0, &pin));
    assert_true(rc_str_is(pin.cpus, "0-7,64-71"));
    assert_int_equal(pin.cores, 8);
    assert_int_equal(pin.gpu, 1);
    assert_true(rc_str_is(pin.fabric, "mlx5_0"));
    assert_false(pin.shared);
    assert_true(rc_pins_at(&pins, 1, &pin));
    assert_true(rc_str_is(pin.cpus, "8-11"));
    assert_false(pin.fabric.p);
    assert_true(pin.shared);
    assert_false(rc_pins_at(&pins, 2, &pin));
    assert_false(rc_pins_at(&pins, RC_UNKNOWN, &pin));
}

static const struct unit_text refused[] = {
    { NO_TEXT, "unset" },
    { TEXT(""), "empty" },
    { TEXT("node\n"), "no pin" },
    { TEXT("pin cpus=0 cores=1\n"), "no line for the node" },
    { TEXT("node\npin cores=1\n"), "no threads" },
    { TEXT("node\npin cpus=0-1\n"), "no cores" },
    { TEXT("node\npin cpus=0-1 cores=3\n"), "more cores than threads" },
    { TEXT("node\npin cpus=0-x cores=1\n"), "threads that are no list" },
    { TEXT("node\npin cpus= cores=1\n"), "an empty list" },
    { TEXT("node\npin cpus=0 cores=1 gpu=x\n"), "a GPU that is no number" },
    { TEXT("node\npin cpus=0 cores=1\nerror\n"), "another line among them" },
    { TEXT("node\npin cpus=0 cores=1\n\npin cpus=1 cores=1\n"), "an empty line" },
    { TEXT("error: no topology\n"), "an error" },
};

UNIT_ROWS(refuses, "pins refuse", refused)
{
    struct rc_pins pins, before;

    memset(&pins, 0x5a, sizeof(pins));
    memcpy(&before, &pins, sizeof(pins));
    assert_false(rc_pins_read(unit_guard(row->input), &pins));
    assert_memory_equal(&pins, &before, sizeof(pins));
}

/* A launch by hand, and one variable more, or NULL. */
static void be_given(const char **env, size_t room, const char *more)
{
    size_t count = 0;

    unit_words("RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 "
               "ROLLCALL_PINNED=1",
               env, room);
    while (env[count])
        count++;
    env[count++] = more;
    env[count] = NULL;
}

static bool is_planned(struct rc_result *result, const char *name)
{
    const struct rc_plan_entry *entry = rc_plan_find(&result->plan, rc_str(name));

    return entry && entry->action == RC_SET;
}

/* NULL: it is not set. */
static void expect_planned(struct rc_result *result, const char *name, const char *value)
{
    assert_int_equal(is_planned(result, name), value != NULL);
    if (value)
        assert_string_equal(rc_plan_find(&result->plan, rc_str(name))->value, value);
}

static const struct {
    struct rc_str input;
    uint32_t pin;
    const char *own_threads; /* OMP_NUM_THREADS that is there already, or NULL */
    const char *threads;
    const char *list;
    const char *why;
} plans[] = {
    { TEXT("worker"), 0, NULL, "8", NULL, "a worker's threads" },
    { TEXT("worker"), 1, NULL, "4", NULL, "another one's" },
    { TEXT("worker"), RC_UNKNOWN, NULL, NULL, NULL, "a worker that is not bound" },
    { TEXT("worker"), 0, "OMP_NUM_THREADS=3", NULL, NULL, "the user's own number" },
    { TEXT("worker"), 0, "OMP_NUM_THREADS=", NULL, NULL, "and what the user left empty" },
    { TEXT("launcher"), RC_UNKNOWN, NULL, "4", "0-7,64-71 8-11",
      "torchrun's workers: all lists, and the fewest cores" },
    { TEXT("launcher"), RC_UNKNOWN, "OMP_NUM_THREADS=1", NULL, "0-7,64-71 8-11", "with the user's own number" },
};

UNIT_ROWS(plans_variables, "pins plan", plans)
{
    static struct rc_result result;
    const char *env[10];
    struct rc_pins pins;
    struct rc_context context = { .env = env,
                                  .told = { .pins = &pins, .pin = row->pin, .pins_library = RC_STR("/x/p.so") } };
    UNIT_ARENA(arena, 64);
    struct rc_messages messages = { .arena = &arena };

    be_given(env, UNIT_COUNT(env), row->own_threads);
    assert_true(rc_pins_read(RC_STR(TWO), &pins));
    assert_true(rc_options_parse(row->input, "--ddp", &context.options, &messages));
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    expect_planned(&result, "OMP_NUM_THREADS", row->threads);
    expect_planned(&result, RC_PINS, row->list);
}

/* Two workers whose list, with the NUL after it, is so long. */
static bool has_room_for(size_t length)
{
    static const char first[] = "node\npin cpus=0 cores=1\npin cpus=";
    static const char last[] = " cores=1\n";
    static char text[5000];
    static struct rc_result result;
    const char *env[10];
    struct rc_pins pins;
    struct rc_context context = { .env = env,
                                  .options = { .given = true, .mode = RC_MODE_LAUNCHER },
                                  .told = { .pins = &pins, .pins_library = RC_STR("/x/p.so") } };
    char *cpus = text + sizeof(first) - 1;
    size_t n = length - sizeof("0 ");

    /* "1,0,0" or "10,0,0" */
    memcpy(text, first, sizeof(first) - 1);
    for (size_t i = 0; i < n; i++)
        cpus[i] = i == 0 ? '1' : i % 2 == n % 2 ? ',' : '0';
    memcpy(cpus + n, last, sizeof(last));
    be_given(env, UNIT_COUNT(env), NULL);
    assert_true(rc_pins_read(rc_str(text), &pins));
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    return is_planned(&result, RC_PINS);
}

UNIT_TEST(limits_list, "the list of the workers' cores has room for 4096 bytes")
{
    assert_true(has_room_for(4096));
    assert_false(has_room_for(4097));
}

struct preload_row {
    struct rc_str input; /* the options */
    const char *library;
    const char *there;   /* LD_PRELOAD=... in the environment, or NULL */
    const char *command; /* its words */
    const char *list;    /* that is planned; NULL: none, and no pins */
    enum rc_message_id said;
    const char *why;
};

static const struct preload_row preloads[] = {
    { TEXT("launcher"), "/x/p.so", NULL, "", "/x/p.so", 0, "the list is empty" },
    { TEXT("launcher"), "/x/p.so", "LD_PRELOAD=", "", "/x/p.so", 0, "the list is there, and empty" },
    { TEXT("launcher"), "/x/p.so", "LD_PRELOAD=/a.so /b.so", "", "/a.so /b.so:/x/p.so", 0, "after the user's own" },
    { TEXT("launcher"), "/x/p.so", "LD_PRELOAD=/a.so:/x/p.so", "", "/a.so:/x/p.so", 0, "once" },
    { TEXT("launcher,lookup=numeric"), "/x/p.so", "LD_PRELOAD=/a.so", "", "/a.so:/x/l.so:/x/p.so", 0,
      "beside that of look-ups" },
    { TEXT("launcher"), "/x/p.so", NULL, "env torchrun t.py", "/x/p.so", 0, "in a wrapper" },
    { TEXT("launcher"), "/x/p.so", NULL, "apptainer torchrun t.py", NULL, RC911, "in a container" },
    { TEXT("launcher,bind=cores"), "/x/p.so", NULL, "podman x", NULL, RC912, "in a container, though asked for" },
    { TEXT("launcher"), NULL, NULL, "", NULL, RC911, "no library" },
    { TEXT("launcher,bind=numa"), NULL, NULL, "", NULL, RC912, "no library, though asked for" },
    { TEXT("worker"), "/x/p.so", NULL, "", NULL, 0, "a worker is bound without it" },
};

static void plans_library(const struct preload_row *row)
{
    static struct rc_result result;
    const char *env[10];
    const char *argv[4];
    struct rc_here here = { .learned = RC_LEARN_REVERSE, .reverse = RC_STR("/x/l.so") };
    struct rc_pins pins;
    struct rc_context context = {
        .env = env, .argv = argv, .here = &here, .told = { .pins = &pins, .pins_library = rc_str(row->library) }
    };
    UNIT_ARENA(arena, 64);
    struct rc_messages messages = { .arena = &arena };
    bool said = false;

    be_given(env, UNIT_COUNT(env), row->there);
    unit_words(row->command, argv, UNIT_COUNT(argv));
    assert_true(rc_pins_read(RC_STR(TWO), &pins));
    assert_true(rc_options_parse(row->input, "--ddp", &context.options, &messages));
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    expect_planned(&result, "LD_PRELOAD", row->list);
    assert_int_equal(is_planned(&result, RC_PINS), row->list != NULL);
    for (unsigned i = 0; i < result.messages.count; i++)
        said = said || (row->said && result.messages.list[i].id == row->said);
    assert_int_equal(said, row->said != 0);
}
UNIT_TABLE(plans_library, "pins preload", preloads);

/* The list itself is as long as it may be: one more name does not fit. */
UNIT_TEST(refuses_long_list, "LD_PRELOAD is too long for one more library")
{
    static char there[2060];
    static const struct preload_row full = { TEXT("launcher"), "/x/p.so", there, "", NULL, RC911, "" };

    memset(there, 'x', sizeof(there) - 1);
    memcpy(there, "LD_PRELOAD=/", 12);
    plans_library(&full);
}
