/* SPDX-License-Identifier: BSD-3-Clause */
#include "task.h"

#include <unistd.h>

#include "apply.h"
#include "bind.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "event.h"
#include "meet.h"
#include "outside.h"
#include "say.h"
#include "step.h"
#include "system/devicefiles.h"
#include "system/portowner.h"

static unsigned find_error(const struct rc_messages *messages)
{
    unsigned i = 0;

    while (i < messages->count && rc_message_entry(messages->list[i].id)->level != RC_LEVEL_ERROR)
        i++;
    return i;
}

/* Says the task's first error. False where another task says it. */
static bool say_error(spank_t spank, const struct rc_messages *messages)
{
    const struct rc_spank_step *step = rc_spank_step();
    unsigned i = find_error(messages);
    bool everywhere = i == messages->count || rc_message_entry(messages->list[i].id)->said == RC_SAID_PER_LAUNCH;

    if ((everywhere && !step->first_node) || !rc_spank_step_speaks(spank))
        return false;
    if (i == messages->count) /* it did not fit among the others */
        rc_spank_say(RC_LEVEL_ERROR, RC502, "the environment is too large to be read; nothing is set");
    else
        rc_spank_say(step->options.by_user ? RC_LEVEL_ERROR : RC_LEVEL_WARNING, messages->list[i].id,
                     messages->list[i].text);
    return true;
}

/* A user who asked gets an error and no task; where only the administrator did,
 * the job runs as it would without rollcall. */
static int give_up(spank_t spank, const struct rc_messages *messages)
{
    if (say_error(spank, messages))
        rc_spank_event_refused(rc_spank_result(), messages);
    if (!rc_spank_step()->options.by_user)
        return 0;
    /* Slurm ignores what an `optional` plugin returns (_do_call_stack), and of
     * a `required` one it would only print a second line */
    _exit(1);
}

static uint32_t debug_level(const struct rc_env *env)
{
    uint32_t level;

    return rc_parse_u32(rc_env_get(env, "ROLLCALL_DEBUG"), 9, &level) ? level : 0;
}

/* Once a step, by the task of RANK 0. */
static void say_warnings(const struct rc_result *result)
{
    const struct rc_spank_step *step = rc_spank_step();
    const struct rc_master *master = &result->master;
    uint32_t debug = debug_level(&result->env);

    if (!rc_str_is(rc_env_get(&result->env, "SLURM_PROCID"), "0"))
        return;
    for (unsigned i = 0; i < result->messages.count; i++) {
        enum rc_message_id id = result->messages.list[i].id;
        const struct rc_message_entry *entry = rc_message_entry(id);
        bool wanted = step->options.by_user || entry->wanted == RC_WANTED_ALWAYS;

        if (entry->level == RC_LEVEL_ERROR)
            continue;
        if (debug || (entry->level == RC_LEVEL_WARNING && wanted))
            rc_spank_say(entry->level, id, result->messages.list[i].text);
    }
    if (debug)
        slurm_spank_log("rollcall: %s mode: %s", rc_mode_name(result->mode),
                        *step->reason ? step->reason : result->mode_reason);
    if (debug && master->addr)
        slurm_spank_log("rollcall: master address %s (%s), port %u (%s)", master->addr, master->addr_source,
                        (unsigned)master->port, master->port_source);
}

/* False, with the message, if MASTER_ADDR cannot be reached from this node. */
static bool find_master(struct rc_result *result)
{
    if (!rc_lookup_is_needed(result))
        return true;
    return rc_lookup_apply(result, rc_spank_step_lookup(result, "nothing was set"));
}

/* Which GPUs of the node this task may open is looked at only where it decides something. */
static enum rc_status resolve(struct rc_context *context, struct rc_result *result)
{
    static struct rc_here here;
    enum rc_status status = rc_resolve(context, result);

    if (!(result->wants & RC_LEARN_GPU_FILES))
        return status;
    here = rc_spank_step()->here;
    rc_device_files_find(&here);
    here.learned |= RC_LEARN_GPU_FILES;
    context->here = &here;
    return rc_resolve(context, result);
}

int rc_spank_task_begin(spank_t spank)
{
    const struct rc_spank_step *step = rc_spank_step();
    struct rc_result *result = rc_spank_result();
    struct rc_rank0 way = {
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };
    struct rc_context context;
    const char *failed;
    bool contained;
    bool late;
    bool first;
    int held;

    /* without user_init the node's tasks share no memory: none of them may know more than the others */
    late = rc_spank_step_begin(spank);
    if (late) {
        rc_spank_meet_forget();
        rc_spank_bind_forget();
    }
    if (!step->active)
        return 0;
    if (!step->understood)
        return give_up(spank, &step->wrong);
    contained = rc_spank_outside_is_elsewhere();
    if (contained)
        rc_spank_step_look_again();
    context = (struct rc_context){
        .env = rc_spank_environment(spank),
        .here = step->here.learned ? &step->here : NULL,
        .argv = rc_spank_command(spank),
        .options = step->options,
        .pid = (uint32_t)getpid(),
        .local_port_first = step->local_port_first,
        .local_port_last = step->local_port_last,
        .contained = contained,
        .slurm_certain = true,
        .decided_mode = step->mode,
        .step_gpus = late ? NULL : step->gpus,
    };
    if (resolve(&context, result) != RC_RESOLVED) {
        rc_spank_meet_not(spank, result);
        return give_up(spank, &result->messages);
    }
    way.node = rc_env_get(&result->env, "SLURMD_NODENAME");
    way.outcome = step->options.by_user ? "nothing was set" : "the ranks are set all the same";
    if (!rc_spank_meet(spank, &context, result, &way, &held) || !find_master(result))
        return give_up(spank, &result->messages);
    if (!rc_rank0_verify(result, &way) || (held < 0 && !rc_rank0_hold(result, &way, &held))) {
        if (step->options.by_user)
            return give_up(spank, &result->messages);
        /* the other nodes' tasks have their ranks already: without the user's word
         * against it, this one gets its own, port or no port */
        say_error(spank, &result->messages);
    }
    rc_spank_bind(spank, &context, result);
    say_warnings(result);
    first = rc_str_is(rc_env_get(&result->env, "SLURM_PROCID"), "0");
    failed = rc_spank_apply(spank, &result->plan);
    if (!failed) {
        /* the block has moved, and the entries that were set anew are gone */
        rc_env_index(&result->env, first ? rc_spank_environment(spank) : NULL);
        if (first)
            rc_spank_event_set(result);
        return 0;
    }
    rc_message_add(&result->messages, RC503,
                   rc_format(&result->arena,
                             "%s could not be put into the task's environment; nothing is set; make the "
                             "job's environment smaller",
                             failed));
    return give_up(spank, &result->messages);
}
