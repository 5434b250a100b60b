/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - reads a small file whole, without a libc. */
#ifndef ROLLCALL_SYSTEM_FILE_H
#define ROLLCALL_SYSTEM_FILE_H

#include <stddef.h>

/* Reads up to `size` bytes, and returns how many there were; 0 for a file that
 * is empty or cannot be read. A result of `size` means that there may be more.
 * Never waits for the other end of a FIFO. */
size_t rc_file_read(const char *path, char *buffer, size_t size);

#endif
