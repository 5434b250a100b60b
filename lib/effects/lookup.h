/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup.h - MASTER_ADDR as this node resolves it. */
#pragma once

#include "launcher/hosts.h"
#include "resolve/resolve.h"
#include "system/net.h"

/* MASTER_ADDR as this node sees it: names resolved, addr= looked up. Not for the preload.
 *
 * Names go to the C library's resolver, so a call may take as long as the site's
 * DNS. The answer holds for all tasks of a node: one of them asks.
 *
 *   a name       resolves here, on rank 0's node to that one and on others to another one than this,
 *                or is an error now instead of torch's timeout
 *   addr=-ib     likewise; the interface is the one by which this node reaches it
 *   addr=CIDR    the address of rank 0's node in that network
 *   addr=ib0     the same, in the networks of this node's own interface ib0; where
 *                the node's name leads elsewhere NAME-ib0 and NAME-ib are tried
 *
 * Every node finds the same address by itself: the lowest of those that the name
 * resolves to, IPv4 before IPv6. RANK 0 then checks that it is its own (rank0.h). */

enum { RC_LOOKUP_TEXT = 448 };

/* The result of a look-up. It has no pointers, so that processes can share it. */
struct rc_lookup {
    enum { RC_LOOKUP_SAME, RC_LOOKUP_FOUND, RC_LOOKUP_WRONG } state;
    enum rc_message_id id;             /* of WRONG */
    char text[RC_LOOKUP_TEXT];         /* of WRONG */
    char addr[RC_NETADDR_TEXT];        /* of FOUND; empty: master.addr stays */
    char interface[RC_INTERFACE_SIZE]; /* of FOUND; empty: not known */
    char strange[RC_NETADDR_TEXT];     /* of a name: an address that RANK 0's node has not; empty: none */
    uint32_t seconds;                  /* that the resolver took; 0: no longer than it should */
};

/* Whether there is anything to look up for result->master. */
bool rc_lookup_is_needed(const struct rc_result *result);

/* Looks up what result->master needs. `outcome` is for the line of an error: what
 * comes of it ("nothing is set"). A resolver that has no answer now (EAI_AGAIN) is
 * an error only where an address is needed. */
void rc_lookup_master(const struct rc_result *result, const char *outcome, struct rc_lookup *lookup);

/* Adds a warning where the resolver has held up this node, or says of RANK 0's node what that does not say itself.
 * For the one task that has asked. */
void rc_lookup_warn(const struct rc_master *master, const struct rc_lookup *lookup, struct rc_messages *messages);

/* Puts what was found into the result and its plan. False, with the error in
 * result->messages and an empty plan, for RC_LOOKUP_WRONG. */
bool rc_lookup_apply(struct rc_result *result, const struct rc_lookup *lookup);

/* rc_lookup_master, rc_lookup_warn and rc_lookup_apply, where there is anything to look up. */
bool rc_lookup_settle(struct rc_result *result, const char *outcome);

/* Whether all addresses that MASTER_ADDR resolves to are surely other nodes'. */
bool rc_lookup_is_elsewhere(const struct rc_result *result);

/* A MASTER_ADDR that stays a name, as this node resolves it; and the errors of every look-up. */

/* What an error message tells about this node. */
struct rc_lookup_place {
    char node[RC_HOST_MAX + 1];
    const char *outcome;
};
