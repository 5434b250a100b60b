/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "effects/binding.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "launcher/families.h"
#include "launcher/layout.h"
#include "resolve/command.h"
#include "resolve/pins.h"
#include "system/gpufiles.h"
#include "system/node.h"
#include "system/program.h"

/* Long: all nodes may load the library from one file server. */
enum { DEADLINE_MS = 5000, REQUEST_SIZE = 32768, LIST_SIZE = 4096, PATH_SIZE = 4096 };

static uint32_t count_listed(const char *path)
{
    char text[LIST_SIZE];
    struct rc_cpuset listed;
    struct rc_str line;
    struct rc_str rest;

    line = rc_str_split((struct rc_str){ text, rc_file_read(path, text, sizeof(text)) }, '\n', &rest);
    /* a line without its end may be incomplete */
    return rest.p && rc_cpuset_read(line, &listed) ? rc_cpuset_count(&listed) : RC_UNKNOWN;
}

/* slurmd counts SLURM_CPUS_ON_NODE in the step's credential (22.05 to 26.05 src/slurmd/slurmd/req.c: step_core_bitmap
 * times threads per core; set in src/common/env.c), so it holds with --exact, --overlap and concurrent steps.
 * SLURM_JOB_CPUS_PER_NODE is the job's; tasks times SLURM_CPUS_PER_TASK lacks what --exclusive adds; S_STEP_ALLOC_CORES
 * has Slurm's order and is unset in rollcall exec. */
static uint32_t count_given(const struct rc_env *env)
{
    uint32_t given;

    return rc_parse_u32(rc_env_get(env, "SLURM_CPUS_ON_NODE"), RC_CPUS_MAX, &given) && given > 0 ? given : RC_UNKNOWN;
}

bool rc_binding_learn(const struct rc_options *options, const struct rc_env *env, struct rc_binding *binding)
{
    *binding = (struct rc_binding){
        .wish = options->bind, .cards = options->nic == RC_NICS_AUTO, .given = count_given(env), .online = RC_UNKNOWN
    };
    if (!rc_affinity_get(&binding->mask) || !rc_affinity_widest(&binding->widest))
        return false;
    if (rc_bind_is_auto(binding->wish))
        binding->online = count_listed(RC_SYSFS_ONLINE);
    return true;
}

/* Only the job has these cores if Slurm gave as many, or a cpuset holds the job. */
static bool is_own(const struct rc_binding *binding)
{
    uint32_t threads = rc_cpuset_count(&binding->widest);

    return (binding->given != RC_UNKNOWN && threads <= binding->given) ||
           (binding->online != RC_UNKNOWN && threads < binding->online);
}

const char *rc_binding_refuse(const struct rc_binding *binding, uint32_t tasks)
{
    if (binding->wish == RC_BIND_OFF)
        return "bind=off";
    if (tasks == 0 || tasks > RC_PINS_TASKS_MAX)
        return "it is not known how many workers the node has";
    if (!rc_bind_is_auto(binding->wish))
        return NULL;
    if (!rc_cpuset_is_equal(&binding->mask, &binding->widest))
        return "its launcher, taskset or numactl has bound it already";
    if (!is_own(binding))
        return "the node's cores are not known to be the job's own";
    return tasks > rc_cpuset_count(&binding->widest) ? "there are fewer cores than tasks" : NULL;
}

/* mpirun starts its daemons by srun, each with one task's cores (measured: Slurm 24.11 with Open MPI 5.0.7; not 22.05
 * with 4.1.4, nor 26.05 with 6). Daemon 0 is mpirun, not a task of that srun. */
const char *rc_binding_starved(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_env *env = &result->env;
    uint32_t tasks = result->identity.field[RC_LOCAL_WORLD_SIZE];
    uint32_t given = count_given(env);
    struct rc_tasklist job;
    uint32_t each;

    if (!result->launcher || !result->launcher->has_mpidaemon || rc_openmpi_daemon(env) != 1 ||
        result->identity.field[RC_LOCAL_RANK] != 0 || tasks == RC_UNKNOWN || tasks < 2 || given == RC_UNKNOWN ||
        !rc_parse_u32(rc_env_get(env, "SLURM_CPUS_PER_TASK"), RC_CPUS_MAX, &each) || given > each ||
        !rc_tasklist_parse(rc_env_get(env, "SLURM_JOB_CPUS_PER_NODE"), &job) || given >= job.smallest)
        return NULL;
    return rc_format(
        arena,
        "mpirun's %u tasks share %u of the job's %u cores on this node: SLURM_CPUS_PER_TASK=%u limits the "
        "daemon that starts them; start it so: env -u SLURM_CPUS_PER_TASK -u SLURM_TRES_PER_TASK mpirun ...",
        tasks, given, job.smallest, each);
}

/* Return true if srun bound a task of rollcall exec by mistake. Slurm's masks begin with 0x, users' do not
 * (src/common/slurm_resource_info.c, _expand_mult), and no user's for several tasks is smaller than -c. If the mask is
 * not the local id's entry, it is taskset's. */
static bool is_mistake(const struct rc_result *result, uint32_t has)
{
    struct rc_str list = rc_env_get(&result->env, "SLURM_CPU_BIND_LIST");
    uint32_t count = rc_str_pieces(list, ',');
    struct rc_str entry;
    bool is_own;
    uint32_t bits = 0;

    if (!list.n || !rc_str_is(rc_env_get(&result->env, "SLURM_CPU_BIND_TYPE"), "mask_cpu:"))
        return false;
    entry = rc_gpu_list_at(list, result->facts.field[RC_LOCAL_RANK].value % count);
    is_own = rc_str_starts(entry, "0x");
    for (size_t i = is_own ? 2 : 0; i < entry.n; i++)
        bits += (uint32_t)__builtin_popcountll(rc_hexadecimal((struct rc_str){ entry.p + i, 1 }));
    return bits == has && (is_own || count < result->facts.field[RC_LOCAL_WORLD_SIZE].value);
}

/* Return why a task has fewer CPUs than promised, or NULL if unknown. */
static const char *find_cause(const struct rc_result *result, const struct rc_bound *bound, uint32_t promised,
                              uint32_t has)
{
    struct rc_str type = rc_env_get(&result->env, "SLURM_CPU_BIND_TYPE");

    if (bound->by == RC_BOUND_UNKNOWN && is_mistake(result, has))
        return "srun has bound it so; type srun --cpus-per-task=$SLURM_CPUS_PER_TASK, which srun before 23.11 does not "
               "take over, and unset SLURM_CPU_BIND if another step left it";
    if (bound->by == RC_BOUND_BY_LEFTOVER)
        return "SLURM_CPU_BIND, left by another step, is in srun's environment; type unset SLURM_CPU_BIND before srun";
    if (bound->by == RC_BOUND_BY_SLURM && (!type.n || rc_str_is(type, "none")))
        return "it was bound before Slurm started it (slurmd under taskset or CPUAffinity=); restart slurmd without "
               "that, or use --ddp=bind=cores";
    if (bound->by == RC_BOUND_BY_SLURM && bound->each < promised)
        return "this srun does not take that over; type srun --cpus-per-task=$SLURM_CPUS_PER_TASK";
    return NULL;
}

uint32_t rc_binding_promised(const struct rc_result *result)
{
    return result->launcher && result->launcher->slurm_environment ? rc_slurm_promise(&result->env) : 0;
}

const char *rc_binding_short(const struct rc_result *result, const struct rc_bound *bound, struct rc_arena *arena)
{
    bool is_set = result->stamped || rc_command_starts_tasks(&result->command);
    uint32_t promised = is_set ? 0 : rc_binding_promised(result);
    struct rc_str node = rc_env_get(&result->env, "SLURMD_NODENAME");
    struct rc_cpuset mask, widest;
    const char *cause;
    uint32_t has;

    if (!promised || !rc_affinity_get(&mask) || (has = rc_cpuset_count(&mask)) >= promised)
        return NULL;
    /* the promise may be one thread of each core (--hint=nomultithread) */
    if ((uint64_t)has * count_listed(RC_SYSFS_CORE) >= promised || !rc_affinity_widest(&widest) ||
        rc_cpuset_is_equal(&mask, &widest))
        return NULL;
    cause = find_cause(result, bound, promised, has);
    return cause ? rc_format(arena, "a task of %pS may use %u of SLURM_CPUS_PER_TASK=%u CPUs: %s", &node, has, promised,
                             cause)
                 : NULL;
}

/* Not a fault if the node has no more CPUs. */
static const char *count_workers(const struct rc_result *result, uint32_t workers, uint32_t has, uint32_t online,
                                 struct rc_arena *arena)
{
    if (online == RC_UNKNOWN || has >= workers || has >= online)
        return NULL;
    return rc_format(arena, "%u workers share %u of the node's %u CPUs; %s%u", workers, has, online,
                     result->launcher->slurm_environment ? "type srun --cpus-per-task="
                                                         : "make the launcher give the task this many: ",
                     workers);
}

/* mpirun binds each process to one core by default. */
static const char *count_cores(const struct rc_result *result, uint32_t has, uint32_t threads, struct rc_arena *arena)
{
    uint32_t tasks = result->identity.field[RC_LOCAL_WORLD_SIZE];
    struct rc_cpuset widest;
    uint32_t cores;

    if (result->launcher->slurm_environment || !result->launcher->processes[0] || tasks == RC_UNKNOWN || tasks == 0 ||
        threads == RC_UNKNOWN || has > threads || !rc_affinity_widest(&widest))
        return NULL;
    cores = rc_cpuset_count(&widest) / threads / tasks;
    return cores < 2 ? NULL
                     : rc_format(arena,
                                 "each process may use one core, though the node has %u for each: its launcher bound "
                                 "it; type mpirun --bind-to none",
                                 cores);
}

const char *rc_binding_crowded(const struct rc_context *context, const struct rc_result *result, struct rc_arena *arena)
{
    struct rc_cpuset mask;
    uint32_t has;

    if (result->stamped || !rc_affinity_get(&mask) || !(has = rc_cpuset_count(&mask)))
        return NULL;
    if (result->mode == RC_MODE_LAUNCHER)
        return count_workers(result, rc_pinning_workers(context, result), has, count_listed(RC_SYSFS_ONLINE), arena);
    return result->mode == RC_MODE_WORKER ? count_cores(result, has, count_listed(RC_SYSFS_CORE), arena) : NULL;
}

const char *rc_binding_gpus(struct rc_str list, uint32_t each, struct rc_arena *arena)
{
    const char *text = rc_copy(arena, RC_STR(""));

    for (uint32_t i = 0; list.p; i++) {
        struct rc_str name = rc_str_split(list, ',', &list);

        if (each > 1 && i % each != 0)
            continue;
        rc_join(arena);
        rc_format(arena, i ? ",%pS" : "%pS", &name);
    }
    return text;
}

const char *rc_binding_ask(const char *path, const struct rc_binding *binding, uint32_t tasks, const char *gpus,
                           char *answer, struct rc_pins *pins, bool *broken, struct rc_arena *arena)
{
    static const char *const nothing[] = { NULL };
    char text[REQUEST_SIZE];
    struct rc_arena request = { .base = text, .size = sizeof(text) };
    const struct rc_pins_question question = {
        .tasks = tasks,
        .bind = binding->wish == RC_BIND_NUMA ? RC_PINS_NUMA : RC_PINS_CORES,
        .no_cards = !binding->cards,
        .cpus = rc_str(rc_cpuset_write(&binding->widest, &request)),
        .gpus = gpus && !strchr(gpus, '\n') ? rc_str(gpus) : RC_ABSENT, /* with a newline it names no GPUs */
    };
    const struct rc_program program = {
        .path = path,
        .argument = "pins",
        .env = nothing, /* the user's HWLOC_* could describe another machine */
        .input = rc_str(rc_pairs_write(&rc_pins_question_form, &question, &request)),
        .milliseconds = DEADLINE_MS,
    };
    ssize_t n;
    int status;

    if (!program.input.p)
        return "the question to rollcall-map would be too long";
    n = rc_program_run(&program, answer, RC_BINDING_ANSWER, &status);
    if (n == -ENOENT)
        return "rollcall-map is not there (a build without hwloc)";
    *broken = true;
    if (n < 0)
        return rc_format(arena, "rollcall-map could not be queried: %s", strerror((int)-n));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return "rollcall-map fails; rollcall map prints the reason";
    if (!rc_pins_read((struct rc_str){ answer, (size_t)n }, pins) || pins->count != tasks)
        return "rollcall-map answers something else (of another release?)";
    *broken = false;
    return NULL;
}

const char *rc_binding_reject(const struct rc_binding *binding, const struct rc_pins *pins)
{
    struct rc_cpuset all = { .word = { 0 } };
    struct rc_cpuset cpus;
    struct rc_pin pin;

    if (!rc_bind_is_auto(binding->wish))
        return NULL;
    for (uint32_t i = 0; rc_pins_at(pins, i, &pin); i++) {
        /* if two tasks must share cores, all are better off with all cores */
        if (pin.shared)
            return "there are fewer cores than tasks";
        if (rc_cpuset_read(pin.cpus, &cpus))
            rc_cpuset_add(&all, &cpus);
    }
    /* on a DGX A100 half of the cores, which data loaders need */
    if (!rc_cpuset_is_within(&binding->mask, &all))
        return "some cores are near no task's GPU and would be idle; bind=cores binds all the same";
    return NULL;
}

bool rc_binding_bind(const struct rc_binding *binding, const struct rc_pin *pin)
{
    struct rc_cpuset wanted;
    struct rc_cpuset now;

    if (!rc_cpuset_read(pin->cpus, &wanted) || rc_cpuset_count(&wanted) == 0 ||
        !rc_cpuset_is_within(&wanted, &binding->widest) || !rc_affinity_set(&wanted))
        return false;
    /* the kernel silently drops threads that a shrunk cpuset lacks */
    if (rc_affinity_get(&now) && rc_cpuset_is_equal(&now, &wanted))
        return true;
    rc_affinity_set(&binding->mask);
    return false;
}

/* With unknown GPUs tasks could get cores near another's. */
static const char *find_doubt(const struct rc_result *result)
{
    const struct rc_gpus *gpus = &result->gpus;
    bool known = result->mode == RC_MODE_LAUNCHER ? gpus->own.p != NULL : gpus->place != RC_UNKNOWN;

    return gpus->usable && !known ? "it is unknown which of the node's GPUs are this task's" : NULL;
}

/* Plan again with the pins, or only the cards if `why` is set. */
static void plan_pins(const struct rc_binder *binder, const struct rc_pins *pins, const char *why,
                      struct rc_context *context, struct rc_result *result)
{
    char library[PATH_SIZE];

    if (result->mode == RC_MODE_LAUNCHER)
        context->told.pins_library = rc_beside_library(binder->relative, RC_PINS_LIBRARY, library, sizeof(library));
    context->told.pins = pins;
    context->told.cards_only = why != NULL;
    rc_resolve_again(context, result);
    context->told.pins = NULL;
    context->told.pins_library = RC_ABSENT;
}

bool rc_binding_is_wanted(const struct rc_context *context, const struct rc_result *result)
{
    if (result->launcher && result->launcher->alone && rc_bind_is_auto(context->options.bind))
        return false;
    return (context->options.bind != RC_BIND_OFF || context->options.nic == RC_NICS_AUTO) && !result->stamped &&
           (result->mode == RC_MODE_WORKER || result->mode == RC_MODE_LAUNCHER);
}

const char *rc_binding_broken_on(bool broken, const struct rc_result *result, char name[RC_NODE_NAME_SIZE])
{
    struct rc_str node = rc_env_get(&result->env, "SLURMD_NODENAME");

    return !broken ? NULL : node.n ? node.p : rc_node_name(name);
}

const char *rc_binding_try(const char *path, const struct rc_context *context, const struct rc_result *result,
                           struct rc_arena *arena)
{
    static char answer[RC_BINDING_ANSWER];
    struct rc_binding binding;
    struct rc_pins pins;
    bool broken = false;
    const char *why = NULL;

    if (rc_binding_is_wanted(context, result) && rc_binding_learn(&context->options, &result->env, &binding) &&
        !rc_binding_refuse(&binding, 1))
        why = rc_binding_ask(path, &binding, 1, NULL, answer, &pins, &broken, arena);
    return broken ? why : NULL;
}

const char *rc_binding_run(const struct rc_binder *binder, struct rc_context *context, struct rc_result *result)
{
    struct rc_binder asked = *binder;
    struct rc_binding binding;
    struct rc_pins pins;
    struct rc_pin pin = { .cores = 0 };
    const char *doubt = find_doubt(result);
    const char *why;
    const char *failed;

    if (!rc_binding_learn(&context->options, &result->env, &binding))
        return "the kernel does not return its list of CPUs";
    why = rc_binding_refuse(&binding, binder->tasks);
    if (!why)
        why = doubt;
    /* unbound tasks need the cards, too */
    if (why && (!binding.cards || binder->tasks > RC_PINS_TASKS_MAX))
        return why;
    if (why && binder->tasks == 0)
        asked.tasks = 1;
    failed = binder->ask(&asked, &binding, &pins);
    if (failed && why)
        *binder->broken = false;
    if (failed)
        return why ? why : failed;
    if (!why)
        why = rc_binding_reject(&binding, &pins);
    context->told.pin = RC_UNKNOWN;
    if (result->mode == RC_MODE_WORKER && !doubt)
        context->told.pin = binder->take ? binder->take(&asked, &pins) : binder->local;
    if (!why && result->mode == RC_MODE_WORKER &&
        (!rc_pins_at(&pins, context->told.pin, &pin) || !rc_binding_bind(&binding, &pin)))
        why = "the kernel does not let it run on the cores that were chosen";
    plan_pins(binder, &pins, why, context, result);
    return why;
}
