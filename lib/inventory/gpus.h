/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.h - the node's GPUs, their driver and IMEX channels, as the drivers' files have them. No driver is opened, so a
 * GPU that the task may not use counts, too. */
#ifndef ROLLCALL_INVENTORY_GPUS_H
#define ROLLCALL_INVENTORY_GPUS_H

#include "base/text.h"

/* Each writes into the arena; absent where there is nothing to say. */
struct rc_str rc_inventory_gpus(const char *root, struct rc_arena *arena);       /* "8 NVIDIA H100 80GB HBM3" */
struct rc_str rc_inventory_gpu_links(const char *root, struct rc_arena *arena);  /* "8 at x16 32.0 GT/s" */
struct rc_str rc_inventory_gpu_driver(const char *root, struct rc_arena *arena); /* "550.54.15 (open)" */
struct rc_str rc_inventory_imex(const char *root, struct rc_arena *arena);       /* "there": some can be opened */

#endif
