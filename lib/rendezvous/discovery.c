/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/discovery.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "launcher/families.h"
#include "rendezvous/client.h"
#include "system/node.h"
#include "system/program.h"

bool rc_pmix_server_is_own(const struct rc_result *result)
{
    struct rc_str name = rc_env_get(&result->env, "PMIX_NAMESPACE");
    struct rc_str step = rc_slurmpmix_step(&result->env);
    uint32_t rank;

    if (!name.n || !(rc_env_get(&result->env, "PMIX_SERVER_URI2").n || rc_env_get(&result->env, "PMIX_SERVER_URI3").n ||
                     rc_env_get(&result->env, "PMIX_SERVER_URI4").n || rc_env_get(&result->env, "PMIX_SERVER_URI41").n))
        return false;
    if (!rc_parse_u32(rc_env_get(&result->env, "PMIX_RANK"), RC_MAX_TASKS, &rank) ||
        rank != result->facts.field[RC_RANK].value)
        return false;
    switch (result->launcher->pmix_server) {
    case RC_PMIX_SERVER_OWN:
        return !step.p;
    case RC_PMIX_SERVER_SLURM:
        /* steps of a heterogeneous job share a namespace, named after one of them */
        return !rc_env_get(&result->env, "SLURM_HET_SIZE").p && rc_str_is(step, result->facts.run_id);
    case RC_PMIX_SERVER_NONE:
        break;
    }
    return false;
}

/* mpi/pmix sends requests for keys to a wrong node if the step does not begin at the job's first node: pmixp_dmdx_get()
 * takes the node's index in the step (pmixp_nspace_resolve), _slurm_send() the one in the job (pmixp_info_job_host);
 * Slurm 17.11 (d992bf19c3) to 26.05. So rank 0's host needs the same index in both lists. */
const char *rc_pmix_server_unreached(const struct rc_facts *facts)
{
    static const char unreached[] =
        "Slurm's PMIx server does not connect the nodes of a step that does not begin at the job's first node";
    bool is_known = facts->master_node != RC_UNKNOWN;
    uint32_t i = is_known ? facts->master_node : 0;
    char of_step[RC_HOST_MAX + 1];
    char of_job[RC_HOST_MAX + 1];

    if (!facts->job_hosts.p || facts->field[RC_NNODES].value == 1)
        return NULL;
    do
        if (!rc_hostlist_nth(facts->hosts, i, of_step) || !rc_hostlist_nth(facts->job_hosts, i, of_job) ||
            strcmp(of_step, of_job) != 0)
            return unreached;
    while (!is_known && ++i < facts->field[RC_NNODES].value);
    return NULL;
}

/* Return why the nodes cannot meet over PMIx, or NULL. */
static const char *refuse_pmix(const struct rc_result *result)
{
    if (rc_pmix_server_is_own(result))
        return result->launcher->pmix_server == RC_PMIX_SERVER_SLURM ? rc_pmix_server_unreached(&result->facts) : NULL;
    return rc_env_get(&result->env, "SLURM_HET_SIZE").p && rc_slurmpmix_step(&result->env).p
               ? "the steps of a heterogeneous job share one PMIx namespace"
               : "there is no rendezvous server beside srun, and no PMIx server";
}

/* With PMIx 4's default store the second PMIx_Init of a task finds no data, and MPI_Init fails (measured with
 * 4.2.2). */
const char *rc_pmix_server_gds(struct rc_str version)
{
    return rc_str_starts(version, "4.") ? "hash" : NULL;
}

extern char **environ;

/* FAREWELL_MS: late tasks need the values of a short-lived rank 0. */
enum { PAUSE_MS = 20, PATIENCE_MS = 2000, PUBLISH_MS = 10000, FAREWELL_MS = 10000, ARGUMENTS_SIZE = 1024 };

/* Launches of torchrun, or by hand, can share a scope. */
static const char *full_scope(const struct rc_result *result, struct rc_arena *arena)
{
    const char *text = rc_format(arena, "%s", result->facts.scope);
    struct rc_str names = rc_str(result->launcher->apart);

    while (names.n) {
        struct rc_str value = rc_env_find(&result->env, rc_str_split(names, ' ', &names));

        rc_join(arena);
        rc_format(arena, " %pS", &value);
    }
    return text;
}

/* torchrun on one node is a separate launch there. */
static bool is_for_this_launch(const struct rc_result *result, uint32_t nodes, struct rc_str step)
{
    switch (result->launcher->srun_server) {
    case RC_SRUN_SERVER_OWN:
        return rc_str_is(step, result->facts.run_id);
    case RC_SRUN_SERVER_OUTER:
        return nodes > 1 && rc_endpoint_is_own_step(&result->env, step);
    case RC_SRUN_SERVER_NONE:
        break;
    }
    return false;
}

static bool find_server_of_srun(const struct rc_result *result, uint32_t nodes, struct rc_discovery *discovery)
{
    struct rc_arena arena = { .base = discovery->endpoint, .size = sizeof(discovery->endpoint) };
    struct rc_endpoint endpoint;
    struct rc_str step;

    return rc_endpoint_of_srun(&result->env, &endpoint, &step, &arena) && is_for_this_launch(result, nodes, step);
}

/* A launch by hand may leave numbers unset. */
static uint32_t count_nodes(const struct rc_result *result)
{
    uint32_t nodes = result->facts.field[RC_NNODES].value;
    uint32_t local = result->identity.field[RC_LOCAL_WORLD_SIZE];

    if (nodes != RC_UNKNOWN)
        return nodes;
    return local != RC_UNKNOWN && local == result->identity.field[RC_WORLD_SIZE] ? 1 : RC_UNKNOWN;
}

void rc_discovery_find(const struct rc_result *result, struct rc_discovery *discovery)
{
    char text[RC_DISCOVERY_TEXT];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    uint32_t nodes = count_nodes(result);
    const char *refused;
    const char *scope;

    *discovery = (struct rc_discovery){
        .kind = RC_DISCOVERY_NONE,
        .why = "this is no task of a launch",
        .cure = "start them with srun --ddp or srun --mpi=pmix",
    };
    if (!result->launcher)
        return;
    scope = full_scope(result, &arena);
    snprintf(discovery->scope, RC_DISCOVERY_SCOPE, "%016llx", (unsigned long long)rc_hash(scope, strlen(scope)));
    discovery->is_by_hand = result->launcher->by_hand;
    /* this node's tasks meet at the name without "server:" */
    rc_local_name(rc_format(&arena, "server:%s", scope), 0, discovery->name);
    if (result->identity.field[RC_RANK] == RC_UNKNOWN)
        return;
    if (arena.full) {
        discovery->why = "the launch has too long a name";
    } else if (find_server_of_srun(result, nodes, discovery)) {
        discovery->kind = RC_DISCOVERY_SRUN;
    } else if (nodes == 1) {
        discovery->kind = RC_DISCOVERY_NODE;
        discovery->is_root = result->identity.field[RC_RANK] == 0;
        discovery->is_near = true;
    } else if (!(refused = refuse_pmix(result))) {
        discovery->kind = RC_DISCOVERY_PMIX;
        discovery->cure = "start them with srun --ddp";
        /* the launcher's rank 0 publishes, regardless of order= */
        discovery->is_root = result->facts.field[RC_RANK].value == 0;
        /* other PMIx servers require all tasks to connect, or none */
        discovery->is_near = result->launcher->pmix_server == RC_PMIX_SERVER_SLURM;
    } else {
        discovery->why = nodes == RC_UNKNOWN ? "it is not known how many nodes there are" : refused;
        if (rc_slurmpmix_step(&result->env).p)
            discovery->cure = "start them with srun --ddp, or on the job's first nodes";
    }
}

void rc_discovery_of_nodes(const struct rc_result *result, struct rc_discovery *discovery)
{
    rc_discovery_find(result, discovery);
    discovery->kind = RC_DISCOVERY_PMIX;
    discovery->is_root = result->facts.field[RC_NODE_RANK].value == 0;
    discovery->is_near = true;
}

static int explain_failure(char text[RC_DISCOVERY_TEXT], const char *what, const char *why)
{
    snprintf(text, RC_DISCOVERY_TEXT, "%s: %s", what, why);
    return -EIO;
}

const char **rc_pmix_environment(char variable[RC_PMIX_VARIABLE])
{
    const char *gds = rc_pmix_server_gds(rc_str(getenv("PMIX_VERSION")));
    size_t count = 0;
    const char **copy;

    while (environ[count])
        count++;
    copy = malloc((count + 2) * sizeof(*copy));
    if (!copy)
        return NULL;
    memcpy(copy, environ, (count + 1) * sizeof(*copy));
    if (gds && !getenv(RC_PMIX_GDS)) {
        snprintf(variable, RC_PMIX_VARIABLE, RC_PMIX_GDS "=%s", gds);
        copy[count] = variable;
        copy[count + 1] = NULL;
    }
    return copy;
}

/* Find a program beside rollcall-exchange. Return false if missing. */
static bool find_program(const struct rc_tools *tools, const char *name, char path[PATH_MAX])
{
    const char *end = tools->exchange ? strrchr(tools->exchange, '/') : NULL;

    if (!end)
        return rc_beside_file(ROLLCALL_LIBEXEC_FROM_LIB, name, path, PATH_MAX).p;
    return snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - tools->exchange), tools->exchange, name) < PATH_MAX;
}

/* Run a program and read its line, as rc_program_line. */
static int run_program(const struct rc_tools *tools, struct rc_program *program, const char *name, int64_t deadline,
                       char text[RC_DISCOVERY_TEXT])
{
    char path[PATH_MAX];
    char variable[RC_PMIX_VARIABLE];
    const char **own = tools->env ? NULL : rc_pmix_environment(variable);
    int rc;

    program->path = path;
    program->env = tools->env ? tools->env : own;
    program->milliseconds = (uint32_t)rc_milliseconds_left(deadline);
    if (!program->env)
        return explain_failure(text, name, strerror(ENOMEM));
    rc = find_program(tools, name, path) ? rc_program_line(program, text, RC_DISCOVERY_TEXT)
                                         : explain_failure(text, name, strerror(ENOENT));
    free(own);
    if (rc == 0 && !strchr(text, '='))
        return explain_failure(text, name, "printed nothing");
    if (rc == 0)
        memmove(text, strchr(text, '=') + 1, strlen(strchr(text, '=')));
    return rc;
}

/* On one node the server outlives this process, and the task's next program takes it over. Other nodes would miss a
 * successor, so over PMIx the parent process is the owner, unless it is init or outside of the container. */
static pid_t find_owner(const struct rc_discovery *discovery)
{
    pid_t parent = getppid();

    return discovery->kind == RC_DISCOVERY_PMIX && !discovery->is_by_hand && parent > 1 ? parent : getpid();
}

static const char *write_settings(const struct rc_discovery *discovery, const struct rc_tools *tools,
                                  struct rc_arena *arena)
{
    struct rc_server_settings settings = tools->settings;

    settings.check = settings.check == RC_CHECK_UNSET ? RC_CHECK_WARN : settings.check;
    settings.local = rc_str(discovery->name);
    settings.owner = (uint32_t)find_owner(discovery);
    settings.grace = FAREWELL_MS;
    settings.pmix = discovery->kind == RC_DISCOVERY_PMIX;
    return rc_server_settings_write(&settings, arena);
}

/* Return 1 if another process has started a server. */
static int start_server(const struct rc_tools *tools, const char *settings, int64_t deadline,
                        char text[RC_DISCOVERY_TEXT])
{
    int64_t publish = rc_milliseconds() + PUBLISH_MS + PATIENCE_MS;
    const char *const more[] = { settings, NULL };
    struct rc_program program = { .argument = RC_EXCHANGE_SERVER, .more = more };
    int rc;

    /* let it finish: a shorter deadline would kill it half-way */
    rc = run_program(tools, &program, RC_EXCHANGE, publish > deadline ? publish : deadline, text);
    if (rc == -ETIMEDOUT)
        return explain_failure(text, RC_EXCHANGE, strerror(ETIMEDOUT));
    return rc < 0 ? rc : strcmp(text, RC_SERVER_TAKEN) == 0;
}

static void write_local(const struct rc_discovery *discovery, char text[RC_DISCOVERY_TEXT])
{
    struct rc_arena arena = { .base = text, .size = RC_DISCOVERY_TEXT };

    rc_local_endpoint(discovery->name, &arena);
}

static int open_own_server(const struct rc_discovery *discovery, const struct rc_tools *tools, int64_t deadline,
                           char text[RC_DISCOVERY_TEXT])
{
    char arguments[ARGUMENTS_SIZE], message[ARGUMENTS_SIZE];
    struct rc_arena arena = { .base = arguments, .size = sizeof(arguments) };
    const char *settings = write_settings(discovery, tools, &arena);
    struct rc_endpoint server;
    int rc;

    if (!settings)
        return explain_failure(text, RC_EXCHANGE, strerror(E2BIG));
    snprintf(message, sizeof(message), RC_SERVER_SETTINGS "%s", settings);
    do {
        write_local(discovery, text);
        rc_endpoint_read(rc_str(text), &server);
        rc = rc_local_await(discovery->name, 0);
        if (rc == -EPERM)
            return explain_failure(text, "the server", rc_local_error(rc));
        /* started by an earlier program of this task, or another thread */
        if (rc == 0 && rc_client_tell(&server, rc_str(message), PATIENCE_MS) == 0)
            return 0;
        rc = start_server(tools, settings, deadline, text);
        if (rc < 0)
            return rc;
        if (rc > 0)
            poll(NULL, 0, PAUSE_MS);
    } while (rc > 0 && rc_milliseconds() < deadline);
    write_local(discovery, text);
    return rc == 0 ? 0 : -ETIMEDOUT;
}

/* Wait for the root's server at its local name. */
static int await_root(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    int rc = rc_local_await(discovery->name, deadline);

    if (rc == 0)
        write_local(discovery, text);
    return rc == 0 || rc == -ETIMEDOUT ? rc : explain_failure(text, "the server", rc_local_error(rc));
}

/* The local name spares a PMIx query. */
static int query_pmix(const struct rc_discovery *discovery, const struct rc_tools *tools, int64_t deadline,
                      char text[RC_DISCOVERY_TEXT])
{
    struct rc_program program = { .kind = RC_PROGRAM_PMIX, .argument = "get" };
    int rc;

    if (discovery->is_near && await_root(discovery, 0, text) == 0)
        return 0;
    do
        rc = run_program(tools, &program, "rollcall-pmix", deadline, text);
    while (rc == -ETIMEDOUT && rc_milliseconds() < deadline);
    return rc;
}

int rc_discovery_open(const struct rc_discovery *discovery, const struct rc_tools *tools, int64_t deadline,
                      char text[RC_DISCOVERY_TEXT])
{
    if (discovery->is_root)
        return open_own_server(discovery, tools, deadline, text);
    switch (discovery->kind) {
    case RC_DISCOVERY_SRUN:
        memcpy(text, discovery->endpoint, RC_DISCOVERY_TEXT);
        return 0;
    case RC_DISCOVERY_NODE:
        return await_root(discovery, deadline, text);
    case RC_DISCOVERY_PMIX:
        return query_pmix(discovery, tools, deadline, text);
    case RC_DISCOVERY_NONE:
        break;
    }
    snprintf(text, RC_DISCOVERY_TEXT, "%s", discovery->why);
    return -EIO;
}
