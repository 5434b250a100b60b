/* SPDX-License-Identifier: BSD-3-Clause */
#include "shim.h"

#include "resolve/command.h"
#include "resolve/pins.h"
#include "system/node.h"
#include "system/sys.h"

/* Query the kernel: argv[0] may be anything, and musl does not pass it to constructors. */
static bool is_worker(const char *const *argv)
{
    char path[4096];
    long n = rc_sys_call(RC_SYS_NR(readlinkat), AT_FDCWD, (long)"/proc/self/exe", (long)path, sizeof(path), 0);
    struct rc_command command;

    if (n <= 0 || rc_command_starts_another((struct rc_str){ path, (size_t)n }))
        return false;
    rc_command_read(argv, &command);
    return command.kind == RC_COMMAND_UNKNOWN;
}

/* torchrun sets the number of local workers, Lightning the total. */
static bool counts_agree(const struct rc_env *env, uint32_t lists)
{
    struct rc_str local = rc_env_get(env, "LOCAL_WORLD_SIZE");
    uint32_t size;
    uint32_t nodes;

    if (local.p)
        return rc_parse_u32(local, RC_MAX_TASKS, &size) && size == lists;
    if (!rc_parse_u32(rc_env_get(env, "PET_NNODES"), RC_MAX_TASKS, &nodes))
        nodes = 1;
    return rc_parse_u32(rc_env_get(env, "WORLD_SIZE"), RC_MAX_TASKS, &size) && (uint64_t)nodes * lists == size;
}

static bool read_lists(struct rc_str lists, struct shim_pin *pin, uint32_t *count)
{
    bool found = false;

    pin->all = (struct rc_cpuset){ .word = { 0 } };
    for (*count = 0; lists.p; ++*count) {
        struct rc_str cpus = rc_str_split(lists, ' ', &lists);
        struct rc_cpuset set;

        if (!rc_cpuset_read(cpus, &set))
            return false;
        rc_cpuset_add(&pin->all, &set);
        if (*count != pin->local_rank)
            continue;
        pin->cpus = cpus;
        pin->own = set;
        found = true;
    }
    return found;
}

static bool find_own_cpus(const struct rc_env *env, const char *const *argv, struct shim_pin *pin)
{
    struct rc_str lists = rc_env_get(env, RC_PINS);
    uint32_t count;

    return lists.p && !rc_env_get(env, RC_PINNED).p &&
           rc_parse_u32(rc_env_get(env, "LOCAL_RANK"), RC_MAX_TASKS, &pin->local_rank) &&
           read_lists(lists, pin, &count) && counts_agree(env, count) && rc_affinity_get(&pin->before) &&
           rc_cpuset_is_within(&pin->all, &pin->before) && is_worker(argv);
}

/* Return false, with the environment unchanged, without room. */
static bool mark_pinned(struct shim_pin *pin, const struct rc_env *env, struct shim_table *table)
{
    char text[sizeof("4294967295")];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    pin->plan.count = 1;
    pin->plan.entry[0] = (struct rc_plan_entry){
        .action = RC_SET,
        .name = RC_STR(RC_PINNED),
        .value = rc_format(&arena, "%u", pin->local_rank),
    };
    return shim_table_apply(table, env, &pin->plan);
}

void shim_pin(struct shim_pin *pin, const struct rc_env *env, const char *const *argv, struct shim_table *table)
{
    if (!find_own_cpus(env, argv, pin) || !rc_affinity_set(&pin->own))
        return;
    if (!mark_pinned(pin, env, table))
        rc_affinity_set(&pin->before);
    else if (rc_debug_level(rc_env_get(env, RC_DEBUG)) > 0)
        shim_say_line("the worker with LOCAL_RANK=%u is bound to hardware threads %pQ\n", pin->local_rank, &pin->cpus);
}
