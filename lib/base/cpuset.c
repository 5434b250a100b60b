/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cpuset.h"

enum { WORDS = RC_CPUS_MAX / 64 };

static void add_range(struct rc_cpuset *set, uint32_t first, uint32_t last)
{
    for (uint32_t cpu = first; cpu <= last; cpu++)
        set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static bool has_cpu(const struct rc_cpuset *set, uint32_t cpu)
{
    return cpu < RC_CPUS_MAX && (set->word[cpu / 64] >> cpu % 64 & 1) != 0;
}

bool rc_cpuset_read(struct rc_str list, struct rc_cpuset *set)
{
    struct rc_cpuset read = { .word = { 0 } };

    if (!list.p)
        return false;
    while (list.p) {
        struct rc_str end;
        struct rc_str begin = rc_str_split(rc_str_split(list, ',', &list), '-', &end);
        uint32_t first, last;

        if (!rc_parse_u32(begin, RC_CPUS_MAX - 1, &first) ||
            !rc_parse_u32(end.p ? end : begin, RC_CPUS_MAX - 1, &last) || first > last)
            return false;
        add_range(&read, first, last);
    }
    *set = read;
    return true;
}

const char *rc_cpuset_write(const struct rc_cpuset *set, struct rc_arena *arena)
{
    const char *text = rc_copy(arena, RC_STR(""));
    const char *comma = "";

    for (uint32_t cpu = 0; cpu < RC_CPUS_MAX; cpu++) {
        uint32_t first = cpu;

        if (!has_cpu(set, cpu))
            continue;
        while (has_cpu(set, cpu + 1))
            cpu++;
        rc_join(arena);
        rc_format(arena, first == cpu ? "%s%u" : "%s%u-%u", comma, first, cpu);
        comma = ",";
    }
    return arena->full ? "" : text;
}

unsigned rc_cpuset_count(const struct rc_cpuset *set)
{
    unsigned count = 0;

    for (unsigned i = 0; i < WORDS; i++)
        for (uint64_t left = set->word[i]; left; left &= left - 1)
            count++;
    return count;
}

bool rc_cpuset_is_equal(const struct rc_cpuset *a, const struct rc_cpuset *b)
{
    return rc_cpuset_is_within(a, b) && rc_cpuset_is_within(b, a);
}

bool rc_cpuset_is_within(const struct rc_cpuset *inner, const struct rc_cpuset *outer)
{
    for (unsigned i = 0; i < WORDS; i++)
        if (inner->word[i] & ~outer->word[i])
            return false;
    return true;
}

void rc_cpuset_add(struct rc_cpuset *set, const struct rc_cpuset *more)
{
    for (unsigned i = 0; i < WORDS; i++)
        set->word[i] |= more->word[i];
}
