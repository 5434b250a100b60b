/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

enum { QUOTE_LIMIT = 64 };

struct rc_str rc_str(const char *cstring)
{
    struct rc_str s = { cstring, 0 };

    if (cstring)
        while (cstring[s.n])
            s.n++;
    return s;
}

bool rc_str_eq(struct rc_str a, struct rc_str b)
{
    if (!a.p || !b.p || a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (a.p[i] != b.p[i])
            return false;
    return true;
}

static size_t count_same(struct rc_str a, const char *cstring)
{
    size_t same = 0;

    while (same < a.n && cstring[same] && a.p[same] == cstring[same])
        same++;
    return same;
}

bool rc_str_is(struct rc_str a, const char *cstring)
{
    size_t same;

    if (!a.p || !cstring)
        return false;
    same = count_same(a, cstring);
    return same == a.n && !cstring[same];
}

static char lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool rc_str_is_alike(struct rc_str a, struct rc_str b)
{
    size_t i = 0;

    while (i < a.n && i < b.n && lower_case(a.p[i]) == lower_case(b.p[i]))
        i++;
    return i == a.n && i == b.n;
}

bool rc_str_starts(struct rc_str a, const char *prefix)
{
    return a.p && !prefix[count_same(a, prefix)];
}

bool rc_str_ends(struct rc_str a, const char *suffix)
{
    struct rc_str end = rc_str(suffix);

    return a.n >= end.n && rc_str_eq((struct rc_str){ a.p + a.n - end.n, end.n }, end);
}

unsigned rc_str_which(struct rc_str text, const char *words)
{
    struct rc_str rest = rc_str(words);

    for (unsigned i = 1; text.n && rest.p; i++)
        if (rc_str_eq(rc_str_split(rest, '|', &rest), text))
            return i;
    return 0;
}

struct rc_str rc_str_word(const char *words, unsigned number)
{
    struct rc_str rest = rc_str(words);
    struct rc_str word = RC_ABSENT;

    while (number-- > 0)
        word = rc_str_split(rest, '|', &rest);
    return word;
}

uint32_t rc_str_pieces(struct rc_str s, char separator)
{
    uint32_t count = s.n != 0;

    for (size_t i = 0; i < s.n; i++)
        count += s.p[i] == separator;
    return count;
}

struct rc_str rc_str_base_name(struct rc_str path)
{
    struct rc_str base;

    rc_str_split_last(path, '/', &base);
    return base.p ? base : path;
}

bool rc_is_printable(char c)
{
    return c >= ' ' && c < 0x7f;
}

size_t rc_utf8_read(struct rc_str text, uint32_t *character)
{
    static const uint32_t least[] = { [2] = 0x80, [3] = 0x800, [4] = 0x10000 };
    const unsigned char *byte = (const unsigned char *)text.p;
    size_t length = byte[0] < 0xc0 ? 1 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;

    *character = byte[0];
    if (byte[0] < 0x80)
        return 1;
    if (length == 1 || length > text.n || byte[0] > 0xf4)
        return 0;
    *character &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (byte[i] & 0x3f);
    }
    if (*character < least[length] || *character > 0x10ffff || (*character >= 0xd800 && *character <= 0xdfff))
        return 0;
    return length;
}

/* C1 controls, and characters that change the direction or line of text. */
static bool moves_cursor(uint32_t character)
{
    return (character >= 0x80 && character < 0xa0) || (character >= 0x200e && character <= 0x200f) ||
           (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

size_t rc_str_shown(struct rc_str text)
{
    uint32_t character;
    size_t length = rc_utf8_read(text, &character);

    return length == 1 ? rc_is_printable(*text.p) : moves_cursor(character) ? 0 : length;
}

struct rc_str rc_str_cut(struct rc_str text, size_t most)
{
    if (text.n <= most)
        return text;
    while (most > 0 && ((unsigned char)text.p[most] & 0xc0) == 0x80)
        most--;
    return (struct rc_str){ text.p, most };
}

void rc_str_clean(char *text, size_t n)
{
    for (size_t i = 0, length; i < n; i += length) {
        length = rc_str_shown((struct rc_str){ text + i, n - i });
        if (length)
            continue;
        text[i] = '?';
        length = 1;
    }
}

bool rc_is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || rc_is_digit(c) || c == '-' || c == '.' || c == '_';
}

struct rc_str rc_str_split(struct rc_str s, char separator, struct rc_str *rest)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == separator) {
            *rest = (struct rc_str){ s.p + i + 1, s.n - i - 1 };
            return (struct rc_str){ s.p, i };
        }
    }
    *rest = RC_ABSENT;
    return s;
}

struct rc_str rc_str_split_last(struct rc_str s, char separator, struct rc_str *rest)
{
    for (size_t i = s.n; i-- > 0;) {
        if (s.p[i] == separator) {
            *rest = (struct rc_str){ s.p + i + 1, s.n - i - 1 };
            return (struct rc_str){ s.p, i };
        }
    }
    *rest = RC_ABSENT;
    return s;
}

static void put_bytes(struct rc_arena *arena, const char *p, size_t n)
{
    if (n >= arena->size - arena->used) {
        arena->full = true;
        return;
    }
    if (n == 0) /* p may be NULL, which memcpy() does not allow */
        return;
    __builtin_memcpy(arena->base + arena->used, p, n);
    arena->used += n;
}

static void put_char(struct rc_arena *arena, char c)
{
    if (arena->size - arena->used > 1)
        arena->base[arena->used++] = c;
    else
        arena->full = true;
}

static void put_string(struct rc_arena *arena, const char *s)
{
    put_bytes(arena, s, rc_str(s).n);
}

static void put_number(struct rc_arena *arena, uint64_t value)
{
    char digits[20];
    size_t n = sizeof(digits);

    do
        digits[--n] = (char)('0' + value % 10);
    while (value /= 10);
    put_bytes(arena, digits + n, sizeof(digits) - n);
}

static void put_quoted(struct rc_arena *arena, struct rc_str s)
{
    static const char hex[] = "0123456789abcdef";
    size_t shown = s.n < QUOTE_LIMIT ? s.n : QUOTE_LIMIT;

    put_char(arena, '\'');
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (rc_is_printable(s.p[i]) && c != '\\' && c != '\'') {
            put_char(arena, s.p[i]);
        } else {
            put_char(arena, '\\');
            put_char(arena, 'x');
            put_char(arena, hex[c >> 4]);
            put_char(arena, hex[c & 15]);
        }
    }
    put_char(arena, '\'');
    if (shown < s.n)
        put_string(arena, "...");
}

/* Write one directive, which starts after its '%'. Return its last character. */
static const char *put_argument(struct rc_arena *arena, const char *directive, va_list *args)
{
    const struct rc_str *text;

    switch (*directive) {
    case 's':
        put_string(arena, va_arg(*args, const char *));
        return directive;
    case 'u':
        put_number(arena, va_arg(*args, uint32_t));
        return directive;
    case 'l': /* llu */
        put_number(arena, va_arg(*args, unsigned long long));
        return directive + 2;
    case 'p': /* pS, pQ */
        text = va_arg(*args, const struct rc_str *);
        if (directive[1] == 'S')
            put_bytes(arena, text->p, text->n);
        else
            put_quoted(arena, *text);
        return directive + 1;
    default:
        put_char(arena, '%');
        return directive;
    }
}

const char *rc_format_list(struct rc_arena *arena, const char *format, va_list args)
{
    size_t start = arena->used;
    va_list rest;

    if (arena->full)
        return "";
    va_copy(rest, args);
    for (; *format; format++)
        if (*format == '%')
            format = put_argument(arena, format + 1, &rest);
        else
            put_char(arena, *format);
    va_end(rest);
    if (arena->used == arena->size) /* an empty text leaves no room for its NUL */
        arena->full = true;
    if (arena->full) {
        arena->used = start;
        return "";
    }
    arena->base[arena->used++] = '\0';
    return arena->base + start;
}

const char *rc_format(struct rc_arena *arena, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = rc_format_list(arena, format, args);
    va_end(args);
    return text;
}

const char *rc_copy(struct rc_arena *arena, struct rc_str text)
{
    return rc_format(arena, "%pS", &text);
}

bool rc_parse_u64(struct rc_str s, uint64_t max, uint64_t *value)
{
    uint64_t sum = 0;

    if (!s.p || s.n == 0 || s.n > 20 || (s.n > 1 && s.p[0] == '0'))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s.p[i] - '0';

        /* only the 20th digit can overflow */
        if (digit > 9 || (i == 19 && (sum > UINT64_MAX / 10 || sum * 10 > UINT64_MAX - digit)))
            return false;
        sum = sum * 10 + digit;
    }
    if (sum > max)
        return false;
    *value = sum;
    return true;
}

bool rc_parse_u32(struct rc_str s, uint32_t max, uint32_t *value)
{
    uint64_t wide;

    if (!rc_parse_u64(s, max, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}
