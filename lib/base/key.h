/* SPDX-License-Identifier: BSD-3-Clause */
/* key.h - the beginning of a variable's name as two numbers.
 *
 * An index of an environment has to be told by something that is cheap to read
 * of every entry. Measuring whole names was half of what the preload cost in a
 * task; sixteen characters tell all launchers' names apart but for a few
 * (OMPI_COMM_WORLD_*), and in two words they are compared at once.
 */
#ifndef ROLLCALL_BASE_KEY_H
#define ROLLCALL_BASE_KEY_H

#include <stddef.h>
#include <stdint.h>

enum { RC_KEY_SIZE = 16 };

/* The bytes behind a shorter name are zero. */
struct rc_key {
    uint64_t low;
    uint64_t high;
};

static inline uint64_t rc_key_byte(const char *p, unsigned i)
{
    return (uint64_t)(unsigned char)p[i] << i % 8 * 8;
}

/* Builds the key byte by byte, so that nothing behind the '=' or the NUL is read. */
static inline struct rc_key rc_key_by_bytes(const char *entry)
{
    struct rc_key key = { 0, 0 };
    unsigned i;

    for (i = 0; i < 8 && entry[i] && entry[i] != '='; i++)
        key.low |= rc_key_byte(entry, i);
    for (; i >= 8 && i < RC_KEY_SIZE && entry[i] && entry[i] != '='; i++)
        key.high |= rc_key_byte(entry, i);
    return key;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RC_KEY_WORDS 1

static inline uint64_t rc_key_word(const char *p)
{
    uint64_t word;

    __builtin_memcpy(&word, p, sizeof(word));
    return word;
}

/* Returns the top bit of the first byte that is '=', with some bits above it; 0 where none
 * of the eight bytes is. The subtraction borrows only from bytes that are zero, and those
 * are the '='. */
static inline uint64_t rc_key_equals(uint64_t word)
{
    const uint64_t each = UINT64_MAX / UINT8_MAX;
    uint64_t x = word ^ each * '=';

    return (x - each) & ~x & each << 7;
}

/* Returns the place of the first '=' among RC_KEY_SIZE bytes, or RC_KEY_SIZE where there
 * is none. */
static inline unsigned rc_key_end(const char *entry)
{
    uint64_t low = rc_key_equals(rc_key_word(entry));
    uint64_t high = rc_key_equals(rc_key_word(entry + 8));

    if (low)
        return (unsigned)__builtin_ctzll(low) / 8;
    return high ? 8 + (unsigned)__builtin_ctzll(high) / 8 : RC_KEY_SIZE;
}

/* Builds the same key from two loads, for entries with a '='. The loads may read behind
 * the entry but never beyond its page, so they cannot fault. Checkers (ASan, valgrind on a
 * heap) rightly complain of it, so only the preload does this. */
static inline struct rc_key rc_key_by_words(const char *entry)
{
    enum { SMALLEST_PAGE = 4096 };
    static const uint64_t masks[] = { UINT64_MAX, UINT64_MAX, 0, 0 };
    const char *mask;

    if ((uintptr_t)entry % SMALLEST_PAGE > SMALLEST_PAGE - RC_KEY_SIZE)
        return rc_key_by_bytes(entry);
    /* a mask of the bytes before the '=' */
    mask = (const char *)masks + RC_KEY_SIZE - rc_key_end(entry);
    return (struct rc_key){ rc_key_word(entry) & rc_key_word(mask), rc_key_word(entry + 8) & rc_key_word(mask + 8) };
}
#endif

/* Returns the key of an entry "NAME=VALUE". An entry without '=' gets one, too, which
 * stands for nothing. */
static inline struct rc_key rc_key_of_entry(const char *entry)
{
#if defined(ROLLCALL_WIDE_READS) && defined(RC_KEY_WORDS)
    return rc_key_by_words(entry);
#else
    return rc_key_by_bytes(entry);
#endif
}

/* Returns the key of a name with a known length, and reads nothing behind it. */
static inline struct rc_key rc_key_of_name(const char *name, size_t n)
{
    struct rc_key key = { 0, 0 };

#ifdef RC_KEY_WORDS
    if (n >= RC_KEY_SIZE)
        return (struct rc_key){ rc_key_word(name), rc_key_word(name + 8) };
    if (n >= 8) /* two shifts, as one by 64 bits is not defined */
        return (struct rc_key){ rc_key_word(name), rc_key_word(name + n - 8) >> (15 - n) * 8 >> 8 };
#endif
    for (unsigned i = 0; i < 8 && i < n; i++)
        key.low |= rc_key_byte(name, i);
    for (unsigned i = 8; i < RC_KEY_SIZE && i < n; i++)
        key.high |= rc_key_byte(name, i);
    return key;
}

/* Returns the key of a name in a table: an array of RC_KEY_SIZE bytes or more, filled up
 * with zeros. */
static inline struct rc_key rc_key_of_padded(const char *name)
{
#ifdef RC_KEY_WORDS
    return (struct rc_key){ rc_key_word(name), rc_key_word(name + 8) };
#else
    return rc_key_by_bytes(name);
#endif
}

#endif
