/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of Open MPI 4's daemons: the n-th name, and what is no such list. */
#include "launcher/families.h"
#include "unit.h"

#define LABEL63 "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0"
#define NAME252 LABEL63 LABEL63 LABEL63 LABEL63

struct row {
    struct rc_str input;
    uint32_t daemon;
    const char *name; /* NULL: none */
    const char *why;
};

static const struct row good[] = {
    { TEXT("n1"), 0, "n1", "one name" },
    { TEXT("n1@0(2)"), 0, "n1", "what stands behind the @ is of other things" },
    { TEXT("login,n[1:1-3]@0(4)"), 0, "login", "a name before a bracket" },
    { TEXT("login,n[1:1-3]@0(4)"), 1, "n1", "the first of a bracket" },
    { TEXT("login,n[1:1-3]@0(4)"), 3, "n3", "the last of a bracket" },
    { TEXT("n[3:001,003]-ib@0(2)"), 0, "n001-ib", "digits with their width, and a suffix" },
    { TEXT("n[3:001,003]-ib@0(2)"), 1, "n003-ib", "the second item of a bracket" },
    { TEXT("n[1:9-10]"), 1, "n10", "more digits than the width" },
    { TEXT("n[2:8-11]"), 0, "n08", "fewer digits than the width" },
    { TEXT("n[1:1-2,7,9-10]"), 4, "n10", "ranges and numbers in one bracket" },
    { TEXT("n[1:1-2],m[1:5],k"), 2, "m5", "a bracket behind another" },
    { TEXT("n[1:1-2],m[1:5],k"), 3, "k", "a name behind brackets" },
    { TEXT("[1:1-3]"), 1, "2", "a name that is a number" },
    { TEXT("n[18:1]"), 0, "n000000000000000001", "the greatest width" },
    { TEXT("n[1:0]"), 0, "n0", "number 0" },
    { TEXT("n[1:1]@2(n[9:x"), 0, "n1", "behind the @ nothing is read" },
    { TEXT("n[6:000000-099999]"), 99999, "n099999", "the last of 100,000 nodes" },
    { TEXT("a,n[5:00001-99999],z"), 100000, "z", "the node behind 99,999 others" },
    { TEXT(NAME252 "[3:001]"), 0, NAME252 "001", "a name of 255" },
    { TEXT("n[1:1],m[1:x]"), 0, "n1", "what stands behind the node is not looked at" },
};

static const struct row bad[] = {
    { NO_TEXT, 0, NULL, "unset" },
    { TEXT(""), 0, NULL, "empty" },
    { TEXT("@0(2)"), 0, NULL, "no names" },
    { TEXT("n1,n2"), 2, NULL, "one node more than there are" },
    { TEXT("n[1:1-3]"), 3, NULL, "one node more than a bracket has" },
    { TEXT("n[1:0-999999999],n[1:0-999999999]"), UINT32_MAX, NULL, "a daemon that is not known" },
    { TEXT("n[1:1-3"), 0, NULL, "a bracket that does not end: the variable was cut" },
    { TEXT("n[1:1-3@0(3)"), 0, NULL, "a bracket that does not end before the @" },
    { TEXT("n1]"), 0, NULL, "a bracket that does not begin" },
    { TEXT("n1],n2"), 1, NULL, "one before the node" },
    { TEXT("n[1:1-3]]"), 0, NULL, "a bracket that ends twice" },
    { TEXT("n[1:1[1:2]]"), 0, NULL, "a bracket in a bracket" },
    { TEXT("["), 0, NULL, "nothing but a bracket" },
    { TEXT("n[]"), 0, NULL, "an empty bracket" },
    { TEXT("n[:1]"), 0, NULL, "an empty width" },
    { TEXT("n[1:]"), 0, NULL, "no numbers" },
    { TEXT("n[19:1]"), 0, NULL, "a width of nineteen" },
    { TEXT("n[1:0-999999999]"), 0, NULL, "more nodes than are believed" },
    { TEXT("n[x:1]"), 0, NULL, "a width that is no number" },
    { TEXT("n[1:x]"), 0, NULL, "a number that is none" },
    { TEXT("n[1:+1]"), 0, NULL, "a sign" },
    { TEXT("n[1: 1]"), 0, NULL, "a blank" },
    { TEXT("n[1:-1]"), 0, NULL, "a range without its beginning" },
    { TEXT("n[1:1-]"), 0, NULL, "a range without its end" },
    { TEXT("n[1:1-2-3]"), 0, NULL, "a range of three" },
    { TEXT("n[1:3-1]"), 0, NULL, "a range that goes back" },
    { TEXT("n[1:1,]"), 1, NULL, "an empty item" },
    { TEXT("n[1:1-4294967297]"), 0, NULL, "a number that wraps to 1" },
    { TEXT("n[1:18446744073709551617]"), 0, NULL, "a number that wraps to 1 in 64 bits" },
    { TEXT("a,,b"), 1, NULL, "an empty name" },
    { TEXT("a,,b"), 2, NULL, "an empty name before the node" },
    { TEXT("n[1:x],m"), 1, NULL, "a bad bracket before the node" },
    { TEXT(NAME252 "[4:0001]"), 0, NULL, "a name of 256" },
    { TEXT(NAME252 "[3:001]x"), 0, NULL, "a name of 256 by its suffix" },
    { TEXT(NAME252 "abcd"), 0, NULL, "a name of 256 without a bracket" },
};

UNIT_ROWS(names, "orteregex names a node of", good)
{
    char *name = unit_guard_memory(RC_HOST_MAX + 1);

    assert_true(rc_orteregex_nth(unit_guard(row->input), row->daemon, name));
    assert_string_equal(name, row->name);
}

UNIT_ROWS(refuses, "orteregex refuses", bad)
{
    char name[RC_HOST_MAX + 1] = "untouched";

    assert_false(rc_orteregex_nth(unit_guard(row->input), row->daemon, name));
    assert_string_equal(name, "untouched");
}
