/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "items.h"
#include "launcher/taskmap.h"
#include "options.h"
#include "resolve/resolve.h"

/* Longer maps are not passed on: one entry of an environment may have 128 KiB. That is
 * 14,000 runs at least. */
enum { MAP_MAX = 96 * 1024, WORDS_MAX = 256 * 1024 };

/* Functions of srun's own libslurmfull. Weak, because the plugin binds at start and is
 * loaded by other programs as well. */
extern slurm_step_layout_t *slurm_job_step_layout_get(slurm_step_id_t *step_id) __attribute__((weak));
extern void slurm_job_step_layout_free(slurm_step_layout_t *layout) __attribute__((weak));

/* Looks for `-m arbitrary` in any spelling. A false match only costs one needless
 * question to slurmctld. */
static bool is_on_command_line(void)
{
    static const char wanted[] = "arb";
    char buffer[4096];
    size_t matched = 0, total = 0;
    ssize_t n;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    while (wanted[matched] && total < WORDS_MAX && (n = read(fd, buffer, sizeof(buffer))) > 0) {
        total += (size_t)n;
        for (ssize_t i = 0; i < n && wanted[matched]; i++) {
            char c = (char)(buffer[i] | 0x20);

            matched = c == wanted[matched] ? matched + 1 : c == wanted[0];
        }
    }
    close(fd);
    return !wanted[matched];
}

static bool may_be_arbitrary(void)
{
    const char *distribution = getenv("SLURM_DISTRIBUTION");

    return getenv("SLURM_HOSTFILE") || getenv("SLURM_ARBITRARY_NODELIST") ||
           (distribution && !strncasecmp(distribution, "arb", 3)) || is_on_command_line();
}

/* From 26.05 on block distributions follow the network (slurmorder.c). An older srun may have a newer
 * slurmctld; in a job it sees its own node's place. */
static bool may_follow_network(void)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
    return true;
#else
    const char *pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");

    return pattern && strchr(pattern, '.');
#endif
}

/* Asking slurmctld costs a message per step, so it is asked only where there is a sign. */
static bool may_be_unlisted(spank_t spank)
{
    uint32_t nodes;

    return may_be_arbitrary() || (may_follow_network() && rc_spank_number(spank, S_JOB_NNODES, &nodes) && nodes > 1);
}

/* Cyclic and plane go by the node list, and their tasks see in SLURM_DISTRIBUTION that they do. */
static bool is_as_listed(const slurm_step_layout_t *layout)
{
    return (layout->task_dist & SLURM_DIST_NODEMASK) == SLURM_DIST_NODECYCLIC ||
           (layout->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE;
}

/* The place of each task's node in the layout's node list, from calloc. NULL without memory, or where
 * tasks are missing. */
static uint32_t *find_nodes(const slurm_step_layout_t *layout)
{
    uint32_t *node_of = calloc(layout->task_cnt, sizeof(*node_of));
    uint32_t known = 0;
    bool good = node_of;

    for (uint32_t i = 0; good && i < layout->node_cnt; i++) {
        for (uint32_t j = 0; good && j < layout->tasks[i]; j++, known++) {
            good = layout->tids[i][j] < layout->task_cnt;
            if (good)
                node_of[layout->tids[i][j]] = i;
        }
    }
    if (good && known == layout->task_cnt)
        return node_of;
    free(node_of);
    return NULL;
}

/* RC_TASK_HOSTS's value, to be freed. NULL where it cannot be made. */
static char *map_tasks(const slurm_step_id_t *step, const slurm_step_layout_t *layout)
{
    uint32_t *node_of = find_nodes(layout);
    char *text = node_of ? malloc(MAP_MAX) : NULL;
    struct rc_arena arena = { .base = text, .size = MAP_MAX };

    if (text) {
        rc_format(&arena, "%u.%u ", step->job_id, step->step_id);
        rc_join(&arena);
        if (!rc_taskmap_write(node_of, layout->task_cnt, &arena)) {
            arena = (struct rc_arena){ .base = text, .size = MAP_MAX };
            rc_format(&arena, "%u.%u " RC_TASK_HOSTS_LONG, step->job_id, step->step_id);
        }
    }
    free(node_of);
    return text;
}

static char *ask_layout(spank_t spank)
{
    slurm_step_layout_t *layout;
    char *map = NULL;
    slurm_step_id_t id = { .step_het_comp = NO_VAL };

    if (!slurm_job_step_layout_get || !slurm_job_step_layout_free ||
        spank_get_item(spank, S_JOB_ID, &id.job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &id.step_id) != ESPANK_SUCCESS)
        return NULL;
    layout = slurm_job_step_layout_get(&id);
    if (!layout)
        return NULL;
    if (!is_as_listed(layout) && layout->node_cnt > 1 && layout->task_cnt > 0 && layout->tasks && layout->tids)
        map = map_tasks(&id, layout);
    slurm_job_step_layout_free(layout);
    return map;
}

void rc_spank_name_hosts(spank_t spank)
{
    struct rc_options options;
    char *map = NULL;

    if (!rc_spank_asked_here(&options))
        return;
    if (may_be_unlisted(spank))
        map = ask_layout(spank);
    /* a map from an outer step can only be emptied, not unset: srun has copied its
     * environment already and only adds what is set now
     * (srun_job.c:pre_launch_srun_job) */
    if (map || getenv(RC_TASK_HOSTS))
        setenv(RC_TASK_HOSTS, map ? map : "", 1);
    free(map);
}
