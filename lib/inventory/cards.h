/* SPDX-License-Identifier: BSD-3-Clause */
/* cards.h - the node's cards for fast networks: InfiniBand, RoCE, EFA and others that the kernel lists in
 * /sys/class/infiniband, and Slingshot's in /sys/class/cxi. Their names, addresses and firmware are not compared. */
#ifndef ROLLCALL_INVENTORY_CARDS_H
#define ROLLCALL_INVENTORY_CARDS_H

#include "base/text.h"

/* Each writes into the arena; absent where there is no such card. */
struct rc_str rc_inventory_nics(const char *root, struct rc_arena *arena); /* "8 mlx5_core MT4129" */
struct rc_str rc_inventory_nic_ports(const char *root,
                                     struct rc_arena *arena); /* "8 ACTIVE InfiniBand 400 Gb/sec..." */
struct rc_str rc_inventory_nic_links(const char *root, struct rc_arena *arena); /* "8 at x16 32.0 GT/s" */

#endif
