/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - files, processes, names, masks, and where this program lies, without a libc; the clock. */
#pragma once

#include <time.h>

#include "base/cpuset.h"
#include "base/text.h"

/* Reads up to `size` bytes, and returns how many there were; 0 for a file that is empty or cannot be read. A result of
 * `size` means that there may be more. Never waits for the other end of a FIFO. */
size_t rc_file_read(const char *path, char *buffer, size_t size);

/* Reads a file of the kernel's line by line, each without its end, until `take` returns true for one, and returns
 * whether it did. A line is in the buffer, of `size` bytes; what follows one that is longer is not read. */
typedef bool rc_file_line(struct rc_str line, void *more);
bool rc_file_lines(const char *path, char *buffer, size_t size, rc_file_line *take, void *more);

/* A number as the kernel writes it in hexadecimal. */
uint64_t rc_hexadecimal(struct rc_str text);

/* The id of a process's parent. 0 where there is no such process, and at the top
 * of the process tree, which in a container comes early. */
uint32_t rc_process_parent(uint32_t pid);

/* Reads up to `size` bytes of a process's command line, its words separated by
 * NULs as in /proc/PID/cmdline. Returns how many; 0 where there is none. */
size_t rc_process_command(uint32_t pid, char *buffer, size_t size);

/* Facts about this node that the core needs and may not read itself. */

enum { RC_NODE_NAME_SIZE = 65 }; /* as in struct utsname */

/* This node's own name into name, which is also returned; "" where there is none. */
const char *rc_node_name(char name[RC_NODE_NAME_SIZE]);

/* The number of NVIDIA GPUs that this process can see as /dev/nvidiaN; a container has only its own. RC_UNKNOWN
 * where /dev cannot be read. */
uint32_t rc_node_gpus(void);

/* Reads and sets the mask of the calling thread. False, with nothing changed, where the
 * kernel refuses. They need no libc. */
bool rc_affinity_get(struct rc_cpuset *set);
bool rc_affinity_set(const struct rc_cpuset *set);

/* The widest set that the process may give itself: its cgroup's cpuset, from a
 * scheduler or a container. To find out, it takes that set for a moment. */
bool rc_affinity_widest(struct rc_cpuset *set);

/* Where rollcall itself lies, and what was installed with it.
 *
 * The kernel says from which file this code was mapped (/proc/self/maps), the same way for the command, the libraries
 * and the plugin, with or without a libc; so an installed tree can be moved. Never fails: what cannot be found is
 * absent. */

/* The path `relative` ("../share/rollcall") from a file's folder, by names alone: each leading "../" takes one folder
 * off. Written to path, with a NUL after it; absent where there are too few folders, or where it does not fit. */
struct rc_str rc_beside(struct rc_str file, const char *relative, char *path, size_t size);

/* The path of a file `name` in the folder `relative` from this code's own. The file need not be there. */
struct rc_str rc_beside_file(const char *relative, const char *name, char *path, size_t size);

/* The folder of the watch, if torch can load it from there: its module can be
 * read, and PYTHONPATH can hold it (it has no colon). Absent where `relative` is NULL. */
struct rc_str rc_beside_watch(const char *relative, char *path, size_t size);

/* A library of that name, if a loader can take it from there: it can be read, and
 * LD_PRELOAD can hold its name (no colon, blank or dollar in it). Absent where `relative` is NULL. */
struct rc_str rc_beside_library(const char *relative, const char *name, char *path, size_t size);

#ifndef ROLLCALL_RAW_SYSCALLS
/* Milliseconds of a clock that is never set back. */
static inline int64_t rc_milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* How many until then, for poll: 0 where it is over, a minute at most. */
static inline int rc_milliseconds_left(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 0 ? 0 : n > 60000 ? 60000 : (int)n;
}

/* The same for a request, which needs one at least. */
static inline uint32_t rc_milliseconds_of_request(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

/* Returns the deadline, later by the time for which this process was suspended since `before`, when it began to wait
 * for that many milliseconds. */
static inline int64_t rc_deadline_resume(int64_t deadline, int64_t before, int64_t milliseconds)
{
    int64_t late = rc_milliseconds() - before - milliseconds;

    return late > 1000 && deadline < INT64_MAX - late ? deadline + late : deadline;
}
#endif
