/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

static bool element_is(struct rc_str element, struct rc_str name, bool exact)
{
    struct rc_str own = rc_str_split(element, ':', &(struct rc_str){ NULL, 0 });

    if (own.n == 0 || own.n > name.n)
        return false;
    return rc_str_eq(own, (struct rc_str){ name.p, exact ? name.n : own.n });
}

bool doctor_filter_passes(struct rc_str filter, struct rc_str name)
{
    bool exclude = rc_str_starts(filter, "^");
    bool exact;
    bool listed = false;

    if (exclude)
        filter = (struct rc_str){ filter.p + 1, filter.n - 1 };
    exact = rc_str_starts(filter, "=");
    if (exact)
        filter = (struct rc_str){ filter.p + 1, filter.n - 1 };
    if (filter.n == 0)
        return true;
    for (struct rc_str rest = filter; rest.p && !listed;)
        listed = element_is(rc_str_split(rest, ',', &rest), name, exact);
    return listed != exclude;
}
