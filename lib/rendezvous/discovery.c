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
#include "rendezvous/wire.h"
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
        /* steps of several het components share a namespace that is not called after each of them */
        return !rc_env_get(&result->env, "SLURM_HET_SIZE").p && rc_str_is(step, result->facts.run_id);
    case RC_PMIX_SERVER_NONE:
        break;
    }
    return false;
}

/* mpi/pmix sends a request for a rank's keys to the wrong node, or to none, in a step that does not begin at the job's
 * first node: pmixp_dmdx_get() takes the index of the rank's node in the step (pmixp_nspace_resolve), and _slurm_send()
 * reads it as one in the job (pmixp_info_job_host). Since Slurm 17.11 (d992bf19c3), and in 26.05 too. So the host of
 * rank 0, whose keys all nodes read, needs the same index in both lists. */
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

/* Why the launch's nodes do not meet over PMIx, or NULL. */
static const char *refuse_pmix(const struct rc_result *result)
{
    if (rc_pmix_server_is_own(result))
        return result->launcher->pmix_server == RC_PMIX_SERVER_SLURM ? rc_pmix_server_unreached(&result->facts) : NULL;
    return rc_env_get(&result->env, "SLURM_HET_SIZE").p && rc_slurmpmix_step(&result->env).p
               ? "the steps of a heterogeneous job share one PMIx namespace"
               : "there is no rendezvous server beside srun, and no PMIx server";
}

/* With PMIx 4's default store the second PMIx_Init of a task, which is the
 * command's own, finds nothing, and MPI_Init fails (measured with 4.2.2). */
const char *rc_pmix_server_gds(struct rc_str version)
{
    return rc_str_starts(version, "4.") ? "hash" : NULL;
}

extern char **environ;

enum { PAUSE_MS = 20, PATIENCE_MS = 2000, PUBLISH_MS = 10000 };

/* The scope alone would be the same for two launches of torchrun, or two by hand. */
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

/* torchrun on one node is a launch of its own on each node of the step. */
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

/* Unknown numbers are those of a launch that says little of itself, by hand. */
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
    if (!result->launcher || result->identity.field[RC_RANK] == RC_UNKNOWN)
        return;
    scope = full_scope(result, &arena);
    snprintf(discovery->scope, RC_DISCOVERY_SCOPE, "%016llx", (unsigned long long)rc_hash(scope, strlen(scope)));
    discovery->is_by_hand = result->launcher->by_hand;
    /* the roll call on this node has the name without it */
    rc_local_name(rc_format(&arena, "store:%s", scope), 0, discovery->name);
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
        /* the one whose keys the others ask for, whatever order= has made of the ranks */
        discovery->is_root = result->facts.field[RC_RANK].value == 0;
        /* other servers than Slurm's want all tasks to be connected, or none */
        discovery->is_near = result->launcher->pmix_server == RC_PMIX_SERVER_SLURM;
    } else {
        discovery->why = nodes == RC_UNKNOWN ? "it is not known how many nodes there are" : refused;
        if (rc_slurmpmix_step(&result->env).p)
            discovery->cure = "start them with srun --ddp, or on the job's first nodes";
    }
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

/* Runs one of rollcall's own programs for the line that it says. As rc_program_line. */
static int run_program(enum rc_program_kind kind, const char *name, const char *argument, const char *input,
                       int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = kind,
        .path = path,
        .argument = argument,
        .input = rc_str(input),
        .milliseconds = (uint32_t)rc_milliseconds_left(deadline),
    };
    char variable[RC_PMIX_VARIABLE];
    const char **env = rc_pmix_environment(variable);
    int rc;

    if (!env)
        return explain_failure(text, name, strerror(ENOMEM));
    program.env = env;
    rc = rc_beside_file(ROLLCALL_LIBEXEC_FROM_LIB, name, path, sizeof(path)).p
             ? rc_program_line(&program, text, RC_DISCOVERY_TEXT)
             : explain_failure(text, name, strerror(ENOENT));
    free(env);
    return rc < 0 || strchr(text, '=') ? rc : explain_failure(text, name, "printed nothing");
}

/* The process whose end is the end of the launch. A process started by hand has no launcher
 * beyond its shell: then it is process 1, which never ends. */
static long launcher_pid(const struct rc_discovery *discovery)
{
    return discovery->is_by_hand ? 1 : (long)getppid();
}

/* Returns 1 where another process has the name already. */
static int start_store(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    char request[RC_LOCAL_NAME + 128];
    int64_t publish = rc_milliseconds() + PUBLISH_MS;
    int rc;

    snprintf(request, sizeof(request), "name=%s\nowner=%ld\nlauncher=%ld\npmix=%d\nseconds=%d\n", discovery->name,
             (long)getpid(), launcher_pid(discovery), discovery->kind == RC_DISCOVERY_PMIX, PUBLISH_MS / 1000);
    /* wait for its end even where little time is left: a shorter deadline would kill it half-way */
    rc = run_program(RC_PROGRAM_OWN, RC_EXCHANGE, RC_EXCHANGE_STORE, request,
                     publish + PATIENCE_MS > deadline ? publish + PATIENCE_MS : deadline, text);
    if (rc == -ETIMEDOUT)
        return explain_failure(text, RC_EXCHANGE, strerror(ETIMEDOUT));
    if (rc < 0 || strncmp(text, "taken=", 6) == 0)
        return rc < 0 ? rc : 1;
    memmove(text, strchr(text, '=') + 1, strlen(strchr(text, '=')));
    return 0;
}

static int open_own_store(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    char message[32];

    snprintf(message, sizeof(message), "own %ld", launcher_pid(discovery));
    for (;;) {
        /* of this task's program before, or of another thread */
        int rc = rc_local_call(discovery->name, rc_str(message), rc_milliseconds() + PATIENCE_MS, text,
                               RC_DISCOVERY_TEXT);

        if (rc > 0)
            return 0;
        if (rc == -EPERM)
            return explain_failure(text, "the store server", "another user's process has its name");
        rc = start_store(discovery, deadline, text);
        if (rc <= 0)
            return rc;
        if (rc_milliseconds() >= deadline)
            return -ETIMEDOUT;
        poll(NULL, 0, PAUSE_MS);
    }
}

static int hear_from_root(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    int rc = rc_local_ask(discovery->name, RC_STR("read"), deadline, PATIENCE_MS, text, RC_DISCOVERY_TEXT);

    if (rc > 0)
        return 0;
    return rc == -ETIMEDOUT || rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EAGAIN
               ? -ETIMEDOUT
               : explain_failure(text, "the store server", strerror(-rc));
}

/* A process on the root's node asks the root first: that spares it the PMIx server. */
static int ask_pmix_server(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    int rc;

    if (discovery->is_near &&
        rc_local_call(discovery->name, RC_STR("read"), rc_milliseconds() + PATIENCE_MS, text, RC_DISCOVERY_TEXT) > 0)
        return 0;
    do
        rc = run_program(RC_PROGRAM_PMIX, "rollcall-pmix", "get-store", "", deadline, text);
    while (rc == -ETIMEDOUT && rc_milliseconds() < deadline);
    if (rc == 0)
        memmove(text, strchr(text, '=') + 1, strlen(strchr(text, '=')));
    return rc;
}

int rc_discovery_open(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT])
{
    if (discovery->is_root)
        return open_own_store(discovery, deadline, text);
    switch (discovery->kind) {
    case RC_DISCOVERY_SRUN:
        memcpy(text, discovery->endpoint, RC_DISCOVERY_TEXT);
        return 0;
    case RC_DISCOVERY_NODE:
        return hear_from_root(discovery, deadline, text);
    case RC_DISCOVERY_PMIX:
        return ask_pmix_server(discovery, deadline, text);
    case RC_DISCOVERY_NONE:
        break;
    }
    snprintf(text, RC_DISCOVERY_TEXT, "%s", discovery->why);
    return -EIO;
}
