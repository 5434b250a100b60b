/* SPDX-License-Identifier: BSD-3-Clause */
/* libraries.h - the torch and the libnccl that a task would load: found by file, never by loading them.
 *
 * Neither inode nor time of a file is told: copies that every node has of its own differ in them. The size of libnccl
 * is there, which another build of the same version does not have. */
#ifndef ROLLCALL_INVENTORY_LIBRARIES_H
#define ROLLCALL_INVENTORY_LIBRARIES_H

#include "inventory/python.h"

/* Each writes into the arena; absent where there is none. */
struct rc_str rc_inventory_torch(const char *root, const struct rc_python *python, struct rc_arena *arena);

/* The first in the order of the loader: of NVIDIA's package or of a conda environment, because torch's libraries name
 * these in a DT_RPATH, which comes before LD_LIBRARY_PATH; of LD_LIBRARY_PATH; of the system. */
struct rc_str rc_inventory_nccl(const char *root, const struct rc_python *python, const struct rc_env *env,
                                struct rc_arena *arena);

#endif
