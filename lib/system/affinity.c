/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/affinity.h"

#include "system/sys.h"

bool rc_affinity_get(struct rc_cpuset *set)
{
    struct rc_cpuset read = { .word = { 0 } };

    /* the number of bytes that the kernel has written */
    if (rc_sys_getaffinity(&read, sizeof(read)) <= 0)
        return false;
    *set = read;
    return true;
}

bool rc_affinity_set(const struct rc_cpuset *set)
{
    return rc_sys_setaffinity(set, sizeof(*set)) >= 0;
}

bool rc_affinity_widest(struct rc_cpuset *set)
{
    struct rc_cpuset before;
    struct rc_cpuset widest;
    struct rc_cpuset all;
    bool known;

    if (!rc_affinity_get(&before))
        return false;
    for (unsigned i = 0; i < sizeof(all.word) / sizeof(*all.word); i++)
        all.word[i] = UINT64_MAX;
    known = rc_affinity_set(&all) && rc_affinity_get(&widest);
    if (!rc_affinity_set(&before) || !known)
        return false;
    *set = widest;
    return true;
}
