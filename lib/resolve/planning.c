/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/planning.h"

#include "launcher/registry.h"
#include "resolve/arguments.h"
#include "resolve/frameworks.h"
#include "resolve/result.h"

#define RDZV_CONF "PET_RDZV_CONF"

/* torchrun reads every option's default from PET_<NAME> (argparse_util.py,
 * env): left over from another launch they would start agents inside workers. */
static const struct rc_name torchrun_names[] = {
    RC_NAME("PET_NNODES"),      RC_NAME("PET_NODE_RANK"),    RC_NAME("PET_NPROC_PER_NODE"),
    RC_NAME("PET_MASTER_ADDR"), RC_NAME("PET_MASTER_PORT"),  RC_NAME("PET_RDZV_ID"),
    RC_NAME(RDZV_CONF),         RC_NAME("PET_RDZV_BACKEND"), RC_NAME("PET_RDZV_ENDPOINT"),
    RC_NAME("PET_STANDALONE"),
};

/* TORCHELASTIC_USE_AGENT_STORE=True makes every rank a client of a store that
 * no process hosts: all time out (measured with torch 1.13.1). */
static const struct rc_name torchelastic_names[] = {
    RC_NAME("TORCHELASTIC_RUN_ID"),        RC_NAME("TORCHELASTIC_USE_AGENT_STORE"),
    RC_NAME("TORCHELASTIC_RESTART_COUNT"), RC_NAME("TORCHELASTIC_MAX_RESTARTS"),
    RC_NAME("TORCHELASTIC_ERROR_FILE"),
};

/* The mere presence of LOCAL_RANK tells Lightning and Accelerate that the
 * workers exist already. */
static const struct rc_name worker_names[] = {
    RC_NAME("RANK"),       RC_NAME("WORLD_SIZE"),       RC_NAME("LOCAL_RANK"), RC_NAME("LOCAL_WORLD_SIZE"),
    RC_NAME("GROUP_RANK"), RC_NAME("GROUP_WORLD_SIZE"),
};

/* What a worker's stamp says that it was told, in this order. */
static const struct rc_name told_names[RC_STAMP_TOLD] = {
    RC_NAME("RANK"), RC_NAME("WORLD_SIZE"), RC_NAME("LOCAL_RANK"), RC_NAME("LOCAL_WORLD_SIZE"), RC_NAME("NODE_RANK"),
};

/* Of these, another value than the one that was told shows that somebody has set it since. */
enum { TELLING = 3 };

struct writer {
    struct rc_result *result;
    const struct rc_command *command;
    uint32_t nproc;
};

static void set_number(struct writer *w, struct rc_str name, uint32_t value, const char *source, const char *reason)
{
    const char *text = rc_format_number(&w->result->arena, value);
    struct rc_str now = rc_plan_set(w->result, name, text, source, reason);

    if (now.p && !rc_str_is(now, text))
        rc_message_add(&w->result->messages, RC501,
                       rc_format(&w->result->arena, "%s was %q, it is %s now: %s", name.p, &now, text, reason));
}

static void set_field(struct writer *w, struct rc_str name, enum rc_field field, const char *reason)
{
    const char *source = w->result->facts.field[field].source;

    /* order=node changes the rank and nothing else, order=topology the node's as well */
    if (w->result->identity.field[field] != w->result->facts.field[field].value)
        source = w->result->facts.node_order_rank.source;
    set_number(w, name, w->result->identity.field[field], source, reason);
}

/* Programs index devices with it. */
static void set_local_rank(struct writer *w)
{
    const struct rc_visible *visible = &w->result->visible;

    if (visible->why)
        set_number(w, RC_STR("LOCAL_RANK"), visible->device, "the GPUs that this task sees", visible->why);
    else
        set_field(w, RC_STR("LOCAL_RANK"), RC_LOCAL_RANK, "this task's number on its node");
}

static void unset_all(struct writer *w, const struct rc_name *names, size_t n, const char *reason)
{
    for (size_t i = 0; i < n; i++)
        if (rc_env_find_name(&w->result->env, &names[i]).p)
            rc_plan_unset(w->result, rc_name(&names[i]), reason);
}

#define UNSET(w, names, reason) unset_all((w), (names), sizeof(names) / sizeof(*(names)), (reason))

/* Why MASTER_PORT is kept when the task already carries our stamp. */
static const char *told_or_set(struct writer *w)
{
    uint32_t told = w->result->stamp.port;

    if (!told)
        return "as this task was told it, or has set it since";
    if (told == w->result->master.port)
        return "as this task was told it";
    return rc_format(&w->result->arena, "set since; all tasks were told %u", told);
}

/* The user's own value that works, or ours. */
static void set_master_names(struct writer *w)
{
    const struct rc_master *master = &w->result->master;
    const char *port = rc_format_number(&w->result->arena, master->port);

    if (master->addr_given != RC_GIVEN_BY_LAUNCH)
        rc_plan_keep(w->result, RC_STR("MASTER_ADDR"), "it can work as the user set it");
    else
        rc_plan_set(w->result, RC_STR("MASTER_ADDR"), master->addr, master->addr_source, "the host of rank 0");
    if (master->port_given == RC_GIVEN_BY_STAMP)
        rc_plan_keep(w->result, RC_STR("MASTER_PORT"), told_or_set(w));
    else if (master->port_given == RC_GIVEN_BY_USER)
        rc_plan_keep(w->result, RC_STR("MASTER_PORT"),
                     rc_format(&w->result->arena, "as the user set it; without it, all tasks get %u",
                               (uint32_t)master->launch_port));
    else
        rc_plan_set(w->result, RC_STR("MASTER_PORT"), port, master->port_source,
                    "the same port in all tasks, held by rank 0");
    if (w->result->stamp_is_outer && master->kind == RC_ADDRESS_DEFAULT)
        rc_address_forget(w->result);
}

/* What frameworks read of a launcher's own variables, where it contradicts the
 * identity. Of the innermost launcher itself only sizes can be wrong (`srun -E`
 * keeps the job's); its ranks are the identity's origin, unless the nodes have
 * another order: Lightning and JAX take SLURM_PROCID for the rank. Absent ones
 * are not invented. */
static void repair_variables(struct writer *w, const struct rc_launcher *launcher)
{
    const struct rc_result *result = w->result;
    bool even = result->facts.min_local_size == result->facts.max_local_size;

    for (const struct rc_variable *v = launcher->variables; v->length; v++) {
        bool rank = v->field == RC_RANK || v->field == RC_LOCAL_RANK || v->field == RC_NODE_RANK;
        uint32_t right = result->identity.field[v->field];
        struct rc_str now;
        uint32_t number;

        if (!v->repair || right == RC_UNKNOWN ||
            (launcher == result->launcher && rank && (!result->ordered.host.p || v->field == RC_LOCAL_RANK)) ||
            (v->field == RC_LOCAL_WORLD_SIZE && !even))
            continue;
        now = rc_env_find(&result->env, rc_variable_name(v));
        if (!now.p || (rc_parse_u32(now, RC_MAX_TASKS, &number) && number == right))
            continue;
        set_number(w, rc_variable_name(v), right, result->facts.field[v->field].source,
                   "frameworks read it, and it contradicted the identity");
    }
}

static void repair_launchers(struct writer *w)
{
    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++) {
        const struct rc_launcher *launcher = rc_launcher_at(i);

        if (launcher->repairs)
            repair_variables(w, launcher);
    }
}

/* Lightning leaves Slurm alone in a job of that name (slurm.py, all versions). */
static bool is_interactive(struct rc_str job_name)
{
    return rc_str_is(job_name, "bash") || rc_str_is(job_name, "interactive");
}

/* A job name that launcher mode hid is given back to workers further inside. One
 * that makes Lightning count ranks from LOCAL_RANK is replaced, where that is 0. */
static void plan_job_name(struct writer *w)
{
    struct rc_str kept = rc_env_get(&w->result->env, RC_KEPT_NAME);
    struct rc_str now = rc_env_get(&w->result->env, "SLURM_JOB_NAME");
    bool hidden = kept.p && rc_str_is(now, "bash");

    if (w->result->visible.why && is_interactive(hidden ? kept : now))
        rc_plan_set(w->result, RC_STR("SLURM_JOB_NAME"), "srun", "LOCAL_RANK",
                    "Lightning takes no rank from an interactive job, but counts from LOCAL_RANK");
    else if (hidden)
        rc_plan_set(w->result, RC_STR("SLURM_JOB_NAME"), rc_format(&w->result->arena, "%S", &kept), RC_KEPT_NAME,
                    "launcher mode further outside had hidden it");
    if (kept.p)
        rc_plan_unset(w->result, RC_STR(RC_KEPT_NAME), "the job name is in its own place again");
}

static void plan_worker(struct writer *w)
{
    const struct rc_result *result = w->result;
    bool even = result->facts.min_local_size == result->facts.max_local_size;

    set_field(w, RC_STR("RANK"), RC_RANK, "this task's number in the job");
    set_field(w, RC_STR("WORLD_SIZE"), RC_WORLD_SIZE, "tasks in the job");
    set_local_rank(w);
    set_field(w, RC_STR("LOCAL_WORLD_SIZE"), RC_LOCAL_WORLD_SIZE, "tasks on this node");
    set_field(w, RC_STR("NODE_RANK"), RC_NODE_RANK, "this node's number in the job");
    set_field(w, RC_STR("GROUP_RANK"), RC_NODE_RANK, "torchrun's name for the node's number");
    set_field(w, RC_STR("GROUP_WORLD_SIZE"), RC_NNODES, "nodes of the job");
    set_master_names(w);
    plan_job_name(w);
    repair_launchers(w);
    /* also under mpirun in a batch script: Lightning takes SLURM_NTASKS, which
     * is repaired, for a reason to believe in Slurm */
    if (even && !rc_env_get(&result->env, "SLURM_NTASKS_PER_NODE").p &&
        (result->launcher->slurm_environment || rc_env_get(&result->env, "SLURM_NTASKS").p))
        set_field(w, RC_STR("SLURM_NTASKS_PER_NODE"), RC_LOCAL_WORLD_SIZE,
                  "Lightning refuses to start without it (\"You set --ntasks\")");
    UNSET(w, torchrun_names, "a worker must not start agents");
    UNSET(w, torchelastic_names, "left over from another torchrun");
}

/* torch's c10d backend guesses by name and address which node hosts the store (c10d_rendezvous_backend.py), and
 * misses a name of another network. The first node is told to; the others are left to guess: one that the endpoint
 * names hosts it all the same, and a store too many on the first node disturbs nobody. */
static void plan_host(struct writer *w, const struct rc_arguments *arguments)
{
    struct rc_str now = rc_env_get(&w->result->env, RDZV_CONF);
    bool is_ours = w->result->stamp.text.p && rc_str_starts(now, "is_host=");

    if (now.n && !is_ours)
        rc_plan_keep(w->result, RC_STR(RDZV_CONF), "as the user set it");
    else if (w->result->identity.field[RC_NODE_RANK] == 0 && !arguments->meets_elsewhere)
        rc_plan_set(w->result, RC_STR(RDZV_CONF), "is_host=1", "this node's number in the job",
                    "saves c10d from guessing the host by name");
    else
        rc_plan_unset(w->result, RC_STR(RDZV_CONF), "the host is found by the endpoint");
}

/* What agents of several steps share must not differ from step to step. */
static void plan_meeting(struct writer *w, const struct rc_arguments *arguments)
{
    struct rc_result *result = w->result;
    bool is_seen = w->command->torchrun || result->identity.field[RC_NNODES] > 1;

    if (arguments->has_no_rank)
        rc_plan_unset(result, RC_STR("PET_NODE_RANK"), "the rendezvous numbers the nodes, and warns of it");
    else
        set_field(w, RC_STR("PET_NODE_RANK"), RC_NODE_RANK, "this node's number in the job");
    if (is_seen && !arguments->is_part)
        rc_plan_set(result, RC_STR("PET_RDZV_ID"), result->facts.run_id, "job and step",
                    "two jobs with torchrun's default id can merge");
    else if (result->stamp.text.p)
        rc_plan_unset(result, RC_STR("PET_RDZV_ID"), "it would part this node from those of other steps");
    plan_host(w, arguments);
}

static void plan_torchrun(struct writer *w, const struct rc_arguments *arguments)
{
    const struct rc_result *result = w->result;
    uint32_t nproc = w->nproc ? w->nproc : result->facts.gpus.value;

    if (arguments->alone) {
        /* --standalone overrides the endpoint but not nnodes: with
         * PET_NNODES=2 it waits for ever (measured) */
        UNSET(w, torchrun_names, "torchrun trains on this node alone");
    } else {
        set_field(w, RC_STR("PET_NNODES"), RC_NNODES, "nodes of the job");
        rc_plan_set(w->result, RC_STR("PET_MASTER_ADDR"), result->master.addr, result->master.addr_source,
                    "the host of node 0");
        rc_plan_set(w->result, RC_STR("PET_MASTER_PORT"), rc_format_number(&w->result->arena, result->master.port),
                    result->master.port_source, "the same port on all nodes");
        plan_meeting(w, arguments);
    }
    if (!w->nproc && rc_env_get(&result->env, "PET_NPROC_PER_NODE").n)
        rc_plan_keep(w->result, RC_STR("PET_NPROC_PER_NODE"), "as the user set it");
    else if (nproc != RC_UNKNOWN && nproc > 0)
        set_number(w, RC_STR("PET_NPROC_PER_NODE"), nproc, w->nproc ? "nproc=" : result->facts.gpus.source,
                   "workers that torchrun starts on this node");
}

/* Lightning takes the step's tasks for its workers as long as it believes in
 * Slurm; a job named "bash" it leaves alone (slurm.py, all versions). */
static void hide_step_from_lightning(struct writer *w)
{
    struct rc_str name = rc_env_get(&w->result->env, "SLURM_JOB_NAME");

    if (!rc_env_get(&w->result->env, "SLURM_NTASKS").p)
        return;
    if (name.n && !rc_str_is(name, "bash"))
        rc_plan_set(w->result, RC_STR(RC_KEPT_NAME), rc_format(&w->result->arena, "%S", &name), "SLURM_JOB_NAME",
                    "the job's real name");
    rc_plan_set(w->result, RC_STR("SLURM_JOB_NAME"), "bash", "launcher mode",
                "Lightning must not take the step's tasks for its workers");
}

/* For a later rollcall in this task, which goes by the launcher's own numbers. */
static void keep_order(struct writer *w)
{
    struct rc_result *result = w->result;
    struct rc_ordered kept = result->ordered;
    struct rc_ordered before;

    if (!kept.host.p) {
        rc_plan_unset(result, RC_STR(RC_ORDERED), "left over from a launch further outside");
        return;
    }
    kept.rank = result->facts.field[RC_RANK].value;
    if (rc_ordered_read(&result->env, result->facts.scope, &before))
        kept.node = before.node;
    else if (!rc_parse_u32(rc_env_get(&result->env, "SLURM_NODEID"), RC_MAX_TASKS, &kept.node))
        kept.node = result->facts.field[RC_NODE_RANK].value;
    rc_plan_set(result, RC_STR(RC_ORDERED), rc_ordered_write(&kept, result->facts.scope, &result->arena), "rollcall",
                "keeps the launcher's own numbers");
}

static void plan_launcher(struct writer *w)
{
    struct rc_arguments arguments;

    set_field(w, RC_STR("NODE_RANK"), RC_NODE_RANK, "this node's number in the job");
    set_master_names(w);
    rc_arguments_read(w->result, &arguments);
    plan_torchrun(w, &arguments);
    /* scripts give torchrun or accelerate $SLURM_NODEID and $SLURM_PROCID */
    if (w->result->ordered.host.p)
        repair_launchers(w);
    hide_step_from_lightning(w);
    UNSET(w, worker_names, "it would say that the workers exist already");
    UNSET(w, torchelastic_names, "left over from another torchrun");
    rc_arguments_check(w->result, &arguments);
}

/* Beside the stamp of another launch, task or mode rollcall's own values stand
 * there, which are no wish of the user's. */
static void set_for_frameworks(struct writer *w, bool is_repeated)
{
    bool stale = w->result->stamp.text.p && !is_repeated;

    for (unsigned i = 0; i < RC_FRAMEWORK_COUNT; i++) {
        struct rc_framework_variable v = rc_framework_variable(w->result, (enum rc_framework_index)i);
        struct rc_str now = rc_env_find(&w->result->env, v.name);

        if (now.n && !stale && !(v.value && rc_str_is(now, v.value)))
            rc_plan_keep(w->result, v.name, "as it was set");
        else if (v.value)
            rc_plan_set(w->result, v.name, v.value, v.source, v.reason);
        else
            rc_plan_unset(w->result, v.name, "left over from a launch further outside");
    }
}

struct rc_str rc_planning_told_name(unsigned i)
{
    return rc_name(&told_names[i]);
}

bool rc_planning_is_changed(const struct rc_result *result, bool missing_counts)
{
    struct rc_str rest = result->stamp.told;

    for (unsigned i = 0; rest.p && i < TELLING; i++) {
        struct rc_str told = rc_str_split(rest, '/', &rest);
        struct rc_str now = rc_env_find_name(&result->env, &told_names[i]);

        if (now.p ? !rc_str_eq(now, told) : missing_counts)
            return true;
    }
    return false;
}

void rc_planning_restore(struct rc_result *result)
{
    static const char reason[] = "as this task was told, before somebody set another one";
    struct writer writer = { .result = result };
    struct rc_str rest = result->stamp.told;
    uint32_t value = RC_UNKNOWN;

    for (unsigned i = 0; i < RC_STAMP_TOLD; i++) {
        if (!rc_parse_u32(rc_str_split(rest, '/', &rest), RC_MAX_TASKS, &value))
            return;
        set_number(&writer, rc_name(&told_names[i]), value, RC_STAMP, reason);
    }
    set_number(&writer, RC_STR("GROUP_RANK"), value, RC_STAMP, reason);
}

void rc_planning_write(const struct rc_context *context, struct rc_result *result, const char *stamp, bool is_repeated)
{
    struct writer writer = { result, &result->command, context->options.nproc };

    if (result->mode == RC_MODE_WORKER)
        plan_worker(&writer);
    else if (result->mode == RC_MODE_LAUNCHER)
        plan_launcher(&writer);
    else
        return;
    keep_order(&writer);
    rc_visible_plan(context, result);
    set_for_frameworks(&writer, is_repeated);
    rc_plan_set(result, RC_STR(RC_STAMP), stamp, "rollcall", "tells a later rollcall in this task that all is done");
}
