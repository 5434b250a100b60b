/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - one node's part in the exchange. */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_NODE_H
#define ROLLCALL_LIBEXEC_EXCHANGE_NODE_H

/* Reads a request (lib/rendezvous/request.h) from standard input, does it, and
 * prints the answer or one line failed=WHY. Returns an exit status: 0 or 1. */
int exchange_node(void);

/* The argument with which this program is its own child, and what it does then: it prints what the node has
 * (lib/inventory). Returns an exit status, likewise. */
#define EXCHANGE_INVENTORY "inventory"
int exchange_inventory(void);

#endif
