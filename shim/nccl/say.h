/* SPDX-License-Identifier: BSD-3-Clause */
/* say.h - one line on standard error, at once. */
#ifndef ROLLCALL_SHIM_NCCL_SAY_H
#define ROLLCALL_SHIM_NCCL_SAY_H

#include <stdbool.h>

#include "base/message.h"

/* Whether ROLLCALL_DEBUG asks for notes. */
bool guard_debug(void);

/* Notes are for guard_debug alone. Nothing but printable ASCII: parts of the text
 * may be what another process has said of itself. */
void guard_say(enum rc_message_id id, const char *text);

#endif
