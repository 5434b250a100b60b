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

/* Length of the UTF-8 sequence at s, 0 if it is invalid: an overlong form, a surrogate,
 * or above U+10FFFF (RFC 3629). */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    size_t length;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (length > n)
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (s[i] < 0x80 || s[i] > 0xbf)
            return 0;
    return length;
}

char *console_escape_utf8(struct rc_str text)
{
    char *copy = malloc(4 * text.n + 1);
    char *out = copy;

    if (!copy)
        return NULL;
    for (size_t i = 0; i < text.n;) {
        const unsigned char *s = (const unsigned char *)text.p + i;
        size_t n = utf8_length(s, text.n - i);

        if (n == 0)
            out = put_hex(out, *s);
        for (size_t k = 0; k < n; k++)
            *out++ = (char)s[k];
        i += n ? n : 1;
    }
    *out = '\0';
    return copy;
}
