/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - files, processes, host name, CPU masks, installed files, without a libc; the clock. */
#pragma once

#include <time.h>

#include "base/cpuset.h"
#include "base/text.h"

/* Return the number of bytes read, 0 if unreadable, `size` if there may be more. Never block on a FIFO. */
size_t rc_file_read(const char *path, char *buffer, size_t size);

/* Read a kernel file by lines until `take` returns true; return whether it did. Stop at a line longer than `size`. */
typedef bool rc_file_line(struct rc_str line, void *more);
bool rc_file_lines(const char *path, char *buffer, size_t size, rc_file_line *take, void *more);

uint64_t rc_hexadecimal(struct rc_str text);

/* Return the parent's id, or 0 at the top of the (container's) tree. */
uint32_t rc_process_parent(uint32_t pid);

/* Read /proc/PID/cmdline, words ending in NUL. Return the number of bytes. */
size_t rc_process_command(uint32_t pid, char *buffer, size_t size);

enum { RC_NODE_NAME_SIZE = 65 };

/* Write and return the host name; "" if unknown. */
const char *rc_node_name(char name[RC_NODE_NAME_SIZE]);

/* Return the number of visible /dev/nvidiaN, or RC_UNKNOWN if /dev is unreadable. */
uint32_t rc_node_gpus(void);

/* Get or set the calling thread's CPU mask. Return false, with nothing changed, on failure. */
bool rc_affinity_get(struct rc_cpuset *set);
bool rc_affinity_set(const struct rc_cpuset *set);

/* Get the widest allowed mask by setting it briefly. */
bool rc_affinity_widest(struct rc_cpuset *set);

/* Paths relative to rollcall's file in /proc/self/maps, so that an installed tree can be moved. Return RC_ABSENT if not
 * found or too long. */

/* Write the path of `relative` ("../share/rollcall") from a file's folder; each "../" removes a folder name. */
struct rc_str rc_beside(struct rc_str file, const char *relative, char *path, size_t size);

/* Write the path of `name` in `relative` of this code's folder; it need not exist. */
struct rc_str rc_beside_file(const char *relative, const char *name, char *path, size_t size);

/* Write the watch's folder if torch can load it: readable and without ':' (PYTHONPATH). `relative` may be NULL. */
struct rc_str rc_beside_watch(const char *relative, char *path, size_t size);

/* Write a library's path if the loader can use it: readable and without colon, blank or dollar (LD_PRELOAD). `relative`
 * may be NULL. */
struct rc_str rc_beside_library(const char *relative, const char *name, char *path, size_t size);

#ifndef ROLLCALL_RAW_SYSCALLS
static inline int64_t rc_milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* Return milliseconds for poll(): 0 to 60,000. */
static inline int rc_milliseconds_left(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 0 ? 0 : n > 60000 ? 60000 : (int)n;
}

/* Return at least 1, for a request. */
static inline uint32_t rc_milliseconds_of_request(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

/* Return the deadline, plus any time suspended since `before`, when a wait of `milliseconds` began. */
static inline int64_t rc_deadline_resume(int64_t deadline, int64_t before, int64_t milliseconds)
{
    int64_t late = rc_milliseconds() - before - milliseconds;

    return late > 1000 && deadline < INT64_MAX - late ? deadline + late : deadline;
}
#endif
