/* SPDX-License-Identifier: BSD-3-Clause */
/* say.h - rollcall's lines, through Slurm: `rollcall: warning RC301: TEXT`.
 *
 * In srun they go to its standard error, in user_init and task_init to the
 * task's, through srun's own channels (--label, --error, --output).
 */
#ifndef ROLLCALL_SPANK_SAY_H
#define ROLLCALL_SPANK_SAY_H

#include "base/message.h"

void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text);

/* Prints the messages of this level or worse. */
void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least);

#endif
