/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - pieces of text, numbers in text, and the one place where generated text lives.
 *
 * The core neither allocates nor copies what it reads: a value is a slice of the caller's environment block. What the
 * core writes itself (plan values, messages) goes into an arena inside the caller's struct rc_result.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice: n bytes at p, not NUL-terminated. p == NULL means "not there", which is not the same as an empty value. */
struct rc_str {
    const char *p;
    size_t n;
};

#define RC_STR(literal) ((struct rc_str){ (literal), sizeof(literal) - 1 })
/* The same in a table of names. */
/* clang-format off */
#define RC_NAME(literal) { "" literal, sizeof(literal) - 1 }
/* clang-format on */
#define RC_ABSENT ((struct rc_str){ NULL, 0 })

struct rc_str rc_str(const char *cstring);
bool rc_str_eq(struct rc_str a, struct rc_str b);
bool rc_str_is(struct rc_str a, const char *cstring);
bool rc_str_is_alike(struct rc_str a, struct rc_str b); /* but for upper and lower case */
bool rc_str_starts(struct rc_str a, const char *prefix);
bool rc_str_ends(struct rc_str a, const char *suffix);

/* Returns which word of "a|b|c" the text is, from 1 on; 0 where it is none, or empty. */
unsigned rc_str_which(struct rc_str text, const char *words);

/* The number-th of these words, from 1 on; absent for 0. */
struct rc_str rc_str_word(const char *words, unsigned number);

static inline bool rc_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Printable ASCII. */
bool rc_is_printable(char c);

/* Read the character at the start of a text that is not empty. Return its length in bytes, 0 if it is no UTF-8
 * (RFC 3629): an overlong form, a surrogate, above U+10FFFF, or cut off. */
size_t rc_utf8_read(struct rc_str text, uint32_t *character);

/* Return the length of the character at the start of a text that is not empty, if a terminal only shows it: printable
 * ASCII, or UTF-8 that moves no cursor. Else 0. */
size_t rc_str_shown(struct rc_str text);

/* Put a '?' in place of each byte that is of no such character. */
void rc_str_clean(char *text, size_t n);

/* Return the text, or its beginning without half a character. */
struct rc_str rc_str_cut(struct rc_str text, size_t most);

/* What names of hosts, interfaces and domains are made of: letters, digits, '-', '.' and '_'. */
bool rc_is_in_name(char c);

/* Splits at the first separator. Returns what is before it; *rest becomes what follows
 * it, absent where there is no separator. */
struct rc_str rc_str_split(struct rc_str s, char separator, struct rc_str *rest);

/* The same at the last separator. */
struct rc_str rc_str_split_last(struct rc_str s, char separator, struct rc_str *rest);

/* Returns how many pieces the separator parts the text into; 0 for an absent or empty text. */
uint32_t rc_str_pieces(struct rc_str s, char separator);

/* Returns what follows the last slash of a path, or the whole path where it has none. */
struct rc_str rc_str_base_name(struct rc_str path);

struct rc_arena {
    char *base;
    size_t size;
    size_t used;
    bool full; /* something did not fit, so the result must not be applied */
};

/* Formats into the arena and returns a NUL-terminated string that lives as
 * long as the arena; "" once it is full. The compiler checks the arguments. Understood:
 *   %s   const char *           %u  uint32_t            %llu  unsigned long long
 *   %pS  struct rc_str *, as is
 *   %pQ  struct rc_str *, quoted for a human: cut at 64 bytes, everything but printable ASCII
 *        escaped (values come from hostile environments: terminal escapes, newlines, 1 MiB of digits)
 *   %%   a percent sign
 */
const char *rc_format(struct rc_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *rc_format_list(struct rc_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The same as "%pS". */
const char *rc_copy(struct rc_arena *arena, struct rc_str text);

/* For a text of several pieces: takes back the NUL of the last one, so that the next rc_format continues it. */
static inline void rc_join(struct rc_arena *arena)
{
    if (!arena->full)
        arena->used--;
}

static inline uint64_t rc_hash(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* "Unknown": no rank, count or index ever has this value (Slurm's own NO_VAL
 * is 0xfffffffe, so neither passes for a number). */
#define RC_UNKNOWN UINT32_MAX

/* More tasks than any machine has; sums of counts stay far from overflow. */
#define RC_MAX_TASKS 16777216u

/* Plain decimal, 0..max, nothing before or after it: no sign, no blank, no
 * leading zero ("007"), no 0x. *value is written only on success. */
bool rc_parse_u64(struct rc_str s, uint64_t max, uint64_t *value);
bool rc_parse_u32(struct rc_str s, uint32_t max, uint32_t *value);
