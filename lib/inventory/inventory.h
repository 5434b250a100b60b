/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory.h - what a node has, as its own files say it: lines has=NAME VALUE for its entry in the roll call, which
 * the nodes of a launch are compared by (roll/items.def).
 *
 * Only files are read. No driver is opened, no library is loaded, and nothing is run. Equal nodes write equal bytes:
 * things are counted and sorted, and there is neither a serial number nor a bus id, an address, an inode or a time.
 *
 * A file system whose server is gone stops who reads it. The task's own folders may be on one, so that a child of this
 * process reads, and has a deadline.
 */
#ifndef ROLLCALL_INVENTORY_INVENTORY_H
#define ROLLCALL_INVENTORY_INVENTORY_H

#include "base/text.h"

enum {
    RC_INVENTORY_SIZE = 2560, /* most bytes of all lines: what does not fit is left out */
    RC_INVENTORY_MS = 300,    /* enough for two hundred files of a slow network's; most nodes take 2 ms */
};

/* Everything is borrowed for the call. */
struct rc_inventory_request {
    const char *root;       /* before each path; "": this machine */
    const char *const *env; /* of the task, or of a program of rollcall's that is started there; NULL: none */
    struct rc_str program;  /* what the task's command begins with (python.h); absent: neither torch nor libnccl is
                               looked for, as in a container */
};

/* Writes the lines of the node itself, and those of the task's libraries: "" where nothing is known. For a process
 * without threads. */
const char *rc_inventory_write_node(const struct rc_inventory_request *request, struct rc_arena *arena);
const char *rc_inventory_write_libraries(const struct rc_inventory_request *request, struct rc_arena *arena);

/* Both, in a child process, which has ended or is killed after so many milliseconds. Then the lines that were not there
 * are left out: those of the libraries, or all. Returns a text in the arena, "" where there are none; the reason goes
 * nowhere, for a node that does not say what it has is compared with none. */
const char *rc_inventory_write(const struct rc_inventory_request *request, uint32_t milliseconds,
                               struct rc_arena *arena);

#endif
