/* SPDX-License-Identifier: BSD-3-Clause */
/* beside.h - where rollcall itself lies, and what was installed with it.
 *
 * The kernel says from which file this code was mapped (/proc/self/maps), the
 * same way for the command, the libraries and the plugin, with or without a
 * libc; so an installed tree can be moved. Never fails: what cannot be found
 * is absent.
 */
#ifndef ROLLCALL_SYSTEM_BESIDE_H
#define ROLLCALL_SYSTEM_BESIDE_H

#include "base/text.h"

/* The path `relative` ("../share/rollcall") from a file's folder, by names alone:
 * each leading "../" takes one folder off. Written to path, with a NUL behind it;
 * absent where there are too few folders, or where it does not fit. */
struct rc_str rc_beside(struct rc_str file, const char *relative, char *path, size_t size);

/* The path of a file `name` in the folder `relative` from this code's own. The
 * file need not be there. */
struct rc_str rc_beside_file(const char *relative, const char *name, char *path, size_t size);

/* The folder of the watch, if torch can load it from there: its module can be
 * read, and PYTHONPATH can hold it (it has no colon). Absent where `relative` is NULL. */
struct rc_str rc_beside_watch(const char *relative, char *path, size_t size);

/* A library of that name, if a loader can take it from there: it can be read, and
 * LD_PRELOAD can hold its name (no colon, blank or dollar in it). Absent where `relative` is NULL. */
struct rc_str rc_beside_library(const char *relative, const char *name, char *path, size_t size);

#endif
