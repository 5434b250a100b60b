/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory.h - what a node has, as its own files say it: lines has=NAME VALUE for its entry in the roll call, by which
 * the nodes of a launch are compared (roll/items.def).
 *
 * Only files are read. No driver is opened, no library is loaded, and nothing is run. Equal nodes write equal bytes:
 * things are counted and sorted, and there is neither a serial number nor a bus id, an address, an inode or a time.
 *
 * A device that does not answer stops who reads its file: rollcall-exchange reads them in a program with a deadline.
 *
 * The root folder may be elsewhere: "" is this machine, and a test has a folder of its own with proc, sys and dev. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { RC_INVENTORY_SIZE = 2048 }; /* most bytes of all lines: what does not fit is left out */

/* Writes the lines, from files below `root` and the task's variables (NULL: none). Returns a text in the arena, ""
 * where nothing is known. For a process without threads. */
const char *rc_inventory_write(const char *root, const char *const *variables, struct rc_arena *arena);

/* The rest is for the files of this folder. */

enum { RC_FILES_PATH = 1024, RC_FILES_NAME = 64, RC_FILES_LINE = 128, RC_FILES_MAX = 256 };

/* The root folder of what follows; borrowed. */
void rc_files_begin(const char *root);

/* A path below the root, written as rc_format does, until the next call; "", which is no file, where it is too long. */
const char *rc_files_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first line of a file without blanks at both ends, in the arena; absent where there is none. */
struct rc_str rc_files_line(const char *path, struct rc_arena *arena);

/* The last name of what a symbolic link leads to, likewise. */
struct rc_str rc_files_link(const char *path, struct rc_arena *arena);

/* The names in a folder, without those that begin with a dot or are longer than a name may be. Returns how many; 0
 * where there is no such folder. */
unsigned rc_files_list(const char *path, char name[RC_FILES_MAX][RC_FILES_NAME]);

/* Without blanks at both ends. */
struct rc_str rc_files_trim(struct rc_str text);

/* Things of a node, counted by what is said of them: "7 at x16, 1 at x8". The order in which they were found makes no
 * difference. Begins as all zeros. */
enum { RC_TALLY_KINDS = 12, RC_TALLY_TEXT = 96 };

struct rc_tally {
    unsigned kinds;
    unsigned others; /* of further kinds, for which there was no room */
    struct rc_tally_kind {
        unsigned count;
        char text[RC_TALLY_TEXT];
    } kind[RC_TALLY_KINDS];
};

/* One more thing; a text that is too long is cut. */
void rc_tally_add(struct rc_tally *tally, struct rc_str text);

/* Writes the kinds, the most frequent first, equally frequent ones by their text; absent where there are none. */
struct rc_str rc_tally_write(struct rc_tally *tally, struct rc_arena *arena);

/* Each returns an item, a text in the arena; absent where there is nothing to say. */
typedef struct rc_str rc_inventory_item(struct rc_arena *arena);
rc_inventory_item rc_inventory_gpus;       /* "8 NVIDIA H100 80GB HBM3" */
rc_inventory_item rc_inventory_gpu_links;  /* "8 at x16" */
rc_inventory_item rc_inventory_gpu_driver; /* "550.54.15 (open)" */
rc_inventory_item rc_inventory_imex;       /* "there": some can be opened */
rc_inventory_item rc_inventory_nics;       /* "8 mlx5_core MT4129" */
rc_inventory_item rc_inventory_nic_ports;  /* "8 ACTIVE InfiniBand 400 Gb/sec..." */
rc_inventory_item rc_inventory_nic_links;  /* "8 at x16 32.0 GT/s PCIe" */
