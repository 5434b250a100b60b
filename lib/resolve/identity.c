/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/steps.h"

#include "launcher/hosts.h"
#include "resolve/command.h"
#include "resolve/options.h"
#include "resolve/resolve.h"

static void set_mode(struct rc_result *result, enum rc_mode mode, const char *reason)
{
    result->mode = mode;
    result->mode_reason = reason;
}

/* Return the largest known number of tasks on a node. */
static uint32_t most_tasks(const struct rc_result *result)
{
    if (result->facts.max_local_size != RC_UNKNOWN)
        return result->facts.max_local_size;
    return result->identity.field[RC_LOCAL_WORLD_SIZE];
}

static bool launcher_mode(struct rc_result *result, const char *reason, const char *asked)
{
    uint32_t tasks = most_tasks(result);
    const char *each = result->launcher->each;

    if (tasks == 1) {
        set_mode(result, RC_MODE_LAUNCHER, reason);
        return true;
    }
    return rc_say(&result->messages, RC302,
                  "%s needs one task a node, but a node has %u; nothing is set; use one on each%s%s%s, or "
                  "--ddp=worker",
                  asked, tasks, each[0] ? " (" : "", each, each[0] ? ")" : "");
}

/* A script numbers a step on each node: its variables cover all steps. */
static bool is_numbered_by_hand(const struct rc_result *result)
{
    const struct rc_env *env = &result->env;
    struct rc_str rank = rc_env_either(env, RC_STR("RANK"), RC_STR("NODE_RANK"));
    struct rc_str size = rc_env_either(env, RC_STR("WORLD_SIZE"), RC_STR("NNODES"));
    uint32_t job_nodes, steps, step;

    return !result->stamp.text.p && result->identity.field[RC_WORLD_SIZE] == 1 && result->facts.job_hosts.p &&
           rc_hostlist_count(result->facts.job_hosts, &job_nodes) && job_nodes > 1 &&
           rc_parse_u32(size, RC_MAX_TASKS, &steps) && steps > 1 && rc_parse_u32(rank, steps - 1, &step) &&
           rc_env_get(env, "MASTER_ADDR").n && rc_env_get(env, "MASTER_PORT").n;
}

/* Servers that know no others, such as one a GPU. */
static bool serve_apart(const struct rc_result *result)
{
    return result->command.told && !result->command.given.nnodes.p && most_tasks(result) > 1;
}

/* Only the script shows if it starts workers or is one. */
static const char *reason_for_launcher(struct rc_result *result)
{
    const struct rc_number *gpus = &result->facts.gpus;
    const char *each = rc_each_write(result, gpus->value);

    if (!result->launcher->processes[0])
        each = "--ddp=worker";
    return rc_format(&result->arena,
                     "one task a node and %u GPUs for it (%s); for torchrun, Lightning and others that start one "
                     "process a GPU; a script that reads RANK needs %s",
                     gpus->value, gpus->source,
                     each ? each : rc_format(&result->arena, "%u tasks a node", gpus->value));
}

static void by_counts(struct rc_result *result)
{
    const struct rc_number *gpus = &result->facts.gpus;
    uint32_t tasks = most_tasks(result);
    bool several_gpus = gpus->value != RC_UNKNOWN && gpus->value > 1;

    if (tasks == 1 && several_gpus)
        set_mode(result, RC_MODE_LAUNCHER, reason_for_launcher(result));
    else if (result->identity.field[RC_WORLD_SIZE] == 1)
        set_mode(result, RC_MODE_WORKER, "one task, with no more than one GPU");
    else if (tasks == 1)
        set_mode(result, RC_MODE_WORKER, "one task a node, with no more than one GPU each");
    else
        set_mode(result, RC_MODE_WORKER, rc_format(&result->arena, "up to %u tasks on a node", tasks));
}

/* torchrun numbers its workers. Lightning starts a worker a GPU unless LOCAL_RANK is set. */
static bool decide_alone(const struct rc_context *context, struct rc_result *result)
{
    const uint32_t gpus = result->facts.gpus.value;
    const uint32_t nproc = context->options.nproc;
    bool starts_workers = nproc > 1 || result->command.kind == RC_COMMAND_LAUNCHER;

    if (!result->stamp_is_outer)
        starts_workers = result->stamp.mode == RC_STAMP_LAUNCHER;
    set_mode(result, starts_workers ? RC_MODE_LAUNCHER : RC_MODE_WORKER, "this process is a job of its own");
    result->has_workers = !starts_workers && !nproc && gpus != RC_UNKNOWN && gpus > 1 &&
                          (result->stamp_is_outer || !result->stamp.told.p);
    return true;
}

void rc_starter_say(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_command *command = &result->command;
    const char *cure = command->cure;

    if (command->kind != RC_COMMAND_STARTER || !(context->called || context->slurm_certain) ||
        rc_command_names_rollcall(context->argv))
        return;
    if (!cure)
        cure = rc_format(&result->arena, "put it in front of your program: %pS ... rollcall exec -- python train.py%s",
                         &command->name, command->is_guess ? "; if the shell itself is a task, use --ddp=worker" : "");
    rc_say(&result->messages, RC310, "the processes that %pS starts would all get one rank, so rollcall sets none; %s",
           &command->name, cure);
}

void rc_mode_of_daemon(const struct rc_context *context, struct rc_result *result)
{
    rc_starter_say(context, result);
    set_mode(
        result, RC_MODE_NONE,
        rc_format(&result->arena, "%pS starts the tasks itself and must not pass on a rank", &result->command.name));
}

bool rc_mode_decide(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_command *command = &result->command;
    const struct rc_options *options = &context->options;

    if (result->launcher->authoritative) {
        set_mode(result, RC_MODE_TORCHRUN, "torchrun started this process and has numbered it");
    } else if (options->mode == RC_MODE_OFF) {
        set_mode(result, RC_MODE_NONE, "switched off");
    } else if (rc_command_starts_tasks(command)) {
        rc_mode_of_daemon(context, result);
    } else if (result->launcher->alone) {
        return decide_alone(context, result);
    } else if (options->mode == RC_MODE_WORKER) {
        set_mode(result, RC_MODE_WORKER, "asked for");
    } else if (options->mode == RC_MODE_LAUNCHER) {
        return launcher_mode(result, "asked for", "launcher mode");
    } else if (context->decided_mode != RC_MODE_AUTO) {
        set_mode(result, context->decided_mode, "decided for the node");
    } else if (rc_env_get(&result->env, "SUBMITIT_EXECUTOR").p) {
        /* submitit's TorchDistributedEnvironment fails if a name is set */
        set_mode(result, RC_MODE_NONE, "submitit sets the variables itself");
    } else if (command->kind == RC_COMMAND_LAUNCHER && !serve_apart(result)) {
        return launcher_mode(result, rc_format(&result->arena, "the command is %pS", &command->name),
                             rc_copy(&result->arena, command->name));
    } else if (options->nproc) {
        return launcher_mode(result, "nproc= was given", "nproc=");
    } else if (is_numbered_by_hand(result)) {
        set_mode(result, RC_MODE_NONE, "the script has numbered this step itself, by RANK and WORLD_SIZE or the like");
    } else {
        by_counts(result);
    }
    return true;
}

static const char field_names[RC_FIELD_COUNT][20] = {
    [RC_RANK] = "rank",
    [RC_LOCAL_RANK] = "local rank",
    [RC_NODE_RANK] = "node rank",
    [RC_WORLD_SIZE] = "world size",
    [RC_LOCAL_WORLD_SIZE] = "local world size",
    [RC_NNODES] = "number of nodes",
};

static bool is_below(struct rc_result *result, enum rc_field index, enum rc_field size)
{
    const struct rc_number *i = &result->facts.field[index];
    const struct rc_number *n = &result->facts.field[size];

    if (i->value == RC_UNKNOWN || n->value == RC_UNKNOWN || i->value < n->value)
        return true;
    return rc_say(
        &result->messages, RC103, "%s %u (%s) is not below %s %u (%s); nothing is set; start the command with %s again",
        field_names[index], i->value, i->source, field_names[size], n->value, n->source, result->launcher->title);
}

struct rc_reader rc_reader_of(const struct rc_context *context, struct rc_result *result)
{
    return (struct rc_reader){
        .env = &result->env,
        .here = context->here,
        .stamp = result->stamp,
        .pid = context->pid,
        .slurm_certain = context->slurm_certain,
        .slurm_het = context->slurm_het,
        .starts_alone = context->options.mode == RC_MODE_ALONE,
        .messages = &result->messages,
        .arena = &result->arena,
        .scratch = result->scratch,
    };
}

/* Copied: gcc 12.2 for aarch64 at -O1 drops a loop between two arrays of *result (-fno-ivopts keeps it). */
void rc_identity_take(struct rc_result *result)
{
    struct rc_identity identity;

    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        identity.field[i] = result->facts.field[i].value;
    result->identity = identity;
}

bool rc_identity_read(const struct rc_context *context, struct rc_result *result, rc_facts_reader *read)
{
    struct rc_reader reader = rc_reader_of(context, result);

    reader.master_left_over = result->outer_master != NULL;
    if (!read(result->launcher_index, &reader, &result->facts)) {
        /* half of the facts are none */
        rc_facts_init(&result->facts);
        return false;
    }
    rc_identity_take(result);
    return is_below(result, RC_RANK, RC_WORLD_SIZE) && is_below(result, RC_LOCAL_RANK, RC_LOCAL_WORLD_SIZE) &&
           is_below(result, RC_NODE_RANK, RC_NNODES);
}

/* A later rollcall in the same task has no options: report the RANK already assigned. */
static bool is_by_node(const struct rc_context *context, const struct rc_result *result)
{
    if (context->options.order != RC_ORDER_UNSET)
        return context->options.order == RC_ORDER_NODE;
    return result->stamp.mode == RC_STAMP_BY_NODE && !result->stamp_is_outer;
}

bool rc_identity_order(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_number *rank = &result->facts.node_order_rank;

    if (!is_by_node(context, result))
        return true;
    if (rank->value == RC_UNKNOWN)
        return rc_say(&result->messages, RC306,
                      "order=node was requested, but %s does not provide the number of tasks on each node; nothing is "
                      "set; leave order=node out%s",
                      result->launcher->title, rc_options_origin(&context->options, RC_KEY_order));
    result->identity.field[RC_RANK] = rank->value;
    result->by_node = true;
    return true;
}

static void warn_unordered(const struct rc_context *context, struct rc_result *result)
{
    rc_say(&result->messages, RC308,
           "order=topology was asked for, but %s; the nodes are in the order of %s; %s, or leave "
           "order=topology out%s",
           context->told.unordered ? context->told.unordered : "the nodes have not met", result->launcher->title,
           context->told.unordered ? "see topology.conf(5)" : "use srun --ddp without exchange=off",
           rc_options_origin(&context->options, RC_KEY_order));
}

/* A damaged order could give a rank outside this launch. */
static bool check_order(const struct rc_ordered *ordered, const uint32_t *field, struct rc_result *result)
{
    if (ordered->place < field[RC_NNODES] && ordered->before <= field[RC_WORLD_SIZE] - field[RC_LOCAL_WORLD_SIZE])
        return true;
    return rc_say(&result->messages, RC103,
                  RC_ORDERED " has more nodes or tasks than this launch; nothing is set; unset it");
}

bool rc_identity_follow_network(const struct rc_context *context, struct rc_result *result)
{
    struct rc_facts *facts = &result->facts;
    uint32_t *field = result->identity.field;

    result->ordered = context->told.order;
    if (!result->ordered.host.p && !rc_ordered_read(&result->env, facts->scope, &result->ordered)) {
        if (context->options.order == RC_ORDER_TOPOLOGY && field[RC_NNODES] != 1)
            warn_unordered(context, result);
        return true;
    }
    if (!check_order(&result->ordered, field, result))
        return false;
    field[RC_NODE_RANK] = result->ordered.place;
    field[RC_RANK] = result->ordered.before + field[RC_LOCAL_RANK];
    facts->node_order_rank.value = field[RC_RANK];
    facts->node_order_rank.source = "SLURM_TOPOLOGY_ADDR of all nodes";
    facts->master_node = rc_hostlist_find(facts->hosts, result->ordered.host);
    facts->master_host = result->ordered.host;
    facts->master_source = "first node in the order of the network";
    return true;
}

/* order=node changes only the rank, order=topology also the node's. */
const char *rc_identity_source(const struct rc_result *result, enum rc_field field)
{
    const struct rc_number *said = &result->facts.field[field];
    uint32_t value = result->identity.field[field];

    if (value == RC_UNKNOWN)
        return NULL;
    return value == said->value ? said->source : result->facts.node_order_rank.source;
}

/* If several launchers set a variable, use the first. */
static void reject(struct rc_plan *plan, const char *name, struct rc_str value, const char *reason)
{
    for (unsigned i = 0; i < plan->rejected_count; i++)
        if (rc_str_is(rc_str(plan->rejected[i].name), name))
            return;
    if (plan->rejected_count < RC_REJECTED_MAX)
        plan->rejected[plan->rejected_count++] = (struct rc_rejected){ name, value, reason };
}

/* Families share names: PMI_RANK is Hydra's and Cray's. */
static bool is_own(const struct rc_launcher *launcher, const char *name)
{
    for (const struct rc_variable *v = launcher->variables; v->length; v++)
        if (rc_str_is(rc_variable_name(v), name))
            return true;
    return false;
}

static void reject_variable(struct rc_result *result, const struct rc_launcher *launcher,
                            const struct rc_variable *variable)
{
    enum rc_field field = (enum rc_field)variable->field;
    struct rc_str value = rc_env_find(&result->env, rc_variable_name(variable));
    uint32_t right = result->identity.field[field];
    bool rank = field == RC_RANK || field == RC_LOCAL_RANK || field == RC_NODE_RANK;
    uint32_t number;

    /* its ranks are the identity's source; order=node and an arbitrary distribution renumber them. LOCAL_RANK may be a
     * GPU's */
    if ((launcher == result->launcher ? rank : is_own(result->launcher, variable->text)) ||
        (result->gpus.why && rc_str_is(rc_variable_name(variable), "LOCAL_RANK")))
        return;
    if (value.p && right != RC_UNKNOWN && !(rc_parse_u32(value, RC_UNKNOWN - 1, &number) && number == right))
        reject(&result->plan, variable->text, value,
               rc_format(&result->arena, "the %s is %u by %s", field_names[field], right,
                         rc_identity_source(result, field)));
}

/* No launcher's table has an old MASTER_ADDR or PET_NNODES. */
static void reject_replaced(struct rc_result *result, const struct rc_plan_entry *entry)
{
    struct rc_str value = rc_env_find(&result->env, entry->name);

    /* rollcall's stamp and replaced job name were correct */
    if (entry->changes && value.n && !rc_str_starts(entry->name, "ROLLCALL_") &&
        !rc_str_is(entry->name, "SLURM_JOB_NAME"))
        reject(&result->plan, entry->name.p, value,
               entry->value ? rc_format(&result->arena, "it is %s now: %s", entry->value, entry->reason)
                            : entry->reason);
}

void rc_identity_list_rejected(struct rc_result *result)
{
    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++) {
        const struct rc_launcher *launcher = rc_launcher_at(i);

        for (const struct rc_variable *v = launcher->variables; v->length; v++)
            reject_variable(result, launcher, v);
    }
    for (unsigned i = 0; i < result->plan.count; i++)
        reject_replaced(result, &result->plan.entry[i]);
}
