/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and lists of hosts: counting, finding one, the first, the host of a slot. */
#include "launcher/hosts.h"
#include "unit.h"

enum { LINES = RC_HOSTFILE_LINES, PAIRS = RC_HOSTFILE_PAIRS };

#define LABEL63 "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0"
#define NAME255 LABEL63 "." LABEL63 "." LABEL63 "." LABEL63

struct row {
    struct rc_str input;
    int format;
    uint32_t hosts;
    uint32_t slots;
    const char *all; /* the entries with slots, in order; NULL: a host is there twice */
    const char *why;
};

static const struct row good[] = {
    { TEXT("n1"), LINES, 1, 1, "n1*1 ", "a line without its end" },
    { TEXT("n1\n"), LINES, 1, 1, "n1*1 ", "a line" },
    { TEXT("n2\nn1\n"), LINES, 2, 2, "n2*1 n1*1 ", "the file's order, not the alphabet's" },
    { TEXT("\n\n  n1 \n\t\nn2\n\n"), LINES, 2, 2, "n1*1 n2*1 ", "empty lines and blanks" },
    { TEXT("n1\r\nn2\r\n"), LINES, 2, 2, "n1*1 n2*1 ", "Windows line ends" },
    { TEXT("# all\nn1 # the first\n#n3\nn2#x\n"), LINES, 2, 2, "n1*1 n2*1 ", "comments" },
    { TEXT("n1\nn1\nn2\nn2\n"), LINES, 4, 4, NULL, "PBS_NODEFILE: a line a task" },
    { TEXT("n1\nn2\nn1\nn2\n"), LINES, 4, 4, NULL, "the same in turn" },
    { TEXT("n1\nn2\nn3\nn1\n"), LINES, 4, 4, NULL, "the first comes again at the end" },
    { TEXT("n1:2\nn2:4 binding=user:0,1\n"), LINES, 2, 2, "n1*1 n2*1 ", "Hydra: a line is one" },
    { TEXT("192.0.2.1\n192.0.2.2:4\n"), LINES, 2, 2, "192.0.2.1*1 192.0.2.2*1 ", "IPv4 addresses" },
    { TEXT("2001:db8::1\n::ffff:192.0.2.1\n"), LINES, 2, 2, "2001:db8::1*1 ::ffff:192.0.2.1*1 ", "IPv6 addresses" },
    { TEXT("N1\nn1\n"), LINES, 2, 2, "N1*1 n1*1 ", "entries are compared as they are written" },
    { TEXT("n10\nn1\n"), LINES, 2, 2, "n10*1 n1*1 ", "not the one that it begins" },
    { TEXT(NAME255), LINES, 1, 1, NAME255 "*1 ", "a name of 255" },
    { TEXT("n1 16777216"), PAIRS, 1, RC_MAX_TASKS, "n1*16777216 ", "as many slots as are believed" },
    { TEXT("n1 2 n2 1"), PAIRS, 2, 3, "n1*2 n2*1 ", "LSB_MCPU_HOSTS" },
    { TEXT("  n2 1   n1 1 "), PAIRS, 2, 2, "n2*1 n1*1 ", "LSB_MCPU_HOSTS with blanks" },
    { TEXT("n1 2 n2 1 n1 1"), PAIRS, 3, 4, NULL, "LSB_MCPU_HOSTS with a host in two pieces" },
};

static const struct row bad[] = {
    { NO_TEXT, LINES, 0, 0, NULL, "unset" },
    { TEXT(""), LINES, 0, 0, NULL, "empty" },
    { TEXT("\n\n"), LINES, 0, 0, NULL, "empty lines" },
    { TEXT("# n1\n"), LINES, 0, 0, NULL, "a comment" },
    { TEXT("n1\n/etc/hosts\n"), LINES, 0, 0, NULL, "a path" },
    { TEXT("^n1\n"), LINES, 0, 0, NULL, "a host to leave out" },
    { TEXT("+n0\n"), LINES, 0, 0, NULL, "the first host of another list" },
    { TEXT("-n1\n"), LINES, 0, 0, NULL, "an option" },
    { TEXT("n*\n"), LINES, 0, 0, NULL, "a pattern" },
    { TEXT("n[1-2]\n"), LINES, 0, 0, NULL, "Slurm's brackets" },
    { TEXT("[2001:db8::1]:2\n"), LINES, 0, 0, NULL, "an address in brackets" },
    { TEXT(":2\n"), LINES, 0, 0, NULL, "nothing before the colon" },
    { TEXT("n1 16777217"), PAIRS, 0, 0, NULL, "more slots than are believed" },
    { TEXT("n1 4294967297"), PAIRS, 0, 0, NULL, "a number that wraps to 1" },
    { TEXT("n1 16777216 n2 1"), PAIRS, 0, 0, NULL, "a sum that is not believed" },
    { TEXT("n1,n2\n"), LINES, 0, 0, NULL, "commas" },
    { TEXT("n\xc3\xa9\n"), LINES, 0, 0, NULL, "UTF-8" },
    { TEXT("\xef\xbb\xbfn1\n"), LINES, 0, 0, NULL, "a byte order mark" },
    { TEXT("\x1b[2Jn1\n"), LINES, 0, 0, NULL, "a terminal escape" },
    { TEXT("n1\0n2\n"), LINES, 0, 0, NULL, "NUL in the middle" },
    { TEXT("\x7f"
           "ELF\x02\x01\x01\0"),
      LINES, 0, 0, NULL, "a program" },
    { TEXT(NAME255 "x\n"), LINES, 0, 0, NULL, "a name of 256" },
    { TEXT(""), PAIRS, 0, 0, NULL, "empty LSB_MCPU_HOSTS" },
    { TEXT("   "), PAIRS, 0, 0, NULL, "LSB_MCPU_HOSTS of blanks" },
    { TEXT("n1 1 $(id) 1"), PAIRS, 0, 0, NULL, "shell substitution" },
    { TEXT("n1"), PAIRS, 0, 0, NULL, "half a pair" },
    { TEXT("n1 2 n2"), PAIRS, 0, 0, NULL, "half a pair after a whole one" },
    { TEXT("n1 n2 2"), PAIRS, 0, 0, NULL, "a name for a number" },
    { TEXT("n1 two"), PAIRS, 0, 0, NULL, "a number in words" },
};

static uint64_t *filter(void)
{
    return unit_guard_memory(RC_HOSTFILE_BITS / 8);
}

UNIT_ROWS(reads, "hostfile reads", good)
{
    struct rc_hostfile file;
    struct rc_hostfile_place place;
    char all[512] = "";

    assert_true(rc_hostfile_read(unit_guard(row->input), (enum rc_hostfile_format)row->format, filter(), &file));
    assert_int_equal(file.hosts, row->hosts);
    assert_int_equal(file.slots, row->slots);
    assert_int_equal(file.repeats, !row->all);
    for (uint32_t i = 0; row->all && i < row->slots && i < 8; i++) {
        size_t used = strlen(all);

        assert_true(rc_hostfile_place(&file, i, &place));
        if (place.local > 0)
            continue;
        snprintf(all + used, sizeof(all) - used, "%.*s*%u ", (int)place.host.n, place.host.p, place.local_slots);
        assert_int_equal(rc_hostfile_find(&file, place.host), place.index);
    }
    assert_string_equal(all, row->all ? row->all : "");
}

UNIT_ROWS(refuses, "hostfile refuses", bad)
{
    struct rc_hostfile file = { .hosts = 77 };

    assert_false(rc_hostfile_read(unit_guard(row->input), (enum rc_hostfile_format)row->format, filter(), &file));
    assert_int_equal(file.hosts, 77);
}

static const struct {
    struct rc_str input;
    const char *name;
    uint32_t index;
    const char *why;
} finds[] = {
    { TEXT("n1\nn2\n"), "n2", 1, "the second" },
    { TEXT("n1\nn2\n"), "n3", RC_UNKNOWN, "not there" },
    { TEXT("n1\nn2\n"), "", RC_UNKNOWN, "no name" },
    { TEXT("n1\nn10\n"), "n10", 1, "not the one that begins it" },
    { TEXT("n1.c.example\nn2.c.example\n"), "n2", 1, "the node's own name is the short one" },
    { TEXT("n1\nn2\n"), "n2.c.example", 1, "the node's own name is the long one" },
    { TEXT("n1\nn2\n"), "N2", 1, "capitals" },
    { TEXT("n1.a\nn1.b\n"), "n1", RC_UNKNOWN, "fits two" },
    { TEXT("n1.a\nn1.b\n"), "n1.b", 1, "fits one of the two exactly" },
    { TEXT("n1.a\nn1\n"), "n1", 1, "an exact one goes before" },
    { TEXT("10.0.0.1\n10.0.0.2\n"), "10", RC_UNKNOWN, "an address has no short name" },
    { TEXT("10.0.0.1\n10.0.0.2\n"), "10.0.0.2", 1, "an address" },
};

UNIT_ROWS(finds_host, "hostfile looks for a host in", finds)
{
    struct rc_hostfile file;

    assert_true(rc_hostfile_read(unit_guard(row->input), RC_HOSTFILE_LINES, filter(), &file));
    assert_int_equal(rc_hostfile_find(&file, rc_str(row->name)), row->index);
}

static const struct {
    struct rc_str input;
    uint32_t slot;
    const char *place; /* host index local local_slots smallest largest; NULL: none */
    const char *why;
} places[] = {
    { TEXT("n1 1"), 0, "n1 0 0 1 1 1", "the only one" },
    { TEXT("n1 1"), 1, NULL, "after the only one" },
    { TEXT("n1 1"), RC_UNKNOWN, NULL, "an unknown one" },
    { TEXT("n1 2 n2 2"), 1, "n1 0 1 2 2 2", "the second of the first host" },
    { TEXT("n1 2 n2 2"), 2, "n2 1 0 2 2 2", "the first of the second host" },
    { TEXT("n1 2 n2 2"), 3, "n2 1 1 2 2 2", "the last" },
    { TEXT("n1 2 n2 2"), 4, NULL, "after the last" },
    { TEXT("n1 3 n2 1"), 3, "n2 1 0 1 1 3", "hosts of different sizes" },
    { TEXT("n1 2 n4 0 n3 9"), 2, "n3 2 0 9 0 9", "after a host without slots" },
};

UNIT_ROWS(gives_the_place, "hostfile gives the place of", places)
{
    struct rc_hostfile file;
    struct rc_hostfile_place place = { .index = 77 };
    char text[128] = "";
    uint32_t *numbers[] = { &place.index, &place.local, &place.local_slots, &place.smallest, &place.largest };

    assert_true(rc_hostfile_read(unit_guard(row->input), RC_HOSTFILE_PAIRS, filter(), &file));
    assert_int_equal(rc_hostfile_place(&file, row->slot, &place), row->place != NULL);
    if (!row->place) {
        assert_int_equal(place.index, 77);
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)place.host.n, place.host.p);
    for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, " %u", *numbers[i]);
    }
    assert_string_equal(text, row->place);
}

UNIT_TEST(gives_the_first, "the first host")
{
    assert_true(rc_str_is(rc_hostfile_first(RC_STR("# all\n\nn1:2\n/etc\n"), RC_HOSTFILE_LINES), "n1"));
    assert_true(rc_str_is(rc_hostfile_first(RC_STR("n1 2 n2 1"), RC_HOSTFILE_PAIRS), "n1"));
    assert_false(rc_hostfile_first(RC_STR("/etc\nn1\n"), RC_HOSTFILE_LINES).p);
    assert_false(rc_hostfile_first(RC_ABSENT, RC_HOSTFILE_LINES).p);
}

/* 10,000 hosts are too many for the filter: still each is seen to be another one. */
UNIT_TEST(counts_many, "ten thousand hosts")
{
    enum { HOSTS = 10000 };
    static char text[(HOSTS + 1) * 8];
    struct rc_hostfile file;
    struct rc_hostfile_place place;
    size_t used = 0;

    for (int i = 0; i < HOSTS; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "n%d\n", i);
    assert_true(rc_hostfile_read(rc_str(text), RC_HOSTFILE_LINES, filter(), &file));
    assert_int_equal(file.hosts, HOSTS);
    assert_int_equal(file.slots, HOSTS);
    assert_false(file.repeats);
    assert_true(rc_hostfile_place(&file, HOSTS - 1, &place));
    assert_true(rc_str_is(place.host, "n9999"));
    snprintf(text + used, sizeof(text) - used, "n5000\n");
    assert_true(rc_hostfile_read(rc_str(text), RC_HOSTFILE_LINES, filter(), &file));
    assert_true(file.repeats);
}

/* What would take hours is given up. */
UNIT_TEST(gives_up, "a hundred thousand hosts")
{
    enum { HOSTS = 100000 };
    static char text[HOSTS * 8];
    struct rc_hostfile file;
    size_t used = 0;

    for (int i = 0; i < HOSTS; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "n%d\n", i);
    assert_false(rc_hostfile_read(rc_str(text), RC_HOSTFILE_LINES, filter(), &file));
}
