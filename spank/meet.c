/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "spank.h"

#include <string.h>

#include "launcher/families.h"
#include "node.h"
#include "rendezvous/discovery.h"
#include "rendezvous/session.h"
#include "rendezvous/wire.h"
#include "roll/entry.h"
#include "system/node.h"
#include "system/port.h"

enum { NODES_SAY = 8, LINE_SIZE = 2048 };

/* Filled in by the first task. */
struct meeting_memory {
    struct rc_once met;
    enum rc_transport transport; /* none: no node was queried */
    struct rc_outcome outcome;
};

static struct meeting_memory *shared;

/* SPEAKS runs the exchange, WAITS waited for it, LATE got no answer. */
static enum { WAITS, SPEAKS, LATE } part;

void rc_spank_meet_prepare(void)
{
    shared = rc_once_memory(sizeof(*shared));
}

/* Return whether this task has local rank 0, as RANK 0 does. */
static bool is_first_task(spank_t spank, const struct rc_result *result)
{
    struct rc_str variable = rc_env_get(&result->env, "SLURM_LOCALID");
    int local;

    if (spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS)
        return local == 0;
    return rc_str_is(variable, "0");
}

/* Print RC611 on a few nodes: thousands may fail. srun's server names all (RC601, RC621). */
static void say_some(const struct rc_result *result, const char *text)
{
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    uint32_t node, nodes;

    if (!rc_parse_u32(rc_env_get(&result->env, "SLURM_NODEID"), RC_MAX_TASKS, &node) ||
        !rc_parse_u32(rc_env_get(&result->env, "SLURM_STEP_NUM_NODES"), RC_MAX_TASKS, &nodes) || nodes <= NODES_SAY)
        rc_spank_say(RC_LEVEL_WARNING, RC611, text);
    else if (node < NODES_SAY)
        rc_spank_say(RC_LEVEL_WARNING, RC611,
                     rc_format(&arena, "%s; after %u nodes only slurmd's log has this line", text, NODES_SAY));
    else
        slurm_info("rollcall: warning RC611: %s", text);
}

/* Without an entry in the roll call, prevent RC621: report that the plugin runs. */
static void report_plugin(const struct rc_result *result)
{
    char text[LINE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str node = rc_env_get(&result->env, "SLURMD_NODENAME");
    struct rc_endpoint endpoint;
    struct rc_str step;
    int rc;

    /* not the server of an outer step */
    if (!rc_endpoint_of_srun(&result->env, &endpoint, &step, &arena) || !rc_endpoint_is_own_step(&result->env, step))
        return;
    rc_spank_outside_enter();
    rc = rc_session_attend(&endpoint, &result->env);
    rc_spank_outside_leave();
    if (rc < 0)
        say_some(result,
                 rc_format(&arena, "%pS could not report to srun that it has rollcall: %s; RC621 does not hold for it",
                           &node, strerror(-rc)));
}

void rc_spank_meet_not(spank_t spank, const struct rc_result *result)
{
    if (!is_first_task(spank, result) || (shared && !rc_once_begin(&shared->met)))
        return;
    report_plugin(result);
    if (shared)
        rc_once_done(&shared->met);
}

static bool is_het(const struct rc_result *result)
{
    return rc_env_get(&result->env, "SLURM_HET_SIZE").p != NULL;
}

/* srun's server is cheaper than PMIx, and prints to srun's standard error. Only the first het component gets its
 * variables (measured on 22.05). */
static enum rc_transport choose_transport(const struct rc_result *result, const struct rc_options *options,
                                          struct rc_endpoint *endpoint, struct rc_arena *arena)
{
    struct rc_str step;

    if (options->exchange != RC_EXCHANGE_PMIX && !is_het(result) &&
        rc_endpoint_of_srun(&result->env, endpoint, &step, arena) && rc_str_is(step, result->facts.run_id))
        return RC_TRANSPORT_SRUN;
    if (options->exchange != RC_EXCHANGE_SRUN && rc_slurmpmix_step(&result->env).p &&
        (is_het(result) || !rc_pmix_server_unreached(&result->facts)))
        return RC_TRANSPORT_PMIX;
    return RC_TRANSPORT_NONE;
}

/* spank_setenv may move the block. */
static void choose_store(spank_t spank, struct rc_context *context, struct rc_result *result)
{
    const char *store = rc_pmix_server_gds(rc_env_get(&result->env, "PMIX_VERSION"));

    if (store)
        spank_setenv(spank, RC_PMIX_GDS, store, 0);
    context->env = rc_spank_environment(spank);
    rc_env_index(&result->env, context->env);
}

static void call_roll(const struct rc_result *result, const struct rc_session *session)
{
    static char text[RC_SESSION_TEXT];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_answer answer;

    rc_spank_outside_enter();
    rc_session_meet(session, &answer, &shared->outcome, &arena);
    /* prevent srun's line about this node */
    if (shared->outcome.how == RC_MISSED && session->transport == RC_TRANSPORT_SRUN)
        rc_session_attend(&session->endpoint, &result->env);
    rc_spank_outside_leave();
    if (result->facts.field[RC_NODE_RANK].value == 0)
        rc_spank_say_all(&answer.findings, RC_LEVEL_NOTE);
}

/* A single node only reports itself to srun. */
static bool meet_nobody(const struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks,
                        int *held)
{
    bool good = rc_session_hold(&context->options, result, hooks, held);

    shared->outcome.how = good ? RC_MET : RC_STOPPED;
    shared->outcome.port = rc_port_number(*held);
    report_plugin(result);
    return good;
}

static void miss_nodes(const struct rc_options *options, const struct rc_result *result)
{
    const char *unreached = rc_slurmpmix_step(&result->env).p ? rc_pmix_server_unreached(&result->facts) : NULL;

    if (options->exchange == RC_EXCHANGE_PMIX)
        rc_outcome_miss(&shared->outcome, unreached ? unreached : "the step has no PMIx server (srun --mpi=pmix)");
    else if (options->exchange == RC_EXCHANGE_SRUN)
        rc_outcome_miss(&shared->outcome, "there is no rendezvous server beside srun");
    else if (!is_het(result))
        rc_outcome_miss(&shared->outcome,
                        "there is no rendezvous server beside srun, and no PMIx server (srun --mpi=pmix)");
}

/* Work of the first task. *held stays open if it holds RANK 0's port. Return false, with an error in result->messages,
 * on failure. */
static bool meet_nodes(spank_t spank, struct rc_context *context, struct rc_result *result,
                       const struct rc_rank0 *hooks, int *held)
{
    char text[LINE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_options *options = &context->options;
    struct rc_session session = {
        .result = result,
        .options = options,
        .tasks = rc_env_get(&result->env, "SLURM_GTIDS"),
        .seconds = rc_options_deadline(options),
        .check = rc_options_check(options),
        .same = rc_options_same(options),
    };

    if (result->identity.field[RC_NNODES] == 1)
        return meet_nobody(context, result, hooks, held);
    session.transport = choose_transport(result, options, &session.endpoint, &arena);
    if (session.transport == RC_TRANSPORT_NONE) {
        miss_nodes(options, result);
        return true;
    }
    shared->transport = session.transport;
    if (!rc_session_hold(options, result, hooks, held))
        session.failed = rc_message_entry(result->messages.list[result->messages.count - 1].id)->id;
    session.port = rc_port_number(*held);
    if (session.transport == RC_TRANSPORT_PMIX)
        choose_store(spank, context, result);
    session.tools = (struct rc_tools){ .exchange = rc_spank_program(RC_EXCHANGE), .env = result->env.block };
    call_roll(result, &session);
    return rc_session_asks_order(options, result) || !session.failed;
}

static const char *advise(const struct rc_options *options, const struct rc_outcome *outcome)
{
    if (rc_str_starts(rc_str(outcome->why), RC_EXCHANGE))
        return "repair rollcall on that node, or use exchange=off";
    if (options->exchange == RC_EXCHANGE_PMIX)
        return "try exchange=srun, or use exchange=off";
    if (shared->transport == RC_TRANSPORT_PMIX)
        return "use exchange=off";
    return "try srun --mpi=pmix --ddp=exchange=pmix, or use exchange=off";
}

/* RANK 0's task prints its messages; the first task of other nodes prints the node's. */
static void warn_user(const struct rc_options *options, struct rc_result *result, const struct rc_rank0 *hooks)
{
    struct rc_str node = hooks->node.n ? hooks->node : RC_STR("this node");
    const char *text = rc_format(
        &result->arena,
        "the nodes could not reach each other: %s; continuing: %pS uses a computed MASTER_PORT, and its tasks were not "
        "checked; %s",
        shared->outcome.why, &node, advise(options, &shared->outcome));

    if (rc_spank_is_first(&result->env))
        rc_message_add(&result->messages, RC611, text);
    else if (part == SPEAKS && shared->transport != RC_TRANSPORT_NONE &&
             rc_session_report(&result->env, RC611, text) < 0)
        say_some(result, text);
}

/* Resolve again with the answer. Release a port that other nodes do not know: all then compute one. */
static bool resolve_again(spank_t spank, struct rc_context *context, struct rc_result *result,
                          const struct rc_rank0 *hooks, int *held)
{
    if (part == WAITS && shared->transport == RC_TRANSPORT_PMIX)
        choose_store(spank, context, result);
    if (!rc_session_settle(&shared->outcome, hooks, context, result, held))
        return false;
    if (shared->outcome.how == RC_MISSED)
        warn_user(&context->options, result, hooks);
    return true;
}

/* The first task may have agreed on a port unknown here. Return false. */
static bool refuse_late(struct rc_result *result, const struct rc_rank0 *hooks, bool in_time, uint32_t patience)
{
    struct rc_str node = hooks->node.n ? hooks->node : RC_STR("this node");
    const char *why = in_time ? "has ended" : rc_format(&result->arena, "gave no answer within %u s", patience / 1000);

    return rc_say(
        &result->messages, RC613,
        "the first task on %pS, which requests MASTER_PORT from the other nodes, %s; nothing was set for the other "
        "tasks on %pS; start the step again; if it happens again, use --ddp=exchange=off",
        &node, why, &node);
}

void rc_spank_meet_finish(void)
{
    if (part == SPEAKS)
        rc_once_done(&shared->met);
}

struct rc_str rc_spank_meet_leads(void)
{
    return shared && shared->outcome.leads[0] ? rc_str(shared->outcome.leads) : RC_ABSENT;
}

bool rc_spank_meet(spank_t spank, struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks,
                   int *held)
{
    uint32_t patience = rc_session_patience(rc_options_deadline(&context->options));
    int64_t start = rc_milliseconds();

    *held = -1;
    if (context->options.exchange == RC_EXCHANGE_OFF || result->stamped ||
        (result->launcher && result->launcher->alone))
        return true;
    if (!shared || (result->mode != RC_MODE_WORKER && result->mode != RC_MODE_LAUNCHER)) {
        rc_spank_meet_not(spank, result);
        return true;
    }
    if (is_first_task(spank, result) && rc_once_begin(&shared->met))
        part = SPEAKS;
    else
        part = rc_once_wait(&shared->met, patience) ? WAITS : LATE;
    if (part == LATE)
        return refuse_late(result, hooks, rc_milliseconds() - start < patience, patience);
    if (part == SPEAKS && !meet_nodes(spank, context, result, hooks, held))
        return false;
    if (!resolve_again(spank, context, result, hooks, held))
        return false;
    rc_spank_meet_finish();
    return true;
}
