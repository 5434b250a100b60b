/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <stdio.h>
#include <string.h>

static const char *const blocks[PAGE_BLOCKS] = {
#define ROLLCALL_PAGE(name, text) [PAGE_##name] = text,
#include "cli/page.def"
#undef ROLLCALL_PAGE
};

static void put_escaped(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '&':
            fputs("&amp;", stdout);
            break;
        case '<':
            fputs("&lt;", stdout);
            break;
        case '>':
            fputs("&gt;", stdout);
            break;
        case '"':
            fputs("&quot;", stdout);
            break;
        case '\'':
            fputs("&#39;", stdout);
            break;
        default:
            putchar(text.p[i] >= ' ' && text.p[i] <= '~' ? text.p[i] : '?');
        }
    }
}

static void put_value(struct rc_str name, const struct page_value *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rc_str_is(name, value[i].name))
            put_escaped(value[i].value);
}

void page_put_values(enum page_block block, const struct page_value *value, size_t count)
{
    const char *text = blocks[block];

    for (const char *begin; (begin = strstr(text, "{{"));) {
        const char *end = strstr(begin, "}}");

        fwrite(text, 1, (size_t)(begin - text), stdout);
        put_value((struct rc_str){ begin + 2, (size_t)(end - begin) - 2 }, value, count);
        text = end + 2;
    }
    fputs(text, stdout);
}

void page_put_plain(enum page_block block)
{
    page_put_values(block, NULL, 0);
}
