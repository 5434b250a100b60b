/* SPDX-License-Identifier: BSD-3-Clause */
/* The markers of the launcher families: each is seen, and nothing that is like one. */
#include "launcher/launcher.h"
#include "unit.h"

struct row {
    struct rc_str input; /* the marker */
    unsigned family;
    const char *why;
};

#define ROLLCALL_LAUNCHER(name)
static const struct row rows[] = {
#define ROLLCALL_MARKER(family, variable) { TEXT(#variable), RC_LAUNCHER_INDEX_##family, "of " #family },
#include "launcher/registry.def"
#undef ROLLCALL_MARKER
};

static void expect(const char *first, const char *entry, bool marked, uint32_t marks)
{
    const char *block[] = { "PATH=/bin", first, entry, "HOME=/", NULL };
    struct rc_env env;

    rc_env_index(&env, block);
    assert_int_equal(rc_launcher_marked(block), marked);
    assert_int_equal(rc_launcher_marks(&env), marks);
}

UNIT_ROWS(is_seen, "marker is seen", rows)
{
    const uint32_t bit = (uint32_t)1 << row->family;
    char entry[64];

    snprintf(entry, sizeof(entry), "%s=1", row->input.p);
    expect("A=b", unit_guard_string(entry), true, bit);
    snprintf(entry, sizeof(entry), "%s=", row->input.p);
    expect("", unit_guard_string(entry), true, bit);
}

/* The same beginning, a longer name, a shorter one, no value, one that is only a value. */
UNIT_ROWS(is_not_mistaken, "nothing is taken for marker", rows)
{
    const int n = (int)row->input.n;
    char entry[64];

    snprintf(entry, sizeof(entry), "%s_=1", row->input.p);
    expect("A=b", unit_guard_string(entry), false, 0);
    snprintf(entry, sizeof(entry), "%.*s=1", n - 1, row->input.p);
    expect("A=b", unit_guard_string(entry), false, 0);
    snprintf(entry, sizeof(entry), "%.2s~=1", row->input.p);
    expect("A=b", unit_guard_string(entry), false, 0);
    expect("A=b", unit_guard_string(row->input.p), false, 0);
    snprintf(entry, sizeof(entry), "A=%s=1", row->input.p);
    expect("=", unit_guard_string(entry), false, 0);
    snprintf(entry, sizeof(entry), "%.1s", row->input.p);
    expect("A=b", unit_guard_string(entry), false, 0);
}

UNIT_TEST(has_no_block, "no block and an empty block")
{
    static const char *const empty[] = { NULL };

    assert_false(rc_launcher_marked(NULL));
    assert_false(rc_launcher_marked(empty));
}
