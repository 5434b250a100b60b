/* SPDX-License-Identifier: BSD-3-Clause */
/* interfaces.h - this node's interfaces and their addresses. Not for the preload. */
#ifndef ROLLCALL_SYSTEM_INTERFACES_H
#define ROLLCALL_SYSTEM_INTERFACES_H

#include <sys/socket.h>

#include "base/netaddr.h"

enum { RC_INTERFACE_SIZE = 16, RC_INTERFACES_MAX = 64 };

/* One address of an interface. Link-local addresses are left out; an interface
 * without any other has one entry, with an address of size 0. */
struct rc_interface {
    char name[RC_INTERFACE_SIZE];
    struct rc_netaddr address;
    struct rc_network network; /* around it */
};

/* Writes at most RC_INTERFACES_MAX entries; returns their number. */
unsigned rc_interfaces(struct rc_interface list[RC_INTERFACES_MAX]);

/* Writes the name of the interface that has an address, or by which this node
 * reaches it: the kernel's choice of a route. Nothing is sent. False for loopback
 * and where there is no route. */
bool rc_interface_towards(const struct rc_netaddr *address, char name[RC_INTERFACE_SIZE]);

bool rc_netaddr_from_socket(const struct sockaddr *from, struct rc_netaddr *to);

#endif
