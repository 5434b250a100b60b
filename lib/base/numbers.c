/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/numbers.h"

bool rc_parse_u64(struct rc_str s, uint64_t max, uint64_t *value)
{
    uint64_t sum = 0;

    if (!s.p || s.n == 0 || s.n > 20 || (s.n > 1 && s.p[0] == '0'))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s.p[i] - '0';

        /* only the twentieth digit can make the number too large */
        if (digit > 9 || (i == 19 && (sum > UINT64_MAX / 10 || sum * 10 > UINT64_MAX - digit)))
            return false;
        sum = sum * 10 + digit;
    }
    if (sum > max)
        return false;
    *value = sum;
    return true;
}

bool rc_parse_u32(struct rc_str s, uint32_t max, uint32_t *value)
{
    uint64_t wide;

    if (!rc_parse_u64(s, max, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}
