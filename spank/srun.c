/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "dispatch.h"
#include "launcher/layout.h"
#include "launcher/stamp.h"
#include "options.h"
#include "rendezvous/wire.h"
#include "resolve/options.h"
#include "resolve/resolve.h"
#include "slurm.h"
#include "system/program.h"

/* In srun: which task is on which host, where the step's node list does not tell.
 *
 * The tasks' environment tells cyclic and plane distributions, and block up to Slurm 25.11.
 * Under an arbitrary distribution (also SLURM_HOSTFILE, --nodefile), and from 26.05 on with
 * switches or blocks, RANK 0 may be on any node of the list. srun has made the step when this
 * is called, so slurmctld is asked, once, and the answer goes to the tasks in RC_TASK_HOSTS. */

/* Longer maps are not passed on: one entry of an environment may have 128 KiB. That is
 * 14,000 runs at least. */
enum { MAP_MAX = 96 * 1024 };

/* Functions of srun's own libslurmfull. Weak, because the plugin binds at start and is
 * loaded by other programs as well. */
extern slurm_step_layout_t *slurm_job_step_layout_get(slurm_step_id_t *step_id) __attribute__((weak));
extern void slurm_job_step_layout_free(slurm_step_layout_t *layout) __attribute__((weak));

/* Whether one of the first `most` words of srun's command line is wanted. */
static bool is_on_command_line(bool (*is_wanted)(const char *word), int most)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    bool found = false;
    char *word = NULL;
    size_t size = 0;

    for (int i = 0; file && !found && i < most && getdelim(&word, &size, '\0', file) > 0; i++)
        found = is_wanted(word);
    free(word);
    if (file)
        fclose(file);
    return found;
}

/* `-m arbitrary` in any spelling. A false match only costs one needless question to slurmctld. */
static bool is_arbitrary(const char *word)
{
    return strcasestr(word, "arb");
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
    const char *distribution = getenv("SLURM_DISTRIBUTION");
    uint32_t nodes;

    return getenv("SLURM_HOSTFILE") || getenv("SLURM_ARBITRARY_NODELIST") ||
           (distribution && !strncasecmp(distribution, "arb", 3)) || is_on_command_line(is_arbitrary, INT_MAX) ||
           (may_follow_network() && rc_spank_number(spank, S_JOB_NNODES, &nodes) && nodes > 1);
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

/* A value from an outer step can only be emptied, not unset: srun has copied its environment already and only adds what
 * is set now (srun_job.c:pre_launch_srun_job). */
static void hand_on(const char *name, const char *value)
{
    if (*value || getenv(name))
        setenv(name, value, 1);
}

void rc_spank_name_hosts(spank_t spank)
{
    struct rc_options options;
    char *map = NULL;

    if (!rc_spank_asked_here(&options))
        return;
    if (may_be_unlisted(spank))
        map = ask_layout(spank);
    hand_on(RC_TASK_HOSTS, map ? map : "");
    free(map);
}

void rc_spank_open_standard(void)
{
    struct rc_options options;

    if (!rc_spank_asked_here(&options))
        return;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* open takes the lowest number that is free, which is this one */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0)
            return;
    }
}

/* --async or short for it, of 26.05. */
static bool is_async(const char *word)
{
    return !strncmp(word, "--as", 4) && !strncmp(word, "--async", strlen(word));
}

/* srun --async leaves the step to slurmstepd: local_user_init is never called, and nobody is left beside whom a server
 * could run (26.05 src/srun/srun.c, src/stepmgr/stepmgr.c). srun has read its options: getopt's optind is the place of
 * the user's command. */
bool rc_spank_check_waiting(void)
{
    struct rc_options options;

    if (!rc_spank_is_typed() || !rc_spank_asked_here(&options) || options.exchange == RC_EXCHANGE_OFF ||
        options.exchange == RC_EXCHANGE_PMIX || !is_on_command_line(is_async, optind))
        return true;
    rc_spank_say(RC_LEVEL_ERROR, RC208,
                 "srun --async leaves its step, so no server is there by which the nodes meet; nothing was started; "
                 "use srun ... & without --async, or --ddp=exchange=off: then nobody sees whether all nodes start");
    return false;
}

/* In srun, for the exchange: a program that listens on its host. */

/* Higher than both descriptor numbers that the server expects (wire.h), so that one
 * dup2 does not close the source of the other. */
enum { ABOVE = 16, ARGUMENTS_SIZE = 96, VARIABLE_SIZE = 128 };

/* Weak for the same reason. */
extern slurm_conf_t slurm_conf __attribute__((weak));

static int raise_descriptor(int fd)
{
    int raised = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);

    close(fd);
    return raised;
}

/* Starts the server in a session of its own, because keys typed at the terminal are for
 * srun. It prints findings of the roll call to the standard error of srun. */
static bool start_program(int listener, int life, const char *token, const struct rc_server_settings *settings)
{
    char text[ARGUMENTS_SIZE];
    char variable[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *argv[RC_SERVER_ARGUMENTS + 1];
    char *env[] = { variable, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    bool good;

    snprintf(variable, sizeof(variable), RC_SERVER_TOKEN "=%s", token);
    if (!rc_server_settings_write(settings, &arena, argv) || posix_spawn_file_actions_init(&actions) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    good = rc_program_signals(&attributes, POSIX_SPAWN_SETSID) == 0 &&
           posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, listener, RC_SERVER_LISTENER) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, life, RC_SERVER_LIFE) == 0 &&
           posix_spawn(NULL, rc_spank_program(RC_EXCHANGE), &actions, &attributes, (char *const *)(uintptr_t)argv,
                       env) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

/* The write end of the pipe stays open in srun, and nowhere else: its end is the
 * server's sign to leave. */
static bool open_server(const struct rc_server_settings *settings, char token[RC_WIRE_TOKEN + 1], uint16_t *port)
{
    /* SrunPortRange: firewalls let the nodes through to these ports of srun */
    const uint16_t *range = &slurm_conf ? slurm_conf.srun_port_range : NULL;
    bool is_set = range && range[0] && range[0] <= range[1];
    int life[2] = { -1, -1 };
    int listener = -1;
    bool good = false;

    if (rc_wire_new_token(token) < 0 || (listener = rc_listen(is_set ? range[0] : 0, is_set ? range[1] : 0, port)) < 0)
        return false;
    listener = raise_descriptor(listener);
    if (pipe2(life, O_CLOEXEC) == 0) {
        life[0] = raise_descriptor(life[0]);
        life[1] = raise_descriptor(life[1]);
        good = listener >= 0 && life[0] >= 0 && life[1] >= 0 && start_program(listener, life[0], token, settings);
    }
    if (listener >= 0)
        close(listener);
    if (life[0] >= 0)
        close(life[0]);
    if (!good && life[1] >= 0)
        close(life[1]);
    return good;
}

static bool read_settings(spank_t spank, const struct rc_options *options, struct rc_server_settings *settings,
                          uint32_t *step)
{
    *settings = (struct rc_server_settings){ .seconds = rc_options_deadline(options),
                                             .check = rc_options_check(options),
                                             .same = rc_options_same(options),
                                             .watch_seconds = options->watch_seconds };
    if (spank_get_item(spank, S_JOB_NNODES, &settings->nodes) != ESPANK_SUCCESS)
        settings->nodes = 0;
    return spank_get_item(spank, S_JOB_ID, &settings->job) == ESPANK_SUCCESS &&
           spank_get_item(spank, S_JOB_STEPID, step) == ESPANK_SUCCESS;
}

/* Starts it. Returns what names it to the tasks, "" without one. */
static const char *start_server(spank_t spank, const struct rc_options *options, struct rc_arena *arena)
{
    char token[RC_WIRE_TOKEN + 1];
    struct rc_server_settings settings;
    uint32_t step;
    uint16_t port;

    if (options->exchange == RC_EXCHANGE_OFF || options->exchange == RC_EXCHANGE_PMIX || getenv("SLURM_HET_SIZE") ||
        !read_settings(spank, options, &settings, &step) || !open_server(&settings, token, &port))
        return "";
    return rc_step_server_write(arena, token, port, settings.job, step);
}

void rc_spank_server_start(spank_t spank)
{
    char text[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *value = "";
    struct rc_options options;

    if (rc_spank_asked_here(&options))
        value = start_server(spank, &options, &arena);
    hand_on(RC_SERVER, value);
}
