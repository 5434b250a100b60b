/* SPDX-License-Identifier: BSD-3-Clause */
/* --constraint of Slurm: which of them ask for nodes of several kinds. */
#include "libexec/exchange/constraint.h"
#include "unit.h"

struct row {
    struct rc_str input;
    bool several;
    const char *why;
};

static const struct row rows[] = {
    { NO_TEXT, false, "none" },
    { TEXT("(null)"), false, "as scontrol writes none" },
    { TEXT("h100"), false, "one feature" },
    { TEXT("h100&ib"), false, "both on each node" },
    { TEXT("h100|a100"), true, "either on each node" },
    { TEXT("ib&(h100|a100)"), true, "either, in brackets that group" },
    { TEXT("[rack1|rack2|rack3]"), false, "one of them on all nodes" },
    { TEXT("ib&[rack1|rack2]"), false, "likewise, and another one" },
    { TEXT("[rack1|rack2]|login"), true, "either, behind brackets" },
    { TEXT("[h100*2&a100*4]"), true, "a count of each" },
    { TEXT("h100*4"), true, "a count, and any for the rest" },
    { TEXT("]a|b"), true, "brackets that do not match" },
};

static void is_read(const void *data)
{
    const struct row *row = data;

    assert_int_equal(exchange_is_of_several_kinds(unit_guard(row->input)), row->several);
}

int main(void)
{
    UNIT_TABLE(is_read, "a constraint:", rows);
    return unit_run("constraint");
}
