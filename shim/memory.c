/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - functions that gcc calls implicitly, even with -ffreestanding. Imports would bind to the program's, which
 * may not work before it is initialised. -fno-tree-loop-distribute-patterns (CORE_CFLAGS) keeps the loops. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* Words: rc_resolve clears kilobytes. */
typedef unsigned long __attribute__((may_alias, aligned(1))) word;

/* Ascending, for memmove to a lower address. */
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
