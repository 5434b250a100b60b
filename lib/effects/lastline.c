/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/lastline.h"

#include <time.h>

void rc_last_line_wait(bool said)
{
    enum { SAID_MS = 200, SILENT_MS = 500 };
    const struct timespec pause = { .tv_nsec = (said ? SAID_MS : SILENT_MS) * 1000000L };

    nanosleep(&pause, NULL);
}
