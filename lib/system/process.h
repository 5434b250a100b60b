/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - what /proc says of a process of this node, read without a libc. */
#ifndef ROLLCALL_SYSTEM_PROCESS_H
#define ROLLCALL_SYSTEM_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* The id of a process's parent. 0 where there is no such process, and at the top
 * of the process tree, which in a container comes early. */
uint32_t rc_process_parent(uint32_t pid);

/* Reads up to `size` bytes of a process's command line, its words parted by
 * NULs as in /proc/PID/cmdline. Returns how many; 0 where there is none. */
size_t rc_process_command(uint32_t pid, char *buffer, size_t size);

#endif
