/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory.h - a node's hardware and settings as lines has=NAME VALUE of its roll call entry, for comparing the nodes
 * of a launch (roll/items.def).
 *
 * Only reads files: opens no driver, loads no library, runs nothing. Equal nodes write equal bytes: items are counted
 * and sorted, without serial numbers, bus ids, addresses, inodes or times. A hung device blocks its reader, so
 * rollcall-exchange reads the files in a program with a deadline.
 *
 * The root folder is "" on a real machine; a test has one with proc, sys and dev. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { RC_INVENTORY_SIZE = 2048 }; /* limit of all lines in bytes */

/* Write the lines, from files below `root` and the task's variables (or NULL). Return a text in the arena, "" if
 * nothing is known. Not thread-safe. */
const char *rc_inventory_write(const char *root, const char *const *variables, struct rc_arena *arena);

/* Internal to this folder: */

enum { RC_FILES_PATH = 1024, RC_FILES_NAME = 64, RC_FILES_LINE = 128, RC_FILES_MAX = 256 };

/* Set the root folder; borrowed. */
void rc_files_begin(const char *root);

/* Return a path below the root, formatted as by rc_format(), valid until the next call; "" if it is too long. */
const char *rc_files_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return a file's first line, trimmed, in the arena, or RC_ABSENT. */
struct rc_str rc_files_line(const char *path, struct rc_arena *arena);

/* Return the base name of a symbolic link's target in the arena, or RC_ABSENT. */
struct rc_str rc_files_link(const char *path, struct rc_arena *arena);

/* List the names in a folder, except those with a leading dot or too long. Return their number; 0 without the
 * folder. */
unsigned rc_files_list(const char *path, char name[RC_FILES_MAX][RC_FILES_NAME]);

/* Remove leading and trailing blanks. */
struct rc_str rc_files_trim(struct rc_str text);

/* Counts of equal texts, in any order of arrival: "7 at x16, 1 at x8". Initialize to zero. */
enum { RC_TALLY_KINDS = 12, RC_TALLY_TEXT = 96 };

struct rc_tally {
    unsigned kinds;
    unsigned others; /* of kinds beyond RC_TALLY_KINDS */
    struct rc_tally_kind {
        unsigned count;
        char text[RC_TALLY_TEXT];
    } kind[RC_TALLY_KINDS];
};

/* Count a text, cut to fit. */
void rc_tally_add(struct rc_tally *tally, struct rc_str text);

/* Write the kinds by falling count, then by text. Return RC_ABSENT if there are none. */
struct rc_str rc_tally_write(struct rc_tally *tally, struct rc_arena *arena);

/* Each returns an item's text in the arena, or RC_ABSENT if unknown. */
typedef struct rc_str rc_inventory_item(struct rc_arena *arena);
rc_inventory_item rc_inventory_gpus;       /* "8 NVIDIA H100 80GB HBM3" */
rc_inventory_item rc_inventory_gpu_links;  /* "8 at x16" */
rc_inventory_item rc_inventory_gpu_driver; /* "550.54.15 (open)" */
rc_inventory_item rc_inventory_imex;       /* "there": at least one can be opened */
rc_inventory_item rc_inventory_nics;       /* "8 mlx5_core MT4129" */
rc_inventory_item rc_inventory_nic_ports;  /* "8 ACTIVE InfiniBand 400 Gb/sec..." */
rc_inventory_item rc_inventory_nic_links;  /* "8 at x16 32.0 GT/s PCIe" */
