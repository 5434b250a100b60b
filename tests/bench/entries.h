/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.h - the entries of a large launch's nodes, as long as real ones. */
#ifndef ROLLCALL_BENCH_ENTRIES_H
#define ROLLCALL_BENCH_ENTRIES_H

#include "base/text.h"

/* What each node says that it has. */
enum entries_items { ENTRIES_WITHOUT, ENTRIES_ALIKE, ENTRIES_ALL_DIFFERENT };

/* Bytes that an entry may take. */
enum { ENTRIES_SIZE = 8192 };

/* NULL where the arena has no room. */
const char *entries_write(uint32_t number, uint32_t nodes, uint32_t tasks, enum entries_items items,
                          struct rc_arena *arena);

#endif
