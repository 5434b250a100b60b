/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/amount.h"

#include "base/numbers.h"

enum { ROUGH_PART = 64 };

bool rc_amount_read(struct rc_str text, uint64_t *amount, uint64_t *unit)
{
    static const char units[][4] = { "B", "KiB", "MiB", "GiB", "TiB" };
    struct rc_str name;
    uint32_t number;

    if (!rc_parse_u32(rc_str_split(text, ' ', &name), UINT32_MAX, &number))
        return false;
    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (!rc_str_is(name, units[i]))
            continue;
        *unit = UINT64_C(1) << (10 * i);
        *amount = number * *unit;
        return true;
    }
    return false;
}

bool rc_amount_is_almost(struct rc_str one, struct rc_str other)
{
    uint64_t a, b, high, unit, other_unit;

    if (rc_str_eq(one, other))
        return true;
    if (!rc_amount_read(one, &a, &unit) || !rc_amount_read(other, &b, &other_unit))
        return false;
    unit = unit > other_unit ? unit : other_unit;
    high = a > b ? a : b;
    return high - (a < b ? a : b) <= (high / ROUGH_PART > unit ? high / ROUGH_PART : unit);
}
