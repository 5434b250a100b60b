/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/hosts.h"
#include "launcher/layout.h"
#include "launcher/stamp.h"
#include "rendezvous/wire.h"
#include "roll/roll.h"
#include "spank.h"
#include "system/node.h"
#include "system/port.h"

/* The hosts of the tasks, if the node list does not imply them: with an arbitrary distribution (also SLURM_HOSTFILE,
 * --nodefile), and since 26.05 with switches or blocks. Query slurmctld once, and pass them in RC_TASK_HOSTS. */

/* Below the 128 KiB of an environment entry; 14,000 runs at least. */
enum { MAP_MAX = 96 * 1024, COMMAND_SIZE = 64 * 1024 };

/* From srun's libslurmfull. Weak: other programs load the plugin. */
extern slurm_step_layout_t *slurm_job_step_layout_get(slurm_step_id_t *step_id) __attribute__((weak));
extern void slurm_job_step_layout_free(slurm_step_layout_t *layout) __attribute__((weak));
extern slurm_conf_t slurm_conf __attribute__((weak));

bool rc_spank_is_on_command_line(bool (*is_wanted)(const char *word), int most)
{
    char words[COMMAND_SIZE];
    size_t n = rc_file_read("/proc/self/cmdline", words, sizeof(words) - 1);

    words[n] = '\0';
    for (const char *word = words; word < words + n && most > 0; word += strlen(word) + 1, most--)
        if (is_wanted(word))
            return true;
    return false;
}

/* `-m arbitrary` in any spelling; a false match only costs a query. */
static bool is_arbitrary(const char *word)
{
    return strcasestr(word, "arb");
}

/* Since 26.05 block distributions follow the network (slurmorder.c). An older srun sees that in its job's variables. */
static bool may_follow_network(void)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
    return true;
#else
    const char *pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");

    return pattern && strchr(pattern, '.');
#endif
}

/* Query slurmctld only at a hint, or if the step uses part of its allocation. */
static bool may_be_unlisted(spank_t spank)
{
    const char *distribution = getenv("SLURM_DISTRIBUTION");
    uint32_t nodes;

    return getenv("SLURM_HOSTFILE") || getenv("SLURM_ARBITRARY_NODELIST") ||
           (distribution && !strncasecmp(distribution, "arb", 3)) ||
           rc_spank_is_on_command_line(is_arbitrary, INT_MAX) ||
           (may_follow_network() && rc_spank_number(spank, S_JOB_NNODES, &nodes) && nodes > 1);
}

/* Tasks see cyclic and plane distributions in SLURM_DISTRIBUTION. */
static bool is_as_listed(const slurm_step_layout_t *layout)
{
    return (layout->task_dist & SLURM_DIST_NODEMASK) == SLURM_DIST_NODECYCLIC ||
           (layout->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE;
}

/* Return the index of each task's node in the layout, from calloc; or NULL. */
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

/* Return the value of RC_TASK_HOSTS, to be freed, or NULL. */
static char *map_tasks(const slurm_step_id_t *step, const slurm_step_layout_t *layout)
{
    bool has_tasks = layout->node_cnt > 1 && layout->task_cnt > 0 && layout->tasks && layout->tids;
    uint32_t *node_of = has_tasks && !is_as_listed(layout) ? find_nodes(layout) : NULL;
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

/* An outer step's value can only be emptied: srun has copied its environment (srun_job.c:pre_launch_srun_job). */
static void hand_on(const char *name, const char *value)
{
    if (*value || getenv(name))
        setenv(name, value, 1);
}

/* Otherwise srun's sockets get closed numbers (`srun ... 2>&-`), a task's line goes into one, and srun never ends
 * (22.05, measured). */
static void open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* open returns the lowest free number */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0)
            return;
    }
}

/* --async or an abbreviation, in 26.05. */
static bool is_async(const char *word)
{
    return !strncmp(word, "--as", 4) && !strncmp(word, "--async", strlen(word));
}

/* --wait-for-children or an abbreviation, in 26.05. */
static bool waits_for_children(const char *word)
{
    return !strncmp(word, "--wait-", 7);
}

/* srun --async leaves the step to slurmstepd, without local_user_init or a server (26.05 src/srun/srun.c,
 * src/stepmgr/stepmgr.c). optind is the index of the user's command. */
static bool waits_for_step(const struct rc_options *options)
{
    if (!rc_spank_is_typed() || options->mode == RC_MODE_ALONE || options->exchange == RC_EXCHANGE_OFF ||
        options->exchange == RC_EXCHANGE_PMIX || !rc_spank_is_on_command_line(is_async, optind))
        return true;
    rc_spank_say(RC_LEVEL_ERROR, RC208,
                 "srun --async leaves its step, so no server is there by which the nodes meet; nothing was started; "
                 "use srun ... & without --async, or --ddp=exchange=off: then nobody sees whether all nodes start");
    return false;
}

bool rc_spank_srun_check(void)
{
    struct rc_options options;

    if (!rc_spank_asked_here(&options))
        return rc_spank_check_environment();
    open_standard();
    if (!rc_spank_check_environment() || !waits_for_step(&options))
        return false;
    rc_spank_bind_mark();
    return true;
}

/* Return the step's nodes, if they are those of srun's allocation (setup_env). */
static struct rc_str list_nodes(uint32_t nodes)
{
    struct rc_str hosts = rc_str(getenv("SLURM_NODELIST"));
    uint32_t count;

    return rc_hostlist_count(hosts, &count) && count == nodes ? hosts : RC_ABSENT;
}

/* ABOVE the descriptors that the server expects (wire.h), so that dup2 closes no source. */
enum { ABOVE = 16, ARGUMENTS_SIZE = 256 + RC_ROLL_HOSTS_MAX, VARIABLE_SIZE = 128, FAREWELL_SECONDS = 1 };

static int raise_descriptor(int fd)
{
    int raised = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);

    close(fd);
    return raised;
}

/* Use a new session, because terminal keys are for srun. Return false with errno set. */
static bool start_program(int listener, int life, const char *token, const struct rc_server_settings *settings)
{
    char text[ARGUMENTS_SIZE];
    char variable[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *const argv[] = { RC_EXCHANGE, RC_EXCHANGE_SERVER, rc_server_settings_write(settings, &arena), NULL };
    char *env[] = { variable, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int rc;

    snprintf(variable, sizeof(variable), RC_SERVER_TOKEN "=%s", token);
    if (!argv[2] || posix_spawn_file_actions_init(&actions) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    sigemptyset(&none);
    sigfillset(&all);
    rc = posix_spawnattr_setsigmask(&attributes, &none) == 0 && posix_spawnattr_setsigdefault(&attributes, &all) == 0 &&
                 posix_spawnattr_setflags(&attributes,
                                          POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, listener, RC_SERVER_LISTENER) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, life, RC_SERVER_LIFE) == 0
             ? posix_spawn(NULL, rc_spank_program(RC_EXCHANGE), &actions, &attributes, (char *const *)(uintptr_t)argv,
                           env)
             : ENOMEM;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    errno = rc;
    return rc == 0;
}

/* srun's end of the socket pair: the server ends when it is closed. */
static struct {
    int fd;
    pid_t owner;
    pthread_t thread;
} life;

/* A failure ends the step as with srun -K, unless -K, -K0 or SLURM_KILL_BAD_EXIT is set (22.05 to 26.05: src/srun,
 * _kill_on_bad_exit), for which Slurm has no function. */
static void *follow_server(void *unused)
{
    char byte;

    while (recv(life.fd, &byte, 1, 0) == 1) {
        if (&slurm_conf)
            slurm_conf.kill_on_bad_exit = 1;
        send(life.fd, &byte, 1, MSG_NOSIGNAL);
    }
    return unused;
}

/* Leave all signals to srun's threads. */
static bool start_thread(void)
{
    sigset_t all, old;
    bool good;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    good = pthread_create(&life.thread, NULL, follow_server, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return good;
}

/* Called by exit, before plugins are unloaded (create_srun_job). Wait for the server's last lines: the end of a job
 * script kills it. */
static void end_server(int status, void *unused)
{
    const char ending = status ? RC_ENDED_BADLY : RC_ENDED_WELL;
    struct timespec until;

    (void)unused;
    if (getpid() != life.owner)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FAREWELL_SECONDS;
    send(life.fd, &ending, 1, MSG_NOSIGNAL);
    if (pthread_timedjoin_np(life.thread, NULL, &until) != 0) {
        shutdown(life.fd, SHUT_RDWR);
        pthread_join(life.thread, NULL);
    }
}

/* Return false with errno set. */
static bool open_server(const struct rc_server_settings *settings, char token[RC_WIRE_TOKEN + 1], uint16_t *port)
{
    /* SrunPortRange is open in firewalls. srun later binds two ports per 48 nodes (_estimate_nports) and one for
     * mpi/pmix (pmixp_agent.c). */
    const uint16_t *range = &slurm_conf ? slurm_conf.srun_port_range : NULL;
    bool is_set = range && range[0] && range[0] <= range[1];
    uint32_t left = is_set ? 2 * ((settings->nodes + 47) / 48) + 1 : 0;
    int ends[2] = { -1, -1 }, listener = -1;
    bool good = false;

    if (rc_wire_new_token(token) < 0 ||
        (listener = rc_listen(is_set ? range[0] : 0, is_set ? range[1] : 0, left, port)) < 0) {
        errno = -listener;
        return false;
    }
    listener = raise_descriptor(listener);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        ends[0] = raise_descriptor(ends[0]);
        ends[1] = raise_descriptor(ends[1]);
        life.fd = ends[1];
        life.owner = getpid();
        good = listener >= 0 && ends[0] >= 0 && ends[1] >= 0 && start_program(listener, ends[0], token, settings) &&
               start_thread();
    }
    rc_port_release(listener);
    rc_port_release(ends[0]);
    if (!good)
        rc_port_release(ends[1]);
    if (good)
        on_exit(end_server, NULL);
    return good;
}

static void warn_of_failure(int error)
{
    char text[512];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    bool no_port = error == EADDRINUSE;

    rc_spank_say(RC_LEVEL_WARNING, RC624,
                 rc_format(&arena,
                           "srun cannot start rollcall-exchange: %s; no roll call is held, and no failed task ends "
                           "the step; type srun -K, and %s",
                           no_port ? "SrunPortRange has no free port beside those that srun needs" : strerror(error),
                           no_port ? "widen SrunPortRange" : "reinstall rollcall on this host"));
}

/* Return the value of RC_SERVER, in the arena; or "". */
static const char *start_server(const slurm_step_id_t *step, const struct rc_options *options, uint32_t nodes,
                                struct rc_str hosts, struct rc_arena *arena)
{
    const struct rc_server_settings settings = {
        .seconds = rc_options_deadline(options),
        .check = rc_options_check(options),
        .same = rc_options_same(options),
        .watch_seconds = options->watch_seconds,
        .job = step->job_id,
        .nodes = nodes,
        .hosts = hosts.n <= RC_ROLL_HOSTS_MAX ? hosts : RC_ABSENT,
    };
    char token[RC_WIRE_TOKEN + 1];
    uint16_t port;

    if (open_server(&settings, token, &port))
        return rc_step_server_write(arena, token, port, step->job_id, step->step_id);
    warn_of_failure(errno);
    return "";
}

static bool has_server(const struct rc_options *options)
{
    return options->mode != RC_MODE_ALONE && options->exchange != RC_EXCHANGE_OFF &&
           options->exchange != RC_EXCHANGE_PMIX && !getenv("SLURM_HET_SIZE");
}

static void begin_step(spank_t spank, slurm_step_id_t step, const struct rc_options *options)
{
    char text[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    bool unlisted = may_be_unlisted(spank);
    slurm_step_layout_t *layout = NULL;
    uint32_t nodes = 0;
    struct rc_str hosts;
    char *map = NULL;

    rc_spank_number(spank, S_JOB_NNODES, &nodes);
    hosts = list_nodes(nodes);
    if (slurm_job_step_layout_get && slurm_job_step_layout_free && (unlisted || (!hosts.p && has_server(options))))
        layout = slurm_job_step_layout_get(&step);
    if (layout)
        hosts = rc_str(layout->node_list);
    if (layout && unlisted)
        map = map_tasks(&step, layout);
    hand_on(RC_TASK_HOSTS, map ? map : "");
    hand_on(RC_SERVER, has_server(options) ? start_server(&step, options, nodes, hosts, &arena) : "");
    if (layout)
        slurm_job_step_layout_free(layout);
    free(map);
}

void rc_spank_srun_begin(spank_t spank)
{
    slurm_step_id_t step = { .step_het_comp = NO_VAL };
    const char *wish = getenv("ROLLCALL");
    struct rc_options options;
    bool asked = rc_spank_asked_here(&options) && rc_spank_is_step_of_tasks(spank) &&
                 rc_spank_number(spank, S_JOB_ID, &step.job_id) && rc_spank_number(spank, S_JOB_STEPID, &step.step_id);

    hand_on(RC_NO_MONITOR, asked && rc_spank_is_on_command_line(waits_for_children, optind) ? "1" : "");
    hand_on(RC_WISH, asked && wish ? wish : "");
    if (asked)
        begin_step(spank, step, &options);
    else
        hand_on(RC_SERVER, "");
}
