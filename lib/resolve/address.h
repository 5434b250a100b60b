/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h - addr=: by which address of RANK 0's node the others reach it.
 *
 * Four kinds, known by how they are written:
 *
 *   ib0                    an interface: the address that it has on that node
 *   10.1.0.0/16            a network: the node's address in it
 *   -ib  .hsn  -ib.fabric  what is appended to the node's name
 *   given                  MASTER_ADDR as it was set, though no node may have it itself (NAT, a virtual address)
 *
 * A suffix goes after the first label of the name. One with a dot is the domain
 * as well, in place of the name's own; one without leaves the domain:
 *
 *   n1 -ib -> n1-ib                n1.example.org -ib  -> n1-ib.example.org
 *   n1 .hsn -> n1.hsn              n1.example.org .hsn -> n1.hsn
 *                                  n1.example.org -ib.fabric -> n1-ib.fabric
 *
 * A suffix is text, the same on all nodes. Interface and network need a look at
 * the node and at its resolver (system/lookup.h), which the core does not take:
 * it leaves the node's name in the plan, until it is told the address (struct rc_told).
 */
#pragma once

#include "resolve/model.h"

/* Tells the kind of a value of addr=. Returns NULL where the value is good, else what is
 * wrong with it, for a message. */
const char *rc_address_read(struct rc_str value, enum rc_address_kind *kind);

/* Returns the name of a node with a suffix. NULL for an address, which takes no suffix,
 * and where the name becomes too long. */
const char *rc_address_with_suffix(struct rc_str host, struct rc_str suffix, struct rc_arena *arena);
