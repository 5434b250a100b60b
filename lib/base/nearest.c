/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest.h"

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

static size_t length_of(struct rc_str text)
{
    return text.n < RC_NEAREST_LONGEST ? text.n : RC_NEAREST_LONGEST;
}

/* One row of the table of distances: of the first i letters of a from the first 0, 1, 2, ... of b. */
static void fill_row(unsigned row[3][RC_NEAREST_LONGEST + 1], size_t i, struct rc_str a, struct rc_str b)
{
    unsigned *now = row[i % 3];
    const unsigned *above = row[(i - 1) % 3];
    const unsigned *two_above = row[(i + 1) % 3];
    char letter = small(a.p[i - 1]);

    now[0] = (unsigned)i;
    for (size_t j = 1; j <= length_of(b); j++) {
        now[j] = least_of(above[j] + 1, now[j - 1] + 1, above[j - 1] + (letter != small(b.p[j - 1])));
        if (i > 1 && j > 1 && letter == small(b.p[j - 2]) && small(a.p[i - 2]) == small(b.p[j - 1]) &&
            two_above[j - 2] + 1 < now[j])
            now[j] = two_above[j - 2] + 1;
    }
}

unsigned rc_nearest_distance(struct rc_str a, struct rc_str b)
{
    unsigned row[3][RC_NEAREST_LONGEST + 1];

    for (size_t j = 0; j <= length_of(b); j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= length_of(a); i++)
        fill_row(row, i, a, b);
    return row[length_of(a) % 3][length_of(b)];
}

unsigned rc_nearest_limit(struct rc_str mistyped)
{
    return mistyped.n > RC_NEAREST_LONGEST ? 0 : (unsigned)(mistyped.n + 1) / 2;
}
