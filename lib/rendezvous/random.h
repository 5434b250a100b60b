/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h - the kernel's random numbers. Thread-safe.
 *
 * By the system call: glibc has getrandom() from 2.25 on, and the wheels run with 2.17.
 */
#ifndef ROLLCALL_RENDEZVOUS_RANDOM_H
#define ROLLCALL_RENDEZVOUS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fills size bytes, at most 256; false where the kernel has none. */
static inline bool rc_random(void *bytes, size_t size)
{
    return syscall(SYS_getrandom, bytes, size, 0) == (long)size;
}

#endif
