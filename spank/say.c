/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text)
{
    slurm_spank_log("rollcall: %s %s: %s", rc_level_name(level), rc_message_entry(id)->id, text);
}

void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least)
{
    for (unsigned i = 0; i < messages->count; i++) {
        enum rc_level level = rc_message_entry(messages->list[i].id)->level;

        if (level >= least)
            rc_spank_say(level, messages->list[i].id, messages->list[i].text);
    }
}
