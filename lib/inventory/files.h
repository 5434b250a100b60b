/* SPDX-License-Identifier: BSD-3-Clause */
/* files.h - files and folders of a machine whose root folder may be elsewhere: "" is this machine, and a test has a
 * folder of its own with proc, sys and dev.
 *
 * A folder and a name are joined with a slash. Nothing here waits for the other end of a FIFO. All functions are as
 * thread safe as their arguments.
 */
#ifndef ROLLCALL_INVENTORY_FILES_H
#define ROLLCALL_INVENTORY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { RC_FILES_PATH = 1024, RC_FILES_NAME = 64, RC_FILES_LINE = 128 };

/* Writes ROOT/FOLDER/NAME into path. False where it is too long. */
bool rc_files_join(const char *root, const char *folder, const char *name, char path[RC_FILES_PATH]);

/* Reads up to `size` bytes of a file; returns how many, 0 for none. */
size_t rc_files_read(const char *root, const char *folder, const char *name, char *text, size_t size);

/* The first line of a file without blanks at both ends, in `line`; absent where there is none. */
struct rc_str rc_files_line(const char *root, const char *folder, const char *name, char line[RC_FILES_LINE]);

/* What a symbolic link leads to, as it is written, in `path`; absent where it is none. */
struct rc_str rc_files_link(const char *root, const char *folder, const char *name, char path[RC_FILES_PATH]);

/* The names in a folder, sorted, without those that begin with a dot or are longer than a name may be; `max` of them at
 * most, which are not always the first. Returns how many; 0 where there is no such folder. */
unsigned rc_files_list(const char *root, const char *folder, unsigned max, char name[][RC_FILES_NAME]);

/* Takes a line off *text without blanks at both ends. False at the end. */
bool rc_files_next_line(struct rc_str *text, struct rc_str *line);

struct rc_str rc_files_trim(struct rc_str text);

#endif
