/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "launcher/hostlist.h"
#include "options.h"
#include "resolve/resolve.h"

/* Longer lists are not passed on: the variable must stay far below the limit of one
 * entry of an environment (128 KiB). */
enum { LIST_MAX = 64 * 1024, WORDS_MAX = 256 * 1024 };

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

/* Asking slurmctld costs a message per step, so it is asked only where there is a sign. */
static bool may_be_arbitrary(void)
{
    const char *distribution = getenv("SLURM_DISTRIBUTION");

    return getenv("SLURM_HOSTFILE") || getenv("SLURM_ARBITRARY_NODELIST") ||
           (distribution && !strncasecmp(distribution, "arb", 3)) || is_on_command_line();
}

/* "n2,n1,n2": the host of each task in order of rank. NULL where that cannot be built. */
static char *list_hosts(const slurm_step_layout_t *layout)
{
    struct rc_str nodes = rc_str(layout->node_list);
    uint32_t *node_of = calloc(layout->task_cnt, sizeof(*node_of));
    char *list = malloc(LIST_MAX);
    struct rc_arena arena = { .base = list, .size = LIST_MAX };
    uint32_t known = 0;
    bool good = list && node_of;

    for (uint32_t i = 0; good && i < layout->node_cnt; i++) {
        for (uint32_t j = 0; good && j < layout->tasks[i]; j++, known++) {
            good = layout->tids[i][j] < layout->task_cnt;
            if (good)
                node_of[layout->tids[i][j]] = i;
        }
    }
    good = good && known == layout->task_cnt;
    for (uint32_t task = 0; good && task < known; task++) {
        char name[RC_HOST_MAX + 1];

        good = rc_hostlist_nth(nodes, node_of[task], name);
        if (good)
            rc_format(&arena, task + 1 < known ? "%s," : "%s", name);
        good = good && !arena.full;
        if (good && task + 1 < known)
            arena.used--; /* the next host overwrites the end of this one */
    }
    free(node_of);
    if (good)
        return list;
    free(list);
    return NULL;
}

static char *ask_layout(spank_t spank)
{
    slurm_step_layout_t *layout;
    char *list = NULL;
    slurm_step_id_t id = { .step_het_comp = NO_VAL };

    if (!slurm_job_step_layout_get || !slurm_job_step_layout_free ||
        spank_get_item(spank, S_JOB_ID, &id.job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &id.step_id) != ESPANK_SUCCESS)
        return NULL;
    layout = slurm_job_step_layout_get(&id);
    if (!layout)
        return NULL;
    if ((layout->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY && layout->node_cnt > 1 &&
        layout->task_cnt > 0 && layout->task_cnt < LIST_MAX / 2 && layout->node_list && layout->tasks && layout->tids)
        list = list_hosts(layout);
    slurm_job_step_layout_free(layout);
    return list;
}

void rc_spank_name_hosts(spank_t spank)
{
    struct rc_options options;
    char *list = NULL;

    if (!rc_spank_asked_here(&options))
        return;
    if (may_be_arbitrary())
        list = ask_layout(spank);
    /* a list from an outer step can only be emptied, not unset: srun has copied its
     * environment already and only adds what is set now
     * (srun_job.c:pre_launch_srun_job) */
    if (list || getenv(RC_TASK_HOSTS))
        setenv(RC_TASK_HOSTS, list ? list : "", 1);
    free(list);
}
