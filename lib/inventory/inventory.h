/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory.h - what a node has, as its own files say it: lines has=NAME VALUE for its entry in the roll call, which
 * the nodes of a launch are compared by (roll/items.def).
 *
 * Only files are read. No driver is opened, no library is loaded, and nothing is run. Equal nodes write equal bytes:
 * things are counted and sorted, and there is neither a serial number nor a bus id, an address, an inode or a time.
 *
 * A device that does not answer stops who reads its file, so that a child of this process reads, and has a deadline.
 */
#ifndef ROLLCALL_INVENTORY_INVENTORY_H
#define ROLLCALL_INVENTORY_INVENTORY_H

#include "base/text.h"

enum {
    RC_INVENTORY_SIZE = 2048, /* most bytes of all lines: what does not fit is left out */
    RC_INVENTORY_MS = 300,    /* most nodes take 2 ms */
};

/* Everything is borrowed for the call. */
struct rc_inventory_request {
    const char *root;       /* before each path; "": this machine */
    const char *const *env; /* of the task, or of a program of rollcall's that is started there; NULL: none */
};

/* Writes the lines: "" where nothing is known. For a process without threads. */
const char *rc_inventory_write_node(const struct rc_inventory_request *request, struct rc_arena *arena);

/* The same, in a child process, which has ended or is killed after so many milliseconds. Returns a text in the arena,
 * "" where there are none; the reason goes nowhere, for a node that does not say what it has is compared with none. */
const char *rc_inventory_write(const struct rc_inventory_request *request, uint32_t milliseconds,
                               struct rc_arena *arena);

#endif
