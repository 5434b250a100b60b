/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the four functions that gcc may call on its own account.
 *
 * Also with -ffreestanding gcc turns the copy of a struct or the clearing of an
 * array into a call of one of these (its manual, "Standards"). An import of
 * them would bind to the program's own, which may be a checking or a tracing
 * one and, in a program that is not yet initialised, may not work. They are
 * hidden, so they are nobody else's either.
 *
 * The loops must stay loops: the pattern that gcc recognises in them is the
 * very call that they implement.
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* Wide where it matters: rc_resolve clears some kilobytes. The type may alias
 * anything, as memory itself. */
typedef unsigned long __attribute__((may_alias, aligned(1))) word;

/* Upwards, so that what overlaps may be moved down. The last word overlaps the
 * one before it, which leaves no single bytes over, and is read before anything
 * is written. */
static inline void copy_up(unsigned char *to, const unsigned char *from, size_t n)
{
    word last;

    if (n < sizeof(word)) {
        while (n--)
            *to++ = *from++;
        return;
    }
    last = *(const word *)(const void *)(from + n - sizeof(word));
    for (size_t i = 0; i < n - sizeof(word); i += sizeof(word))
        *(word *)(void *)(to + i) = *(const word *)(const void *)(from + i);
    *(word *)(void *)(to + n - sizeof(word)) = last;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    copy_up(to, from, n);
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    if ((size_t)(t - f) >= n)
        copy_up(t, f, n);
    else
        while (n--)
            t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    unsigned char *t = to;
    word pattern = (word)-1 / 255 * (unsigned char)byte;

    for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word))
        *(word *)(void *)t = pattern;
    while (n--)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a;
    const unsigned char *y = b;

    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}
