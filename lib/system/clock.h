/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - milliseconds of a clock that is never set back. */
#ifndef ROLLCALL_SYSTEM_CLOCK_H
#define ROLLCALL_SYSTEM_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t rc_milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

#endif
