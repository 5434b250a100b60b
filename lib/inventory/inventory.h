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

enum { RC_FILES_PATH = 1024, RC_FILES_NAME = 64, RC_FILES_LINE = 128 };

/* Writes a path as rc_format does, into `path`. Returns it; "", which is no file, where it is too long. */
const char *rc_files_path(char path[RC_FILES_PATH], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first line of a file without blanks at both ends, in `line`; absent where there is none. */
struct rc_str rc_files_line(const char *path, char line[RC_FILES_LINE]);

/* What a symbolic link leads to, as it is written, in `target`; absent where it is none. */
struct rc_str rc_files_link(const char *path, char target[RC_FILES_PATH]);

/* The names in a folder, sorted, without those that begin with a dot or are longer than a name may be; `max` of them at
 * most, which are not always the first. Returns how many; 0 where there is no such folder. */
unsigned rc_files_list(const char *path, unsigned max, char name[][RC_FILES_NAME]);

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

/* Each writes an item into the arena; absent where there is nothing to say. Sizes are a number and a unit: exact ones
 * as ulimit and mount take them ("64 KiB"), others in MiB, large ones in GiB. */
typedef struct rc_str rc_inventory_item(const char *root, struct rc_arena *arena);
rc_inventory_item rc_inventory_gpus;       /* "8 NVIDIA H100 80GB HBM3" */
rc_inventory_item rc_inventory_gpu_links;  /* "8 at x16" */
rc_inventory_item rc_inventory_gpu_driver; /* "550.54.15 (open)" */
rc_inventory_item rc_inventory_imex;       /* "there": some can be opened */
rc_inventory_item rc_inventory_nics;       /* "8 mlx5_core MT4129" */
rc_inventory_item rc_inventory_nic_ports;  /* "8 ACTIVE InfiniBand 400 Gb/sec..." */
rc_inventory_item rc_inventory_nic_links;  /* "8 at x16 32.0 GT/s PCIe" */
rc_inventory_item rc_inventory_kernel;     /* "6.8.0-45-generic" */
rc_inventory_item rc_inventory_memlock;    /* "64 KiB (hard limit 8 MiB)" */
rc_inventory_item rc_inventory_nofile;     /* "1024 (hard limit 524288)" */
rc_inventory_item rc_inventory_stack;      /* likewise */
rc_inventory_item rc_inventory_shm;        /* "503 GiB" */
rc_inventory_item rc_inventory_memory;     /* "1007 GiB" */

/* "16 of 128": the processors that this process may give itself, if its job has as many on each node, and those of the
 * node. `even` is false where a job has not as many. Sets the process's mask for a moment. */
struct rc_str rc_inventory_cores(const char *root, bool even, struct rc_arena *arena);
