/* SPDX-License-Identifier: BSD-3-Clause */
/* net.h - interfaces and their addresses, names that are looked up, ports of other nodes, and who has a port. */
#pragma once

#include <sys/socket.h>

#include "base/netaddr.h"

/* This node's interfaces and their addresses. Not for the preload. */

/* A node has hundreds of them for its containers. */
enum { RC_INTERFACES_MAX = 1024 };

/* One address of an interface. */
struct rc_interface {
    char name[RC_INTERFACE_SIZE];
    bool is_up; /* and has a carrier */
    struct rc_netaddr address;
    struct rc_network network; /* around it */
};

/* Writes at most RC_INTERFACES_MAX entries; returns their number. Leaves link-local addresses out. */
unsigned rc_interfaces(struct rc_interface list[RC_INTERFACES_MAX]);

/* The same with link-local addresses, and with an address's label, if it has one, in place of the interface's name: as
 * other libraries see them. */
unsigned rc_interfaces_all(struct rc_interface list[RC_INTERFACES_MAX]);

/* Writes the name of the interface that has an address, or by which this node reaches it: the kernel's choice of a
 * route. Nothing is sent. False for loopback and where there is no route. */
bool rc_interface_towards(const struct rc_netaddr *address, char name[RC_INTERFACE_SIZE]);

/* The address that this node's packets to another one carry. Send nothing. Return false if there is no route. */
bool rc_source_towards(const struct rc_netaddr *address, struct rc_netaddr *source);

/* A name's addresses, by the C library's resolver. Not for the preload.
 *
 * May take as long as the site's DNS does. */

enum { RC_ADDRESSES_MAX = 32 };

struct rc_addresses {
    struct rc_netaddr list[RC_ADDRESSES_MAX];
    unsigned count;
};

/* Adds an address; drops it where the list is full. */
void rc_addresses_add(struct rc_addresses *addresses, const struct rc_netaddr *address);

/* Adds the addresses of a name. 0, or getaddrinfo's error. */
int rc_resolver_ask(const char *name, struct rc_addresses *addresses);

/* Whether such an error is an answer: there is no such name, or it has no address.
 * Other errors (EAI_AGAIN) are no answer. */
bool rc_resolver_denies(int error);

/* What a name leads to, in words for the other nodes: "192.0.2.7,fd00::7", or one of these. */
#define RC_LEADS_UNKNOWN    "no such name"
#define RC_LEADS_UNANSWERED "nothing, as no name server answers"
enum { RC_LEADS_MAX = 255 };

/* Writes the address as text, "192.0.2.7", and returns it. */
const char *rc_netaddr_text(const struct rc_netaddr *address, char text[RC_NETADDR_TEXT]);

/* Test whether this node reaches a port of another one, at any of its addresses, even if nothing listens there yet.
 * Return 0, or the errno of the first address. A refusal by the port is 0; ECONNREFUSED is a firewall's, which sends
 * another message than a port does. A firewall that resets as a port does is not seen. A program that listens sees no
 * connection. Before Linux 4.12 this returns 0 at once, without a try. If packets are dropped it takes `milliseconds`
 * and up to 250 more; else as long as a packet and its answer. */
int rc_port_reach(const struct rc_addresses *addresses, uint16_t port, uint32_t milliseconds);

/* Says such an errno. */
const char *rc_port_reach_words(int error);

/* Writes "pid 1234 (python) of user 1000", or as much of it as this process may
 * see: another user's open files are hidden, and the process may be in another
 * pid namespace, not listen yet, or be gone. text has `size` bytes, at least 1. */
void rc_port_owner(uint16_t port, char *text, size_t size);
