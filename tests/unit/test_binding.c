/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is bound, who asks what, and what becomes of the answer. Another program's part is played by this one
 * itself, under the name of what it does. */
#include "effects/binding.h"
#include "unit.h"

#include "system/gpufiles.h"
#include "system/node.h"

static const struct {
    struct rc_str input; /* the task's mask */
    enum rc_bind wish;
    const char *widest;
    uint32_t given;
    uint32_t online;
    uint32_t tasks;
    const char *expected; /* a part of why not; NULL: bound */
    const char *why;
} refusals[] = {
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", 8, 8, 4, NULL, "all of the node is the step's" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", 16, 8, 8, NULL, "a node that claims more than it has" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", RC_UNKNOWN, 64, 8, NULL, "no Slurm, but a cpuset" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", 4, 64, 8, NULL, "half of each core counts, and a cpuset" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", 4, 8, 4, "job's own", "a node that jobs share, without cgroups" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", RC_UNKNOWN, 8, 4, "job's own", "nobody says anything" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", RC_UNKNOWN, RC_UNKNOWN, 4, "job's own", "not even the machine" },
    { TEXT("0-3"), RC_BIND_UNSET, "0-7", 8, 8, 2, "bound it already", "task/affinity, mpirun, taskset" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", 8, 8, 9, "fewer cores", "more tasks than hardware threads" },
    { TEXT("0-3"), RC_BIND_CORES, "0-7", 4, 8, 9, NULL, "by name: none of these" },
    { TEXT("0-7"), RC_BIND_OFF, "0-7", 8, 8, 4, "bind=off", "switched off" },
    { TEXT("0-7"), RC_BIND_UNSET, "0-7", 8, 8, 0, "how many workers", "no number of workers" },
    { TEXT("0-7"), RC_BIND_CORES, "0-7", 8, 8, 4097, "how many workers", "more than any node has" },
};

UNIT_ROWS(check_refusal, "refuse", refusals)
{
    struct rc_binding binding = { .wish = row->wish, .given = row->given, .online = row->online };
    const char *why;

    assert_true(rc_cpuset_read(row->input, &binding.mask));
    assert_true(rc_cpuset_read(rc_str(row->widest), &binding.widest));
    why = rc_binding_refuse(&binding, row->tasks);
    assert_int_equal(why != NULL, row->expected != NULL);
    if (why)
        assert_non_null(strstr(why, row->expected));
}

UNIT_TEST(check_gpus, "the GPU of each local rank")
{
    UNIT_ARENA(arena, 64);

    assert_string_equal(rc_binding_gpus(RC_STR("0,1,2,3"), 1, &arena), "0,1,2,3");
    assert_string_equal(rc_binding_gpus(RC_STR("0,1,2,3"), 0, &arena), "0,1,2,3");
    assert_string_equal(rc_binding_gpus(RC_STR("0,1,2,3"), 2, &arena), "0,2");
    assert_string_equal(rc_binding_gpus(RC_STR("7"), 1, &arena), "7");
}

/* What is in the environment is Slurm's number, if it is one. */
UNIT_TEST(check_learn, "what is learned leaves the mask as it was")
{
    static const struct {
        const char *entry;
        uint32_t given;
    } rows[] = {
        { "SLURM_CPUS_ON_NODE=64", 64 },
        { "SLURM_CPUS_ON_NODE=0", RC_UNKNOWN },
        { "SLURM_CPUS_ON_NODE=", RC_UNKNOWN },
        { "SLURM_CPUS_ON_NODE=64(x2)", RC_UNKNOWN },
        { "SLURM_JOB_CPUS_PER_NODE=64", RC_UNKNOWN },
    };
    struct rc_cpuset before;
    struct rc_cpuset after;

    assert_true(rc_affinity_get(&before));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *const env[] = { rows[i].entry, NULL };
        struct rc_binding binding;
        struct rc_env index;

        rc_env_index(&index, env);
        assert_true(rc_binding_learn(&(struct rc_options){ .bind = RC_BIND_UNSET }, &index, &binding));
        assert_int_equal(binding.given, rows[i].given);
        assert_true(binding.online > 0);
        assert_true(rc_cpuset_is_within(&binding.mask, &binding.widest));
    }
    assert_true(rc_affinity_get(&after));
    assert_true(rc_cpuset_is_equal(&before, &after));
}

struct starved_row {
    struct rc_str input; /* SLURM_CPUS_ON_NODE */
    const char *each;    /* SLURM_CPUS_PER_TASK */
    const char *job;     /* SLURM_JOB_CPUS_PER_NODE */
    const char *server;  /* PMIx's, which is mpirun's daemon of this node */
    uint32_t tasks;
    uint32_t local_rank;
    bool expected;
    const char *why;
};

#define DAEMON(number) "prterun-n1-7@0." #number ";tcp4://10.0.0.1:5"

static const struct starved_row starved[] = {
    { TEXT("8"), "8", "32(x2)", DAEMON(1), 4, 0, true, "salloc -c8 mpirun" },
    { TEXT("1"), "2", "4", DAEMON(1), 2, 0, true, "one thread of a core" },
    { TEXT("8"), "8", "32(x2)", DAEMON(2), 4, 0, false, "the first node has said it" },
    { TEXT("8"), "8", "32(x2)", DAEMON(1), 4, 1, false, "the first task has" },
    { TEXT("8"), "8", "32(x2)", DAEMON(0), 4, 0, false, "mpirun in a step of 8 cores that was asked for" },
    { TEXT("32"), "8", "32(x2)", DAEMON(1), 4, 0, false, "the daemon has all, as with Slurm 22.05" },
    { TEXT("8"), "8", "32(x2)", DAEMON(1), 1, 0, false, "one task a node: they are meant for it" },
    { TEXT("8"), "", "32(x2)", DAEMON(1), 4, 0, false, "a step of its own making" },
    { TEXT("8"), "8", "", DAEMON(1), 4, 0, false, "nobody says what the job has" },
};

UNIT_ROWS(check_starved, "starved", starved)
{
    char lines[4][96];
    const char *const env[] = { "PMIX_NAMESPACE=prterun-n1-7@1", lines[0], lines[1], lines[2], lines[3], NULL };
    char wanted[96];
    UNIT_ARENA(arena, 512);
    static struct rc_result result;
    const char *said;

    snprintf(lines[0], sizeof(*lines), "SLURM_CPUS_ON_NODE=%s", row->input.p);
    snprintf(lines[1], sizeof(*lines), "SLURM_CPUS_PER_TASK=%s", row->each);
    snprintf(lines[2], sizeof(*lines), "SLURM_JOB_CPUS_PER_NODE=%s", row->job);
    snprintf(lines[3], sizeof(*lines), "PMIX_SERVER_URI41=%s", row->server);
    rc_env_index(&result.env, env);
    result.identity.field[RC_LOCAL_WORLD_SIZE] = row->tasks;
    result.identity.field[RC_LOCAL_RANK] = row->local_rank;
    result.launcher = &rc_launcher_openmpi;
    said = rc_binding_starved(&result, &arena);
    assert_int_equal(said != NULL, row->expected);
    snprintf(wanted, sizeof(wanted), "mpirun's %u tasks share %s of the job's ", row->tasks, row->input.p);
    assert_true(!said || strstr(said, wanted) == said);
    /* another launcher's task, or nobody's */
    result.launcher = &rc_launcher_slurm;
    assert_null(rc_binding_starved(&result, &arena));
    result.launcher = NULL;
    assert_null(rc_binding_starved(&result, &arena));
}

#define BY(who, each)        \
    {                        \
        RC_BOUND_##who, each \
    }
#define SLURMS               "SLURM_CPU_BIND_TYPE=mask_cpu: "
#define LISTED(list, others) SLURMS "SLURM_CPU_BIND_LIST=" list " " others

/* Task 1 of a node's four, whose job has 256 CPUs there and promised 64 to each; it may run on one. */
static const struct {
    struct rc_str input; /* variables besides, which win */
    struct rc_bound bound;
    const char *expected; /* a part of it; NULL: nothing is said */
    const char *why;
} shorts[] = {
    { TEXT(SLURMS), BY(BY_SLURM, 1), "type srun --cpus-per-task=$SLURM_CPUS_PER_TASK", "srun of 22.05" },
    { TEXT(SLURMS), BY(BY_SLURM, 64), NULL, "srun took it over: who knows why" },
    { TEXT(""), BY(BY_SLURM, 64), "it was bound before Slurm started it", "slurmd under taskset, and no plugin" },
    { TEXT("SLURM_CPU_BIND_TYPE=none"), BY(BY_SLURM, 1), "it was bound before", "the same with --cpu-bind=none" },
    { TEXT(SLURMS), BY(BY_LEFTOVER, 64), "type unset SLURM_CPU_BIND before srun", "another step's mask" },
    { TEXT(SLURMS), BY(BY_LEFTOVER, 1), "type unset SLURM_CPU_BIND before srun", "with an old srun, too" },
    { TEXT(SLURMS), BY(BY_USER, 1), NULL, "a mask that was typed" },

    /* rollcall exec */
    { TEXT(LISTED("1", "")), BY(UNKNOWN, 0), "srun has bound it so", "one mask for four tasks, as srun was told" },
    { TEXT(LISTED("0x1,0x2,0x4,0x8", "")), BY(UNKNOWN, 0), "srun has bound it so", "a core each: srun of 22.05" },
    { TEXT(LISTED("0x1,0x80000000000000000000,0x4,0x8", "")), BY(UNKNOWN, 0), "srun has bound it so", "a long mask" },
    { TEXT(LISTED("1,2,4,8", "")), BY(UNKNOWN, 0), NULL, "typed, one for each" },
    { TEXT(LISTED("0x1,0x3,0x4,0x8", "")), BY(UNKNOWN, 0), NULL, "the user's taskset within Slurm's two" },
    { TEXT("SLURM_CPU_BIND_TYPE=map_cpu: SLURM_CPU_BIND_LIST=0"), BY(UNKNOWN, 0), NULL, "--cpu-bind=map_cpu" },
    { TEXT("SLURM_CPU_BIND_TYPE=none"), BY(UNKNOWN, 0), NULL, "--cpu-bind=none, and the user's taskset" },
    { TEXT(""), BY(UNKNOWN, 0), NULL, "without task/affinity" },

    /* no promise */
    { TEXT("SLURM_CPUS_PER_TASK=1 " SLURMS), BY(BY_SLURM, 1), NULL, "one was promised" },
    { TEXT("SLURM_CPUS_PER_TASK=65 " SLURMS), BY(BY_SLURM, 1), NULL, "more than the job has: another job's" },
    { TEXT("SLURM_CPUS_PER_TASK= " SLURMS), BY(BY_SLURM, 1), NULL, "nothing was" },
    { TEXT("SLURM_CPUS_PER_TASK=many " SLURMS), BY(BY_SLURM, 1), NULL, "no number" },
    { TEXT("SLURM_JOB_CPUS_PER_NODE=256,192 " SLURMS), BY(BY_SLURM, 1), NULL, "a node of the job has fewer" },
    { TEXT("SLURM_JOB_CPUS_PER_NODE=? " SLURMS), BY(BY_SLURM, 1), NULL, "nobody says what the job has" },
    { TEXT("SLURM_STEP_TASKS_PER_NODE=4(x2),5 " SLURMS), BY(BY_SLURM, 1), NULL, "five tasks on one of the nodes" },
    { TEXT("SLURM_STEP_TASKS_PER_NODE= " SLURMS), BY(BY_SLURM, 1), NULL, "nobody says how many tasks" },
    { TEXT("SLURM_OVERCOMMIT=1 " SLURMS), BY(BY_SLURM, 1), NULL, "--overcommit" },
    { TEXT("SLURM_CPUS_PER_GPU=4 " SLURMS), BY(BY_SLURM, 1), NULL, "--cpus-per-gpu" },
    { TEXT("SLURM_HET_SIZE=2 " SLURMS), BY(BY_SLURM, 1), NULL, "components" },
};

UNIT_ROWS(check_short, "fewer CPUs", shorts)
{
    static struct rc_result result;
    char text[1024];
    const char *env[16];
    struct rc_cpuset all, one;
    uint32_t first = 0;
    const char *said;
    UNIT_ARENA(arena, 512);

    assert_true(rc_affinity_get(&all));
    if (unit_skips(rc_cpuset_count(&all) < 2, "needs two CPUs"))
        return;
    while (!(all.word[first / 64] >> (first % 64) & 1))
        first++;
    memset(&one, 0, sizeof(one));
    one.word[first / 64] = UINT64_C(1) << (first % 64);
    snprintf(text, sizeof(text),
             "%.*s SLURMD_NODENAME=n1 SLURM_CPUS_PER_TASK=64 SLURM_JOB_CPUS_PER_NODE=256(x2) "
             "SLURM_STEP_TASKS_PER_NODE=4",
             (int)row->input.n, row->input.p);
    unit_words(text, env, UNIT_COUNT(env));
    rc_env_index(&result.env, env);
    result.facts.field[RC_LOCAL_WORLD_SIZE].value = 4;
    result.facts.field[RC_LOCAL_RANK].value = 1;
    result.launcher = &rc_launcher_slurm;

    assert_null(rc_binding_short(&result, &row->bound, &arena)); /* two at least */
    assert_true(rc_affinity_set(&one));
    said = rc_binding_short(&result, &row->bound, &arena);
    /* how many threads a core has is not known where nobody has mounted /sys, as in some build roots */
    assert_int_equal(said != NULL, row->expected != NULL && access(RC_SYSFS_CORE, R_OK) == 0);
    if (said) {
        assert_ptr_equal(strstr(said, "a task of n1 may use 1 of SLURM_CPUS_PER_TASK=64 CPUs: "), said);
        assert_non_null(strstr(said, row->expected));
    }
    /* mpirun's daemon, a task of a launch that rollcall has set up, another launcher's, nobody's */
    result.command.kind = RC_COMMAND_DAEMON;
    assert_null(rc_binding_short(&result, &row->bound, &arena));
    result.command.kind = RC_COMMAND_UNKNOWN;
    result.stamped = true;
    assert_null(rc_binding_short(&result, &row->bound, &arena));
    result.stamped = false;
    result.launcher = &rc_launcher_openmpi;
    assert_null(rc_binding_short(&result, &row->bound, &arena));
    result.launcher = NULL;
    assert_null(rc_binding_short(&result, &row->bound, &arena));
    assert_true(rc_affinity_set(&all));
}

static char folder[] = "/tmp/rollcall-binding-XXXXXX";
static char answer[RC_BINDING_ANSWER];
static bool broken;

/* Asks this program as `name`; why not, or NULL. */
static const char *ask(const char *name, enum rc_bind wish, uint32_t tasks, const char *gpus, struct rc_pins *pins)
{
    static char text[256];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_binding binding = { .wish = wish, .cards = wish == RC_BIND_AUTO };
    char path[128];

    assert_true(rc_cpuset_read(RC_STR("0-3,8-11"), &binding.widest));
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return rc_binding_ask(path, &binding, tasks, gpus, answer, pins, &broken, &arena);
}

UNIT_TEST(check_ask, "question and answer")
{
    static const char *const names[] = { "good", "bad", "fails", "dies", "silent" };
    char path[128];
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    struct rc_pins pins;

    assert_true(n > 0);
    self[n] = '\0';
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(symlink(self, path), 0);
    }
    assert_null(ask("good", RC_BIND_UNSET, 2, "0,1", &pins));
    assert_true(rc_str_is(pins.network, "tasks=2|bind=cores|cards=no|cpus=0-3,8-11|gpus=0,1|"));
    assert_null(ask("good", RC_BIND_NUMA, 2, NULL, &pins));
    assert_true(rc_str_is(pins.network, "tasks=2|bind=numa|cards=no|cpus=0-3,8-11|"));
    assert_null(ask("good", RC_BIND_AUTO, 2, NULL, &pins)); /* as of nic=auto */
    assert_true(rc_str_is(pins.network, "tasks=2|bind=cores|cpus=0-3,8-11|"));
    /* of a line's end in a name nobody makes another key */
    assert_null(ask("good", RC_BIND_CORES, 2, "0\ntasks=9", &pins));
    assert_true(rc_str_is(pins.network, "tasks=2|bind=cores|cards=no|cpus=0-3,8-11|"));
    assert_non_null(strstr(ask("good", RC_BIND_CORES, 3, NULL, &pins), "something else"));
    assert_non_null(strstr(ask("bad", RC_BIND_CORES, 2, NULL, &pins), "something else"));
    assert_non_null(strstr(ask("silent", RC_BIND_CORES, 2, NULL, &pins), "something else"));
    assert_non_null(
        strstr(ask("fails", RC_BIND_CORES, 2, NULL, &pins), "rollcall-map fails; rollcall map prints the reason"));
    assert_non_null(
        strstr(ask("dies", RC_BIND_CORES, 2, NULL, &pins), "rollcall-map fails; rollcall map prints the reason"));
    assert_true(broken);
    assert_null(ask("good", RC_BIND_CORES, 2, NULL, &pins));
    assert_false(broken);
    assert_non_null(strstr(ask("none", RC_BIND_CORES, 2, NULL, &pins), "is not there"));
    assert_false(broken);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

UNIT_TEST(check_reject, "cores that tasks share")
{
    static const struct rc_str one = { "node\npin cpus=0 cores=1\npin cpus=1 cores=1 shared=yes\n", 54 };
    static const struct rc_str none = { "node\npin cpus=0 cores=1\npin cpus=1 cores=1 shared=no\n", 53 };
    struct rc_binding binding = { .wish = RC_BIND_AUTO };
    struct rc_pins pins;

    assert_true(rc_pins_read(one, &pins));
    assert_non_null(rc_binding_reject(&binding, &pins));
    binding.wish = RC_BIND_CORES;
    assert_null(rc_binding_reject(&binding, &pins));
    binding.wish = RC_BIND_AUTO;
    assert_true(rc_pins_read(none, &pins));
    assert_true(rc_cpuset_read(rc_str("0-1"), &binding.mask));
    assert_null(rc_binding_reject(&binding, &pins));
    /* a third core would be nobody's */
    assert_true(rc_cpuset_read(rc_str("0-2"), &binding.mask));
    assert_non_null(rc_binding_reject(&binding, &pins));
    binding.wish = RC_BIND_NUMA;
    assert_null(rc_binding_reject(&binding, &pins));
}

UNIT_TEST(check_bind, "exactly the pin's threads, or none")
{
    const char *const env[] = { NULL };
    struct rc_binding binding;
    struct rc_env index;
    struct rc_cpuset now;
    char text[64];
    char mixed[80];
    struct rc_pin pin = { .cores = 1 };

    rc_env_index(&index, env);
    assert_true(rc_binding_learn(&(struct rc_options){ .bind = RC_BIND_CORES }, &index, &binding));
    for (uint32_t cpu = 0; cpu < RC_CPUS_MAX; cpu++) {
        if (!(binding.mask.word[cpu / 64] >> (cpu % 64) & 1))
            continue;
        snprintf(text, sizeof(text), "%u", (unsigned)cpu);
        snprintf(mixed, sizeof(mixed), "%s,8191", text);
        break;
    }
    /* wider than allowed, or nothing: stays as it is */
    pin.cpus = rc_str(mixed);
    assert_false(rc_binding_bind(&binding, &pin));
    pin.cpus = RC_STR("8191");
    assert_false(rc_binding_bind(&binding, &pin));
    pin.cpus = RC_STR("");
    assert_false(rc_binding_bind(&binding, &pin));
    assert_true(rc_affinity_get(&now));
    assert_true(rc_cpuset_is_equal(&now, &binding.mask));
    pin.cpus = rc_str(text);
    assert_true(rc_binding_bind(&binding, &pin));
    assert_true(rc_affinity_get(&now));
    assert_int_equal(rc_cpuset_count(&now), 1);
    assert_true(rc_affinity_set(&binding.mask));
}

UNIT_TEST(is_wanted, "a placement is asked about for its cards alone")
{
    struct rc_context context = { .options = { .bind = RC_BIND_OFF } };
    static struct rc_result result = { .mode = RC_MODE_WORKER };

    assert_false(rc_binding_is_wanted(&context, &result));
    context.options.nic = RC_NICS_OFF;
    assert_false(rc_binding_is_wanted(&context, &result));
    context.options.nic = RC_NICS_AUTO;
    assert_true(rc_binding_is_wanted(&context, &result));
    context.options = (struct rc_options){ .bind = RC_BIND_CORES };
    assert_true(rc_binding_is_wanted(&context, &result));
}

/* As rollcall-map: the request comes back as the name of a network. */
static int play(const char *name)
{
    char text[4096];
    size_t n = fread(text, 1, sizeof(text) - 1, stdin);

    text[n] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = '|';
    if (!strcmp(name, "good"))
        printf("node network=%s\npin cpus=0 cores=1\npin cpus=1 cores=1\n", text);
    if (!strcmp(name, "bad"))
        puts("node\npin cpus=x");
    if (!strcmp(name, "dies"))
        abort();
    if (!strcmp(name, "fails"))
        fprintf(stderr, "/x/rollcall-map: error while loading: libx.so.1\n");
    return !strcmp(name, "fails");
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "pins"))
        return play(argv[0]);
    return unit_run();
}
