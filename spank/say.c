/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

enum { LINE_SIZE = 2048 };

/* Slurm ends the line itself. */
void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text)
{
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    struct rc_str whole = rc_str(rc_message_line(&arena, level, id, text));

    slurm_spank_log("%.*s", (int)whole.n - 1, whole.p);
}

void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least)
{
    for (unsigned i = 0; i < messages->count; i++) {
        enum rc_level level = rc_message_entry(messages->list[i].id)->level;

        if (level >= least)
            rc_spank_say(level, messages->list[i].id, messages->list[i].text);
    }
}
