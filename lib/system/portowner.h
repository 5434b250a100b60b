/* SPDX-License-Identifier: BSD-3-Clause */
/* portowner.h - who has a TCP port, in words for an error message. Not for the preload. */
#ifndef ROLLCALL_SYSTEM_PORTOWNER_H
#define ROLLCALL_SYSTEM_PORTOWNER_H

#include <stddef.h>
#include <stdint.h>

/* Writes "pid 1234 (python) of user 1000", or as much of it as this process may
 * see: another user's open files are hidden, and the process may be in another
 * pid namespace, not listen yet, or be gone. text has `size` bytes, at least 1. */
void rc_port_owner(uint16_t port, char *text, size_t size);

#endif
