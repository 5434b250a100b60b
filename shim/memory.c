/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the four functions that gcc may call on its own account.
 *
 * With -ffreestanding, too, gcc turns the copy of a struct or the clearing of an array into a call of one of these (its
 * manual, "Standards"). An import would bind to the program's own functions. They may check or trace, and may not work
 * before the program is initialised. Ours are hidden, so no other library gets them.
 *
 * The loops must stay loops: without -fno-tree-loop-distribute-patterns (CORE_CFLAGS)
 * gcc would replace them by calls of the very functions that they implement.
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* Words, because rc_resolve clears some kilobytes. The type may alias any other. */
typedef unsigned long __attribute__((may_alias, aligned(1))) word;

/* From the first byte to the last, so that memmove may use it for a move down. */
static inline void copy_up(unsigned char *to, const unsigned char *from, size_t n)
{
    for (; n >= sizeof(word); n -= sizeof(word), to += sizeof(word), from += sizeof(word))
        *(word *)(void *)to = *(const word *)(const void *)from;
    while (n--)
        *to++ = *from++;
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
