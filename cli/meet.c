/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "rendezvous/discovery.h"
#include "rendezvous/local.h"
#include "rendezvous/session.h"
#include "resolve/options.h"
#include "roll/check.h"
#include "roll/entry.h"
#include "system/net.h"
#include "system/node.h"
#include "system/port.h"
#include "tasks.h"

/* What this command brings along for rank 0's part. */
static const struct rc_rank0 *rank0_hooks(void)
{
    static char node[RC_NODE_NAME_SIZE];
    static struct rc_rank0 hooks = {
        .outcome = "the command is not run",
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };

    hooks.node = rc_str(rc_node_name(node));
    return &hooks;
}

/* Waiting for a missing task may cost the others only this part of their time. */
enum { SHARE_OF_NODE = 2, RANKS_SIZE = 32768, NODES_SAY = 8 };

struct meeting {
    struct rc_context *context;
    struct rc_result *result;
    struct rc_outcome outcome;
    uint32_t seconds;
    uint32_t nodes;
    int held;           /* the port's descriptor in RANK 0's own process, or -1 */
    const char *failed; /* the id of the message for which the first task does not start; or NULL */
    bool contradict;    /* all nodes were there, and not all of the same launch */
    bool speaks;        /* prints what goes wrong on its node: its first task, or who does not find that one */
};

/* Whether one task of each node may have a session with the server. Open MPI's (measured with 4.1.4, 5.0.7 and 6) ends
 * a job with an error where one task was connected and another one ends without; and some launches, on a busy machine
 * one of three, never get out of an MPI_Init that comes after such a session. Slurm's does neither. */
static bool may_meet(const struct rc_result *result)
{
    return result->launcher->pmix_server == RC_PMIX_SERVER_SLURM;
}

/* Whether the tasks meet. All tasks of a launch must come to the same answer, so nothing counts here that differs
 * between them. Where a meeting was asked for and is impossible, *why is the reason. */
static bool is_wanted(const struct rc_context *context, const struct rc_result *result, const char **why)
{
    const struct rc_options *options = &context->options;
    const char *unreached;

    *why = NULL;
    if (options->exchange == RC_EXCHANGE_OFF || result->stamped ||
        (result->mode != RC_MODE_WORKER && result->mode != RC_MODE_LAUNCHER))
        return false;
    /* an outer rollcall has met for this launch, and --ddp asks for part of its work again */
    if (rc_str_is(result->stamp.scope, result->facts.scope))
        return false;
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        if (cli_fact(result, (enum rc_field)i) == RC_UNKNOWN)
            return false;
    if (result->master.port_given != RC_GIVEN_BY_LAUNCH && rc_env_get(&result->env, "MASTER_ADDR").n)
        return false;
    if (cli_fact(result, RC_WORLD_SIZE) == 1)
        return true;
    if (options->exchange == RC_EXCHANGE_SRUN)
        *why = "only srun --ddp has a rendezvous server";
    else if (!rc_pmix_server_is_own(result))
        *why = options->exchange == RC_EXCHANGE_PMIX ? "there is no PMIx server" : NULL;
    else if (cli_fact(result, RC_NNODES) == 1)
        return true;
    /* the nodes read what rank 0 of the launcher has stored there */
    else if (options->order == RC_ORDER_NODE)
        *why = options->exchange == RC_EXCHANGE_PMIX ? "with order=node the nodes do not know where RANK 0 is" : NULL;
    else if (!may_meet(result))
        *why = options->exchange == RC_EXCHANGE_PMIX ? "several nodes can meet under srun --mpi=pmix alone" : NULL;
    else if ((unreached = rc_pmix_server_unreached(&result->facts)))
        *why = options->exchange == RC_EXCHANGE_PMIX ? unreached : NULL;
    else
        return true;
    return false;
}

/* Whether this is a second `rollcall exec` of the same tasks. Rank 0 has stored its endpoint before, and the nodes
 * would read that old one again. A mark in the server's own folder, which is removed with the launch, shows it. */
static bool is_again(const struct rc_result *result)
{
    struct rc_str folder = rc_env_get(&result->env, "PMIX_SERVER_TMPDIR");
    char path[PATH_MAX];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };
    int fd;

    rc_format(&arena, "%pS/rollcall-%llu-%llu-%u", &folder, (unsigned long long)result->facts.port_seed[0],
              (unsigned long long)result->facts.port_seed[1], cli_fact(result, RC_NODE_RANK));
    if (!folder.n || arena.full)
        return false;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == EEXIST;
}

/* "3,0,1": the ranks that have come, each of which is a value. */
static struct rc_str list_ranks(const struct rc_gather *node, struct rc_arena *arena)
{
    struct rc_str text = { arena->base + arena->used, 0 };

    for (uint32_t i = 0; i < node->count && !arena->full; i++) {
        rc_format(arena, "%s%pS", i ? "," : "", &node->list[i].value);
        rc_join(arena);
    }
    text.n = (size_t)(arena->base + arena->used - text.p);
    return arena->full ? RC_ABSENT : text;
}

static bool asks_order(const struct meeting *m)
{
    return rc_session_asks_order(&m->context->options, m->result);
}

/* Tasks start late if a script does something else first. That stops a job only if its user has asked for it. */
static enum rc_check only_warn(enum rc_check check)
{
    return check == RC_CHECK_UNSET ? RC_CHECK_WARN : check;
}

static void meet_nodes(struct meeting *m, struct rc_str ranks, const char *failed, uint32_t seconds)
{
    static char room[RC_SESSION_TEXT];
    const struct rc_options *options = &m->context->options;
    struct rc_arena arena = { .base = room, .size = sizeof(room) };
    char path[PATH_MAX];
    struct rc_session session = {
        .transport = RC_TRANSPORT_PMIX,
        .result = m->result,
        .options = options,
        .tasks = ranks,
        .port = rc_port_number(m->held),
        .failed = failed,
        .seconds = seconds,
        .check = only_warn(options->check),
        .same = only_warn(options->same),
        .tools = { .exchange = path, .env = (const char *const *)environ },
    };
    struct rc_answer answer;

    if (cli_own_program("rollcall-exchange", path) < 0) {
        rc_outcome_miss(&m->outcome, rc_format(&arena, "rollcall-exchange cannot be run: %s", strerror(errno)));
        return;
    }
    rc_session_meet(&session, &answer, &m->outcome, &arena);
    m->contradict = (rc_roll_found(&answer.findings, RC602) || rc_roll_found(&answer.findings, RC603)) &&
                    !rc_roll_found(&answer.findings, RC601);
    for (unsigned i = 0; cli_fact(m->result, RC_NODE_RANK) == 0 && i < answer.findings.count; i++)
        console_say(answer.findings.list[i].id, answer.findings.list[i].text);
}

/* The part of the node's first task, which acts for all tasks of the node: an rc_server_decide. */
static struct rc_str act_for_node(void *more, const struct rc_roll_call *call)
{
    static char text[RANKS_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_gather *node = call->gather;
    struct meeting *m = more;
    uint32_t tasks = cli_fact(m->result, RC_LOCAL_WORLD_SIZE);
    uint32_t spent = node->came < tasks ? m->seconds / SHARE_OF_NODE : 0;

    if (m->nodes > 1 && is_again(m->result)) {
        m->outcome.how = RC_NOT_ASKED;
    } else if (m->nodes == 1 && node->came < tasks) {
        rc_outcome_miss(&m->outcome, rc_format(&arena, "only %u of the %u tasks were there within %u ms", node->came,
                                               tasks, m->seconds * 1000 / SHARE_OF_NODE));
    } else {
        /* the other nodes must not wait for a task that does not start */
        if (!rc_session_hold(&m->context->options, m->result, rank0_hooks(), &m->held))
            m->failed = rc_message_entry(m->result->messages.list[m->result->messages.count - 1].id)->id;
        if (m->nodes == 1) {
            m->outcome.how = m->failed ? RC_STOPPED : RC_MET;
            m->outcome.port = rc_port_number(m->held);
        } else {
            meet_nodes(m, list_ranks(node, &arena), m->failed, m->seconds - spent);
        }
    }
    return (struct rc_str){ (const char *)&m->outcome, sizeof(m->outcome) };
}

/* The tasks of this node, as a gather. */
static struct rc_gather_request request_of(const struct meeting *m)
{
    uint32_t patience = m->seconds * 1000 / SHARE_OF_NODE;
    const char *rank = rc_format(&m->result->arena, "%u", cli_fact(m->result, RC_RANK));

    return (struct rc_gather_request){
        .name = RC_STR(RC_GATHER_ROLL),
        .member = cli_fact(m->result, RC_LOCAL_RANK),
        .of = cli_fact(m->result, RC_LOCAL_WORLD_SIZE),
        .each = patience,
        .most = patience,
        .value = rc_str(rank),
    };
}

static bool speak_for_all(struct meeting *m, const char *name)
{
    const struct rc_gather_request own = request_of(m);
    int rc = cli_gather_node(name, &own, act_for_node, m);

    if (rc < 0)
        rc_outcome_miss(&m->outcome,
                        rc_format(&m->result->arena, "no socket for the tasks of this node: %s", strerror(-rc)));
    return !m->failed || (m->nodes > 1 && asks_order(m));
}

/* The part of the node's other tasks. */
static void ask_first(struct meeting *m, const char *name)
{
    /* wait longer than the first task may take: a task that gave up earlier would use another port */
    uint32_t patience = m->seconds * 1000 / SHARE_OF_NODE + rc_session_patience(m->seconds);
    const struct rc_gather_request own = request_of(m);
    struct rc_reply reply;
    int rc = cli_join_node(name, &own, m->seconds * 1000, patience, &reply);

    m->speaks = rc < 0;
    if (rc < 0) {
        rc_outcome_miss(
            &m->outcome,
            rc_format(&m->result->arena, "the node's first task (local rank 0) is not there: %s", rc_local_error(rc)));
        return;
    }
    rc_outcome_take((struct rc_str){ reply.text, reply.size }, &m->outcome);
    free(reply.text);
}

static void warn_user(struct rc_result *result, const char *why)
{
    rc_say(&result->messages, RC611,
           "the tasks could not agree on a free port: %s; continuing with a computed MASTER_PORT; start all tasks with "
           "rollcall exec, use a larger deadline=, or use exchange=off",
           why);
}

/* Plans once more, with the outcome. */
static bool resolve_again(struct meeting *m)
{
    struct rc_context *context = m->context;
    struct rc_result *result = m->result;

    if (!rc_session_settle(&m->outcome, rank0_hooks(), context, result, &m->held))
        return false;
    if (m->outcome.how == RC_MISSED && m->nodes > NODES_SAY)
        warn_user(result, rc_format(&result->arena, "%s (of %u nodes the first %u print this)", m->outcome.why,
                                    m->nodes, NODES_SAY));
    else if (m->outcome.how == RC_MISSED)
        warn_user(result, m->outcome.why);
    /* on one node its first task has held none: a computed port is the same for all */
    else if (m->outcome.how == RC_MET && !context->told.port && m->speaks && m->nodes > 1)
        warn_user(result, m->contradict
                              ? "the nodes contradict each other"
                              : rc_format(&result->arena, "not all of them were there within %u s", m->seconds));
    return true;
}

void cli_choose_store(struct rc_context *context, struct rc_result *result)
{
    const char *store = rc_pmix_server_gds(rc_env_get(&result->env, "PMIX_VERSION"));

    if (store)
        setenv(RC_PMIX_GDS, store, 0);
    /* the environment may have moved */
    context->env = (const char *const *)environ;
    rc_env_index(&result->env, context->env);
}

static bool meet_tasks(struct meeting *m)
{
    char name[RC_LOCAL_NAME];
    bool good = true;

    m->seconds = rc_options_deadline(&m->context->options);
    m->nodes = cli_fact(m->result, RC_NNODES);
    m->speaks = cli_fact(m->result, RC_LOCAL_RANK) == 0;
    rc_local_name(m->result->facts.scope, cli_fact(m->result, RC_NODE_RANK), name);
    if (m->nodes > 1)
        cli_choose_store(m->context, m->result);
    if (m->speaks)
        good = speak_for_all(m, name);
    else
        ask_first(m, name);
    return good && resolve_again(m);
}

static bool is_before_start(const struct rc_result *result)
{
    return result->status == RC_RESOLVED && result->master.addr && !rc_str_is(result->stamp.scope, result->facts.scope);
}

void cli_meet_try(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_master planned = result->master;
    struct rc_rank0 hooks = *rank0_hooks();
    struct rc_tcp_row row;
    const char *why;
    int held = -1;
    bool good;

    hooks.outcome = "the command would not be run";
    if (!is_before_start(result))
        return;
    good = rc_rank0_verify(result, &hooks);
    /* bind only a port that is in use, or may be refused: a free one stays free for a command that starts now */
    if (good && (planned.port < RC_PORT_FIRST_OF_USERS || rc_proctcp_find(planned.port, &row)))
        good = is_wanted(context, result, &why) ? rc_session_hold(&context->options, result, &hooks, &held)
                                                : rc_rank0_hold(result, &hooks, &held);
    rc_port_release(held);
    result->master = planned;
    if (!good)
        rc_result_refuse(result, "the facts contradict each other");
}

const char *cli_meet_left(const struct rc_result *result)
{
    bool many = cli_fact(result, RC_NNODES) != RC_UNKNOWN && cli_fact(result, RC_NNODES) > 1;
    bool is_open = result->master.port_open;

    if (!is_before_start(result) || (!many && !is_open))
        return NULL;
    return !many     ? "at start rank 0 may take another free port"
           : is_open ? "at start rank 0 may take another free port; the nodes were not compared, which srun --ddp does"
                     : "the nodes were not compared, which srun --ddp does at start";
}

bool cli_meet(struct rc_context *context, struct rc_result *result, bool *speaks)
{
    static struct meeting m; /* the context keeps pointing to its outcome */
    const char *why;
    bool good = true;

    m = (struct meeting){ .context = context, .result = result, .held = -1 };
    if (is_wanted(context, result, &why))
        good = meet_tasks(&m);
    else if (why)
        warn_user(result, why);
    /* nothing makes one line of those of thousands of nodes; RC601 of rank 0's node names those that it misses */
    *speaks = m.speaks && m.outcome.how != RC_MET &&
              (m.outcome.how != RC_MISSED || m.nodes <= NODES_SAY || cli_fact(result, RC_NODE_RANK) < NODES_SAY);
    good = good && rc_lookup_settle(context, result, rank0_hooks()->outcome) &&
           rc_rank0_verify(result, rank0_hooks()) && (m.held >= 0 || rc_rank0_hold(result, rank0_hooks(), &m.held));
    if (good)
        rc_rank0_raise_limit(result);
    return good;
}
