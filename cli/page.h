/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h - the blocks of cli/page.html, printed with values.
 *
 * Values come from users and from other nodes: what means something in HTML is escaped, and what is not printable
 * ASCII becomes a question mark.
 */
#ifndef ROLLCALL_CLI_PAGE_H
#define ROLLCALL_CLI_PAGE_H

#include "base/text.h"

enum page_block {
#define ROLLCALL_PAGE(name, text) PAGE_##name,
#include "cli/page.def"
#undef ROLLCALL_PAGE
    PAGE_BLOCKS
};

/* What {{name}} becomes. */
struct page_value {
    const char *name;
    struct rc_str value;
};

/* Prints a block; a name without a value becomes nothing. */
void page_put_values(enum page_block block, const struct page_value *value, size_t count);

/* page_put(PAGE_tile, { "name", host }, { "state", rc_str("good") }) */
#define page_put(block, ...)                                             \
    page_put_values((block), (const struct page_value[]){ __VA_ARGS__ }, \
                    sizeof((const struct page_value[]){ __VA_ARGS__ }) / sizeof(struct page_value))

/* Prints a block that has no values. */
void page_put_plain(enum page_block block);

#endif
