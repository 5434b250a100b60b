/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - slices of text, numbers in text, and the arena for generated text.
 *
 * The core neither allocates nor copies its input: values are slices of the environment. Generated text goes into an
 * arena in the caller's struct rc_result. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n bytes at p, not NUL-terminated. NULL p: missing, as opposed to empty. */
struct rc_str {
    const char *p;
    size_t n;
};

#define RC_STR(literal) ((struct rc_str){ (literal), sizeof(literal) - 1 })
/* For initializers of tables. */
/* clang-format off */
#define RC_NAME(literal) { "" literal, sizeof(literal) - 1 }
/* clang-format on */
#define RC_ABSENT ((struct rc_str){ NULL, 0 })

struct rc_str rc_str(const char *cstring);
bool rc_str_eq(struct rc_str a, struct rc_str b);
bool rc_str_is(struct rc_str a, const char *cstring);
bool rc_str_is_alike(struct rc_str a, struct rc_str b); /* ignoring case */
bool rc_str_starts(struct rc_str a, const char *prefix);
bool rc_str_ends(struct rc_str a, const char *suffix);

/* Return the index of `text` in "a|b|c", from 1 on; 0 if it is empty or not listed. */
unsigned rc_str_which(struct rc_str text, const char *words);

/* Return the word at this index, from 1 on; RC_ABSENT for 0. */
struct rc_str rc_str_word(const char *words, unsigned number);

static inline bool rc_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ASCII only. */
bool rc_is_printable(char c);

/* Decode the first character of a non-empty text. Return its length in bytes, or 0 if it is invalid UTF-8 (RFC
 * 3629). */
size_t rc_utf8_read(struct rc_str text, uint32_t *character);

/* Return the first character's length if it is printable ASCII, or UTF-8 that does not move the cursor; else 0. */
size_t rc_str_shown(struct rc_str text);

/* Replace each byte that rc_str_shown() rejects by '?'. */
void rc_str_clean(char *text, size_t n);

/* Return at most `most` bytes of the text, without cutting a character. */
struct rc_str rc_str_cut(struct rc_str text, size_t most);

/* Return true for letters, digits, '-', '.' and '_'. */
bool rc_is_in_name(char c);

/* Return the text before the first separator; *rest is the text after it, or RC_ABSENT without a separator. */
struct rc_str rc_str_split(struct rc_str s, char separator, struct rc_str *rest);

/* Like rc_str_split(), at the last separator. */
struct rc_str rc_str_split_last(struct rc_str s, char separator, struct rc_str *rest);

/* Return the number of pieces between separators; 0 for an empty or missing text. */
uint32_t rc_str_pieces(struct rc_str s, char separator);

/* Return the part after a path's last slash, or the whole path. */
struct rc_str rc_str_base_name(struct rc_str path);

struct rc_arena {
    char *base;
    size_t size;
    size_t used;
    bool full; /* a text did not fit: do not apply the result */
};

/* Append a string with its NUL to the arena and return it; "" once the arena is full. Directives: %s const char *, %u
 * uint32_t, %llu unsigned long long, %% '%'; for struct rc_str *: %pS as it is, %pQ quoted, cut at 64 bytes, with all
 * except printable ASCII escaped (values may be hostile: terminal escapes, 1 MiB of digits). */
const char *rc_format(struct rc_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *rc_format_list(struct rc_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Like rc_format() with "%pS". */
const char *rc_copy(struct rc_arena *arena, struct rc_str text);

/* Drop the NUL of the last string, so that the next rc_format() continues it. */
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

/* No rank, count or index. Slurm's NO_VAL is 0xfffffffe; neither passes for a number. */
#define RC_UNKNOWN UINT32_MAX

/* More tasks than any machine has; sums of counts cannot overflow. */
#define RC_MAX_TASKS 16777216u

/* Parse decimal digits, 0..max: no sign, blank, leading zero or 0x. Return false, with *value unchanged, for other
 * text. */
bool rc_parse_u64(struct rc_str s, uint64_t max, uint64_t *value);
bool rc_parse_u32(struct rc_str s, uint32_t max, uint32_t *value);
