/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/leftover.h"

#include "resolve/address.h"
#include "resolve/agents.h"
#include "resolve/frameworks.h"
#include "resolve/nicnames.h"
#include "resolve/planning.h"

static const char reason[] = "left over from the task that sbatch was called in";

static const struct rc_name group_names[] = { RC_NAME("GROUP_RANK"), RC_NAME("GROUP_WORLD_SIZE") };

/* PET_NPROC_PER_NODE and a PET_RDZV_CONF may be the user's own: a task in launcher mode keeps both. */
static const struct rc_name launcher_names[] = { RC_NAME("NODE_RANK"), RC_NAME("PET_NNODES"), RC_NAME("PET_NODE_RANK"),
                                                 RC_NAME("PET_RDZV_ID") };

static const struct rc_name own_names[] = {
    RC_NAME(RC_STAMP), RC_NAME(RC_KEPT_NAME), RC_NAME(RC_ORDERED),  RC_NAME(RC_IDENTITY),
    RC_NAME(RC_PINS),  RC_NAME(RC_PINNED),    RC_NAME(RC_REPORTED),
};

static const struct rc_name masters[][2] = { { RC_NAME("MASTER_ADDR"), RC_NAME("MASTER_PORT") },
                                             { RC_NAME("PET_MASTER_ADDR"), RC_NAME("PET_MASTER_PORT") } };

static void unset_names(struct rc_result *result, const struct rc_name *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rc_plan_unset(result, rc_name(&names[i]), reason);
}

#define UNSET(result, names) unset_names((result), (names), sizeof(names) / sizeof(*(names)))

/* A master whose port is another one is somebody's own. */
static void unset_masters(struct rc_result *result)
{
    for (size_t i = 0; i < sizeof(masters) / sizeof(*masters); i++) {
        uint32_t port;

        if (rc_parse_u32(rc_env_find_name(&result->env, &masters[i][1]), UINT16_MAX, &port) &&
            port == result->stamp.port)
            UNSET(result, masters[i]);
    }
}

static void unset_ranks(struct rc_result *result)
{
    if (result->stamp.launcher) {
        UNSET(result, launcher_names);
        if (rc_str_starts(rc_env_get(&result->env, "PET_RDZV_CONF"), "is_host="))
            rc_plan_unset(result, RC_STR("PET_RDZV_CONF"), reason);
        if (rc_agents_met_there(result))
            rc_plan_unset(result, RC_STR(RC_AGENTS_ENDPOINT), reason);
        return;
    }
    for (unsigned i = 0; i < RC_STAMP_TOLD; i++)
        rc_plan_unset(result, rc_planning_told_name(i), reason);
    UNSET(result, group_names);
}

void rc_leftover_plan(struct rc_result *result, const char *job)
{
    static const struct rc_context nothing;

    bool is_known = result->stamp.launcher || result->stamp.told.p;

    if (!is_known || !job || rc_stamp_is_in_job(&result->stamp, job))
        return;
    result->stamp_is_outer = true;
    if (!rc_planning_is_changed(result, false)) {
        unset_ranks(result);
        unset_masters(result);
        for (unsigned i = 0; i < RC_FRAMEWORK_COUNT; i++)
            rc_plan_unset(result, rc_framework_variable(result, (enum rc_framework_index)i).name, reason);
    }
    rc_address_forget(result);
    rc_nicnames_plan(&nothing, result);
    UNSET(result, own_names);
}
