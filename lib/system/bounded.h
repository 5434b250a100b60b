/* SPDX-License-Identifier: BSD-3-Clause */
/* bounded.h - work that may never end, in a child process with a deadline.
 *
 * A thread would not do: one that waits for a dead file server keeps its process from ending. A child that cannot be
 * killed yet is left to init, and holds none of this process's pipes.
 */
#ifndef ROLLCALL_SYSTEM_BOUNDED_H
#define ROLLCALL_SYSTEM_BOUNDED_H

#include "base/text.h"

/* Forks a child that calls work(data, fd), and takes what it writes there, up to `size` bytes. A child that has not
 * ended after so many milliseconds is killed, and what it wrote until then counts. Returns how many bytes; 0, too,
 * where no child could be started. For a process without threads. */
size_t rc_bounded_run(void (*work)(const void *data, int fd), const void *data, uint32_t milliseconds, char *text,
                      size_t size);

/* For the child: a piece of up to PIPE_BUF bytes, which arrives whole or not at all. */
void rc_bounded_write(int fd, struct rc_str piece);

#endif
