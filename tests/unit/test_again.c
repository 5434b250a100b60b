/* SPDX-License-Identifier: BSD-3-Clause */
/* What rc_resolve_again plans is what a whole rc_resolve with the same context plans. */
#include "resolve/command.h"
#include "resolve/resolve.h"
#include "unit.h"

static const char *const command[] = { "env", "python", "train.py", NULL };

static struct rc_here here;
static const struct rc_step_gpus step_gpus = { .numbers = RC_STR("0,1") };

static struct rc_context first_context(void)
{
    static const char *task[16];

    unit_words("SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_GTIDS=2,3 "
               "SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE=2(x2) "
               "SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_GPUS=0,1 CUDA_VISIBLE_DEVICES=1 PATH=/usr/bin",
               task, UNIT_COUNT(task));
    return (struct rc_context){ .env = task, .argv = command, .slurm_certain = true, .step_gpus = &step_gpus };
}

static void tell_port(struct rc_context *context)
{
    context->told.port = 23456;
}

static void tell_address(struct rc_context *context)
{
    context->told = (struct rc_told){ .addr = "10.0.0.1", .addr_source = "a look-up", .interface = "ib0" };
}

static void tell_order(struct rc_context *context)
{
    context->told.order = (struct rc_ordered){ .place = 0, .before = 0, .host = RC_STR("n2") };
    context->told.port = 23456;
}

static void fail_order(struct rc_context *context)
{
    context->options.order = RC_ORDER_TOPOLOGY;
    context->told.unordered = "the nodes have none";
}

static void learn_gpu_files(struct rc_context *context)
{
    here = (struct rc_here){ .learned = RC_LEARN_GPU_FILES, .gpu_files = 2, .gpu_files_open = 2, .gpus_open = 3 };
    context->here = &here;
}

static void learn_watch(struct rc_context *context)
{
    here = (struct rc_here){ .learned = RC_LEARN_WATCH, .watch = RC_STR("/opt/watch") };
    context->here = &here;
    context->options.watch = RC_WATCH_ON;
}

static void have_no_order(struct rc_context *context)
{
    context->told.order = (struct rc_ordered){ .place = 9, .before = 0, .host = RC_STR("n2") };
}

static void learn_nothing(struct rc_context *context)
{
    (void)context;
}

static const struct {
    struct rc_str input;
    void (*learn)(struct rc_context *context);
    const char *why;
} rows[] = {
    { TEXT("nothing"), learn_nothing, "the same once more" },
    { TEXT("port"), tell_port, "the port that the nodes agreed on" },
    { TEXT("address"), tell_address, "the address and interface that were looked up" },
    { TEXT("order"), tell_order, "RANK and master follow the order" },
    { TEXT("no order"), fail_order, "RC308" },
    { TEXT("wrong order"), have_no_order, "RC103 refuses the task" },
    { TEXT("gpu files"), learn_gpu_files, "which GPUs may be opened" },
    { TEXT("watch"), learn_watch, "the watch's folder" },
};

static void compare_plans(const struct rc_plan *a, const struct rc_plan *b)
{
    assert_int_equal(a->count, b->count);
    for (unsigned i = 0; i < a->count; i++) {
        assert_true(rc_str_eq(a->entry[i].name, b->entry[i].name));
        assert_int_equal(a->entry[i].action, b->entry[i].action);
        assert_int_equal(a->entry[i].changes, b->entry[i].changes);
        assert_string_equal(a->entry[i].value ? a->entry[i].value : "", b->entry[i].value ? b->entry[i].value : "");
    }
}

static void compare_results(const struct rc_result *a, const struct rc_result *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->mode, b->mode);
    assert_memory_equal(&a->identity, &b->identity, sizeof(a->identity));
    assert_string_equal(a->master.addr ? a->master.addr : "", b->master.addr ? b->master.addr : "");
    assert_int_equal(a->master.port, b->master.port);
    assert_int_equal(a->messages.has_error, b->messages.has_error);
    assert_int_equal(a->messages.count, b->messages.count);
    for (unsigned i = 0; i < a->messages.count; i++)
        assert_string_equal(a->messages.list[i].text, b->messages.list[i].text);
    compare_plans(&a->plan, &b->plan);
}

UNIT_ROWS(plans_as_the_first_time, "planned again with", rows)
{
    static struct rc_result again, whole;
    struct rc_context context = first_context();

    assert_int_equal(rc_resolve(&context, &again), RC_RESOLVED);
    /* what happens between the two leaves nothing */
    rc_message_add(&again.messages, RC405, "the port is taken");
    row->learn(&context);
    rc_resolve_again(&context, &again);
    rc_resolve(&context, &whole);
    compare_results(&again, &whole);
}

/* A warning of an act on the machine is still true; what an error led to is the caller's business. */
UNIT_TEST(keeps_what_was_said, "what was said between two plans is said by each later one, once")
{
    static struct rc_result result;
    struct rc_context context = first_context();

    rc_resolve(&context, &result);
    rc_say(&result.messages, RC611, "the nodes %s", "did not meet");
    rc_say(&result.messages, RC405, "the port is taken");
    for (unsigned i = 0; i < 3; i++) {
        rc_resolve_again(&context, &result);
        assert_false(result.messages.has_error);
        assert_int_equal(result.messages.count, 1);
        assert_int_equal(result.messages.list[0].id, RC611);
        assert_string_equal(result.messages.list[0].text, "the nodes did not meet");
    }
    rc_resolve(&context, &result);
    assert_int_equal(result.messages.count, 0);
}

/* The other way round: a task that was refused starts once the order is right. */
UNIT_TEST(recovers, "a task that was refused is planned once the order is right")
{
    static struct rc_result again, whole;
    struct rc_context context = first_context();

    have_no_order(&context);
    assert_int_equal(rc_resolve(&context, &again), RC_CONTRADICTION);
    tell_order(&context);
    assert_int_equal(rc_resolve_again(&context, &again), RC_RESOLVED);
    rc_resolve(&context, &whole);
    compare_results(&again, &whole);
}

/* Who has read the command line already says so. */
UNIT_TEST(keeps_command, "a command that was read is not read again")
{
    static const char *const other[] = { "torchrun", "train.py", NULL };
    static struct rc_result result;
    struct rc_context context = first_context();

    rc_command_read(command, &result.command);
    context.argv = other;
    context.command_read = true;
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    assert_true(rc_str_is(result.command.script, "train.py"));
}

/* A task prolog may unset SLURM_PROCID in a step that a task of mpirun has started. */
UNIT_TEST(stays_with_slurm, "plugin: SLURM_PROCID is missing beside Open MPI's variables -> RC102")
{
    static struct rc_result result;
    const char *task[20];
    struct rc_context context = { .env = task, .slurm_certain = true };

    unit_words("SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_STEP_NUM_TASKS=4 "
               "SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE=2(x2) SLURM_STEP_NODELIST=n[1-2] "
               "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 "
               "OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=77 PMIX_RANK=3",
               task, UNIT_COUNT(task));
    assert_int_equal(rc_resolve_certain(&context, &result), RC_CONTRADICTION);
    assert_int_equal(rc_messages_error(&result.messages)->id, RC102);
}
