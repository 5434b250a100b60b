/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - FNV-1a: a number for some bytes. Any spread will do, and nobody has to be kept from finding two alike. */
#ifndef ROLLCALL_BASE_HASH_H
#define ROLLCALL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t rc_hash(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
