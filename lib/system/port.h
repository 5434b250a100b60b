/* SPDX-License-Identifier: BSD-3-Clause */
/* port.h - the held port, and who holds ports on this node, without a libc. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/netaddr.h"

/* An address and a port as sockets have them. */
union rc_socket_name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Returns the size of what it writes. */
socklen_t rc_socket_name(union rc_socket_name *name, const struct rc_netaddr *address, uint16_t port);

/* Whether an address belongs to another node: no socket can be bound to it with any
 * port. Other failures prove nothing, and give false. */
bool rc_netaddr_is_elsewhere(const struct rc_netaddr *address);

/* A socket of this node at a TCP port, for IPv4 and, where the node has it, IPv6; with SO_REUSEADDR, and not listening.
 *
 * EXCLUSIVE: bound before it gets SO_REUSEADDR, so any socket at this port refuses it. What a server left there in
 * TIME_WAIT does so, too, for a minute.
 * SHARED: bound with SO_REUSEADDR, so TIME_WAIT does not refuse it. A listener does, and a held port (below). */
enum rc_port_binding { RC_PORT_EXCLUSIVE, RC_PORT_SHARED };

/* type: SOCK_STREAM, with flags. Returns the descriptor or -errno (-EADDRINUSE: another program has the port). */
int rc_port_bind(uint16_t port, int type, enum rc_port_binding binding);

/* The master port: held, not guessed.
 *
 * The socket is bound exclusively, which fails where any program has the port. Then it gets SO_REUSEADDR, and is never
 * listened on. A listener that sets SO_REUSEADDR itself (torch's TCPStore with either back end, IPv4 and dual stack)
 * may then take the port, in this process or another. Refused are, as measured on Linux 6.18: a bind without
 * SO_REUSEADDR, with SO_REUSEPORT, to port 0, an outgoing connection, and a second holder. The kernel knows no owner of
 * a port: any program that asks for this very number with SO_REUSEADDR gets it. So this keeps accidents away, not
 * attackers. */

/* Below it the kernel refuses to bind a port for users (-EACCES), if it is not told otherwise. */
enum { RC_PORT_FIRST_OF_USERS = 1024 };

/* Holds a TCP port, for IPv4 and, where the node has it, IPv6. It stays held in what this process becomes by exec. The
 * descriptor has a high number (200 and up where the limit allows), because programs may count on low ones. Returns it,
 * or -errno (-EADDRINUSE: another program has the port). */
int rc_port_hold(uint16_t port);

/* The number of a held port; 0 where fd is no held port. (rc_port_hold(0) leaves the choice to the kernel.) */
uint16_t rc_port_number(int fd);

/* Gives a held port back. Does nothing for a negative fd. */
void rc_port_release(int fd);

/* The kernel's list of TCP sockets of this network namespace, by local port.
 *
 * A socket that is bound but neither listens nor is connected (a port that rollcall holds, until the application
 * listens on it) is not in the list. Freestanding with ROLLCALL_RAW_SYSCALLS. */

enum { RC_TCP_LISTEN = 10 };

struct rc_tcp_row {
    uint32_t state;
    uint32_t user;
    uint64_t inode; /* 0: no process has it open any more */
};

/* Whether there is a socket with that local port, IPv4 or IPv6; of several one
 * that listens, else one that a process has open, is written to *row. */
bool rc_proctcp_find(uint16_t port, struct rc_tcp_row *row);
