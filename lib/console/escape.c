/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/escape.h"

#include <stdlib.h>

static const char hex[] = "0123456789abcdef";

static char *put_hex(char *out, unsigned char c)
{
    *out++ = '\\';
    *out++ = 'x';
    *out++ = hex[c >> 4];
    *out++ = hex[c & 15];
    return out;
}

char *console_escape(struct rc_str text, size_t limit)
{
    size_t shown = limit && text.n > limit ? limit : text.n;
    char *copy = malloc(4 * shown + sizeof("..."));
    char *out = copy;

    if (!copy)
        return NULL;
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c >= ' ' && c < 0x7f)
            *out++ = (char)c;
        else
            out = put_hex(out, c);
    }
    for (unsigned i = 0; shown < text.n && i < 3; i++)
        *out++ = '.';
    *out = '\0';
    return copy;
}
