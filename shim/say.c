/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include "base/numbers.h"
#include "system/sys.h"

#include <poll.h>
#include <time.h>

enum { STDERR = 2 };

void shim_page_open(struct shim_page *page)
{
    page->arena = (struct rc_arena){ .base = page->text, .size = sizeof(page->text) };
}

void shim_page_end_line(struct shim_page *page)
{
    if (!page->arena.full)
        page->arena.used--;
}

/* A write to a pipe without a reader would end the program by SIGPIPE, and one to a full
 * pipe would block it. So this polls first. */
bool shim_page_say(const struct shim_page *page)
{
    struct pollfd out = { .fd = STDERR, .events = POLLOUT };
    struct timespec at_once = { .tv_sec = 0 };

    return page->arena.used && rc_sys_call(RC_SYS_NR(ppoll), (long)&out, 1, (long)&at_once, 0, 0) == 1 &&
           out.revents == POLLOUT && rc_sys_write(STDERR, page->text, page->arena.used) > 0;
}
