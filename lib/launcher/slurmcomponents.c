/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/slurmcomponents.h"

#include "launcher/hostlist.h"

static struct rc_str component_variable(const struct rc_env *env, const char *name, const char *kind,
                                        uint32_t component)
{
    char text[sizeof("SLURM_JOB_NODELIST_PACK_GROUP_") + 10];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    return rc_env_find(env, rc_str(rc_format(&arena, "%s_%s_GROUP_%u", name, kind, component)));
}

/* salloc and sbatch write HET_GROUP, srun writes PACK_GROUP where it makes the job itself. Those whose first
 * component is another job are of a launch further outside; false where all are. */
static bool find_kind(const struct rc_env *env, const char **kind)
{
    static const char kinds[][5] = { "HET", "PACK" };
    bool of_others = false;

    *kind = NULL;
    for (unsigned i = 0; i < 2 && !*kind; i++) {
        struct rc_str leader = component_variable(env, "SLURM_JOB_ID", kinds[i], 0);

        if (leader.p && rc_str_eq(leader, rc_env_get(env, "SLURM_JOB_ID")))
            *kind = kinds[i];
        else if (leader.p)
            of_others = true;
    }
    return *kind || !of_others;
}

bool rc_slurmcomponents_are_there(const struct rc_env *env)
{
    const char *kind;

    /* a batch script has those of a job that it was submitted from */
    return rc_env_get(env, "SLURM_HET_SIZE").n && find_kind(env, &kind);
}

bool rc_slurmcomponents_read(const struct rc_env *env, struct rc_slurmcomponents *components)
{
    const char *kind;
    uint32_t hosts;

    if (!find_kind(env, &kind) || !kind ||
        !rc_parse_u32(rc_env_get(env, "SLURM_HET_SIZE"), RC_SLURMCOMPONENTS_MAX, &components->count))
        return false;
    for (uint32_t i = 0; i < components->count; i++) {
        components->hosts[i] = component_variable(env, "SLURM_JOB_NODELIST", kind, i);
        if (!rc_hostlist_count(components->hosts[i], &hosts))
            return false;
    }
    return true;
}

bool rc_slurmcomponents_find(const struct rc_slurmcomponents *components, struct rc_str name,
                             struct rc_slurmposition *position)
{
    position->component = RC_UNKNOWN;
    for (uint32_t i = 0; i < components->count; i++) {
        uint32_t index = rc_hostlist_find(components->hosts[i], name);

        if (index == RC_UNKNOWN)
            continue;
        if (position->component != RC_UNKNOWN)
            return false;
        *position = (struct rc_slurmposition){ i, index };
    }
    return position->component != RC_UNKNOWN;
}
