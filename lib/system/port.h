/* SPDX-License-Identifier: BSD-3-Clause */
/* port.h - hold the master port and find port owners, without a libc. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/netaddr.h"

union rc_socket_name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Return the size. */
socklen_t rc_socket_name(union rc_socket_name *name, const struct rc_netaddr *address, uint16_t port);

/* Return true if no socket here can bind the address; false on other failures. */
bool rc_netaddr_is_elsewhere(const struct rc_netaddr *address);

/* A TCP port for IPv4 and, if available, IPv6, with SO_REUSEADDR, not listening. EXCLUSIVE sets it after bind(): any
 * socket at the port, even in TIME_WAIT (60 s), causes EADDRINUSE. SHARED sets it before: only a listener or a held
 * port does. */
enum rc_port_binding { RC_PORT_EXCLUSIVE, RC_PORT_SHARED };

/* Bind a port. `type`: SOCK_STREAM with flags. Return the descriptor, or -errno. */
int rc_port_bind(uint16_t port, int type, enum rc_port_binding binding);

/* The master port is held, not guessed: bound exclusively, then given SO_REUSEADDR, never listened on. A listener with
 * SO_REUSEADDR (torch's TCPStore with either back end, IPv4 and dual stack) can take it. Refused (Linux 6.18): a bind
 * without SO_REUSEADDR, with SO_REUSEPORT or to port 0, an outgoing connection, a second holder. Prevents accidents,
 * not attacks. */

/* By default, lower ports give users -EACCES. */
enum { RC_PORT_FIRST_OF_USERS = 1024 };

/* Hold a TCP port, also across exec, with a descriptor of 200 or more if the limit allows, as programs may rely on low
 * ones. Return it, or -errno (-EADDRINUSE: another program has the port). */
int rc_port_hold(uint16_t port);

/* Return the number of a held port, else 0. */
uint16_t rc_port_number(int fd);

/* Release a held port unless fd is negative. */
void rc_port_release(int fd);

/* TCP sockets of this network namespace, except those that neither listen nor are connected, such as a held port. Works
 * with ROLLCALL_RAW_SYSCALLS. */

enum { RC_TCP_LISTEN = 10 };

struct rc_tcp_row {
    uint32_t state;
    uint32_t user;
    uint64_t inode; /* 0: not open in a process */
};

/* Find a socket with this local port, preferably listening, else open. Return false without one. */
bool rc_proctcp_find(uint16_t port, struct rc_tcp_row *row);
