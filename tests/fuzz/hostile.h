/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile.h - a server that does whatever an input says, for what calls one: no network, and a clock of its own.
 *
 * Lines, each done when the client waits for a connection or for bytes; in a text | stands for a newline:
 *   m TEXT   a whole message with the token      b TEXT   these very bytes
 *   c        closes                              t N      N milliseconds pass
 *   x        the connection is refused           l        it is reset as it begins
 * Behind the last line the connection is closed. A client that goes on all the same makes the time pass.
 */
#pragma once

#include "fuzz.h"

#define HOSTILE_TOKEN   "0123456789abcdef0123456789abcdef"
#define HOSTILE_ADDRESS "127.0.0.1"

void hostile_begin(struct rc_str lines);

/* Closes what is open. The milliseconds that have passed. */
int64_t hostile_end(void);
