/* SPDX-License-Identifier: BSD-3-Clause */
/* say.h - lines on standard error, without libc.
 *
 * Each report is one write of less than 512 bytes, which a pipe keeps in one piece
 * (POSIX: PIPE_BUF is at least 512).
 */
#ifndef ROLLCALL_SHIM_SAY_H
#define ROLLCALL_SHIM_SAY_H

#include "base/text.h"

enum { SHIM_PAGE_MAX = 511 };

/* Text that lines are appended to while they fit. */
struct shim_page {
    char text[SHIM_PAGE_MAX + 1];
    struct rc_arena arena;
};

void shim_page_open(struct shim_page *page);

/* Call it after each rc_format into the arena: that ends its text with a NUL, which the
 * next line must overwrite. */
void shim_page_end_line(struct shim_page *page);

/* Writes the page to standard error. False where that cannot take it now. */
bool shim_page_say(const struct shim_page *page);

#endif
