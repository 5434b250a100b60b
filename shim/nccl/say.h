/* SPDX-License-Identifier: BSD-3-Clause */
/* say.h - one line on standard error, at once. */
#ifndef ROLLCALL_SHIM_NCCL_SAY_H
#define ROLLCALL_SHIM_NCCL_SAY_H

#include <stdbool.h>

#include "base/message.h"

/* Whether ROLLCALL_DEBUG asks for notes. */
bool guard_debug(void);

/* Prints a message; a note only if guard_debug. Prints only printable ASCII, because
 * parts of the text may come from another process. */
void guard_say(enum rc_message_id id, const char *text);

#endif
