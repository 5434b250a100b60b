/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory.h - what a node has, as its own files say it: lines has=NAME VALUE for its entry in the roll call, which
 * the nodes of a launch are compared by (roll/items.def).
 *
 * Only files are read. No driver is opened, no library is loaded, and nothing is run. Equal nodes write equal bytes:
 * things are counted and sorted, and there is neither a serial number nor a bus id, an address, an inode or a time.
 *
 * A device that does not answer stops who reads its file: rollcall-exchange reads them in a program with a deadline.
 */
#ifndef ROLLCALL_INVENTORY_INVENTORY_H
#define ROLLCALL_INVENTORY_INVENTORY_H

#include "base/text.h"

enum { RC_INVENTORY_SIZE = 2048 }; /* most bytes of all lines: what does not fit is left out */

/* Writes the lines, from files below `root` ("": this machine) and the task's variables (NULL: none). Returns a text in
 * the arena, "" where nothing is known. For a process without threads. */
const char *rc_inventory_write(const char *root, const char *const *variables, struct rc_arena *arena);

#endif
