/* SPDX-License-Identifier: BSD-3-Clause */
/* What reverse look-ups cost torch's store, and a measurement of one. Slow name servers: cluster/lookup.bats. */
#include "system/lookuptime.h"
#include "unit.h"

#include <errno.h>

#define LOOKUP "a reverse look-up takes "

struct row {
    struct rc_str input; /* none: a row has numbers */
    struct rc_lookup_time time;
    uint32_t nodes;
    uint32_t ranks;
    const char *expected; /* NULL: nothing to say */
    const char *why;
};

static const struct row rows[] = {
    { NO_TEXT,
      { .first = 20000, .again = 20400 },
      128,
      1024,
      LOOKUP "20 ms on n1; torch's store there makes one for each of 1024 ranks: 21 s",
      "as slow the second time" },
    { NO_TEXT,
      { .first = 4000, .again = 2540 },
      2,
      800,
      LOOKUP "2.5 ms on n1; torch's store there makes one for each of 800 ranks: 2 s",
      "below 10 ms" },
    { NO_TEXT, { .first = 1000, .again = 600 }, 2, 1666, NULL, "less than a second" },
    { NO_TEXT,
      { .first = 1000, .again = 600 },
      2,
      1667,
      LOOKUP "0.6 ms on n1; torch's store there makes one for each of 1667 ranks: 1 s",
      "more than a second" },
    { NO_TEXT,
      { .first = 20000, .again = 100 },
      64,
      512,
      LOOKUP "20 ms on n1; torch's store there makes one for each of 64 nodes: 1 s",
      "something keeps the answers" },
    { NO_TEXT,
      { .first = 20000, .again = 100 },
      16,
      128,
      NULL,
      "something keeps the answers, and there are few nodes" },
    { NO_TEXT,
      { .first = 20000, .again = 30000 },
      16,
      128,
      LOOKUP "30 ms on n1; torch's store there makes one for each of 128 ranks: 4 s",
      "slower the second time" },
    { NO_TEXT, { .first = 0, .again = 0 }, 16777216, 16777216, NULL, "no time at all" },
    { NO_TEXT,
      { .first = 2000000, .again = 2000000 },
      16777216,
      16777216,
      LOOKUP "2000 ms on n1; torch's store there makes one for each of 16777216 ranks: 33554432 s",
      "the largest numbers" },
    { NO_TEXT,
      { .has_failed = true, .first = 1900000, .again = 1900000 },
      2,
      1024,
      NULL,
      "no answer: torch asks once" },
    { NO_TEXT,
      { .is_over = true },
      2,
      4,
      LOOKUP
      "more than 2 s on n1; torch's store there makes one for each of 4 ranks, or one in all if no name server answers",
      "over the limit" },
};

static void tells_cost(const void *data)
{
    const struct row *row = data;
    char text[512];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *cost = rc_lookup_cost(&row->time, "n1", row->nodes, row->ranks, &arena);

    assert_false(arena.full);
    if (row->expected)
        assert_string_equal(cost, row->expected);
    else
        assert_null(cost);
}

static void measures_one(const void *data)
{
    struct rc_lookup_time time = { .again = 77 };
    unsigned before = unit_open_descriptors();

    (void)data;
    assert_int_equal(rc_lookup_time("no.such.host.invalid", &time), -ENOENT);
    assert_int_equal(time.again, 77);
    assert_int_equal(rc_lookup_time("127.0.0.1", &time), 0);
    assert_true(time.is_over || time.first > 0);
    assert_int_equal(rc_lookup_time("::1", &time), 0);
    assert_int_equal(unit_open_descriptors(), before);
}

int main(void)
{
    UNIT_TABLE(tells_cost, "the cost of look-ups", rows);
    unit_add_one(measures_one, "a look-up is measured, and leaves nothing open");
    return unit_run("lookuptime");
}
