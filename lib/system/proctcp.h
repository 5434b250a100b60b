/* SPDX-License-Identifier: BSD-3-Clause */
/* proctcp.h - the kernel's list of TCP sockets of this network namespace, by local port.
 *
 * A socket that is bound but neither listens nor is connected (a port that
 * rollcall holds, until the application listens on it) is not in the list.
 * Freestanding with ROLLCALL_RAW_SYSCALLS.
 */
#ifndef ROLLCALL_SYSTEM_PROCTCP_H
#define ROLLCALL_SYSTEM_PROCTCP_H

#include <stdbool.h>
#include <stdint.h>

enum { RC_TCP_TIME_WAIT = 6, RC_TCP_LISTEN = 10 };

struct rc_tcp_row {
    uint32_t state;
    uint32_t user;
    uint64_t inode; /* 0: no process has it open any more */
};

/* Whether there is a socket with that local port, IPv4 or IPv6; of several one
 * that listens, else one that a process has open, is written to *row. */
bool rc_proctcp_find(uint16_t port, struct rc_tcp_row *row);

#endif
