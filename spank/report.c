/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "items.h"
#include "say.h"
#include "step.h"

static unsigned find_error(const struct rc_messages *messages)
{
    unsigned i = 0;

    while (i < messages->count && rc_message_entry(messages->list[i].id)->level != RC_LEVEL_ERROR)
        i++;
    return i;
}

bool rc_spank_report_error(spank_t spank, const struct rc_messages *messages)
{
    const struct rc_spank_step *step = rc_spank_step();
    unsigned i = find_error(messages);
    bool everywhere = i == messages->count || rc_message_entry(messages->list[i].id)->said == RC_SAID_PER_LAUNCH;

    if ((everywhere && !step->first_node) || !rc_spank_step_speaks(spank))
        return false;
    if (i == messages->count) /* the message did not fit into the list */
        rc_spank_say(RC_LEVEL_ERROR, RC502, "the environment is too large to be read; nothing is set");
    else
        rc_spank_say(step->options.by_user ? RC_LEVEL_ERROR : RC_LEVEL_WARNING, messages->list[i].id,
                     messages->list[i].text);
    return true;
}

void rc_spank_report_warnings(const struct rc_result *result)
{
    const struct rc_spank_step *step = rc_spank_step();
    const struct rc_master *master = &result->master;
    uint32_t debug = rc_debug_level(rc_env_get(&result->env, RC_DEBUG));

    if (!rc_spank_is_first(&result->env))
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
