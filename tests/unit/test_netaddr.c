/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and networks, and everything that only looks like one. */
#include "base/netaddr.h"
#include "unit.h"

#include <arpa/inet.h>

struct address_row {
    struct rc_str input;
    const char *is; /* as the C library writes it */
    const char *why;
};

static const struct address_row taken[] = {
    { TEXT("255.255.255.255"), "255.255.255.255", "the largest" },
    { TEXT("::"), "::", "nothing but a gap" },
    { TEXT("::1"), "::1", "a gap in front" },
    { TEXT("2001:db8:0:0:0:0:0:7"), "2001:db8::7", "eight groups" },
    { TEXT("1:2:3:4:5:6:7::"), "1:2:3:4:5:6:7:0", "a gap of one group at the end" },
    { TEXT("fd00:0077::000a"), "fd00:77::a", "leading zeros" },
    { TEXT("1:2:3:4:5:6:192.0.2.7"), "1:2:3:4:5:6:c000:207", "an IPv4 address after six groups" },
};

static const struct address_row refused[] = {
    { NO_TEXT, NULL, "unset" },
    { TEXT(""), NULL, "empty" },
    { TEXT("1.2.3"), NULL, "three bytes" },
    { TEXT("1.2.3.256"), NULL, "a byte too large" },
    { TEXT("1.2.3.04"), NULL, "octal or not, nobody knows" },
    { TEXT("n1"), NULL, "a name" },
    { TEXT("1:2:3:4::5:6:7:8"), NULL, "a gap of nothing" },
    { TEXT("1:2:3:4:5:6:7:8::"), NULL, "a gap of nothing at the end" },
    { TEXT("::1:2:3:4:5:6:7:8"), NULL, "a gap of nothing in front" },
    { TEXT(":::"), NULL, "three colons" },
    { TEXT("1::2::3"), NULL, "two gaps" },
    { TEXT(":1"), NULL, "a colon in front" },
    { TEXT("1:2:3:4:5:6:7:"), NULL, "a trailing colon" },
    { TEXT("12345::"), NULL, "five digits" },
    { TEXT("g::"), NULL, "no digit" },
    { TEXT("fe80::1%eth0"), NULL, "a zone" },
    { TEXT("1.2.3.4::"), NULL, "an IPv4 address in front of a gap" },
    { TEXT("1:2:3:4:5:6:7:1.2.3.4"), NULL, "an IPv4 address that does not fit" },
};

static const char *text_of(const struct rc_netaddr *address, char text[INET6_ADDRSTRLEN])
{
    return inet_ntop(address->size == RC_IPV4_BYTES ? AF_INET : AF_INET6, address->byte, text, INET6_ADDRSTRLEN);
}

UNIT_ROWS(takes, "address takes", taken)
{
    char text[INET6_ADDRSTRLEN];
    struct rc_netaddr address;

    assert_true(rc_netaddr_read(unit_guard(row->input), &address));
    assert_string_equal(text_of(&address, text), row->is);
}

UNIT_ROWS(refuses, "address refuses", refused)
{
    struct rc_netaddr address, before;

    memset(&before, 0x5a, sizeof(before));
    address = before;
    assert_false(rc_netaddr_read(unit_guard(row->input), &address));
    assert_memory_equal(&address, &before, sizeof(before));
}

static const struct {
    struct rc_str input;
    const char *address;
    bool inside;
    const char *why;
} networks[] = {
    { TEXT("10.1.0.0/16"), "10.1.255.255", true, "the last" },
    { TEXT("10.1.2.3/16"), "10.1.7.7", true, "an address for its network" },
    { TEXT("10.1.2.128/25"), "10.1.2.127", false, "a prefix within a byte, below" },
    { TEXT("10.1.2.3/32"), "10.1.2.2", false, "one address, and another" },
    { TEXT("0.0.0.0/0"), "192.0.2.1", true, "all of IPv4" },
    { TEXT("0.0.0.0/0"), "fd00::1", false, "all of IPv4 is no IPv6" },
    { TEXT("::/0"), "192.0.2.1", false, "all of IPv6 is no IPv4" },
    { TEXT("fd00:1::/64"), "fd00:1::ffff:ffff:ffff:ffff", true, "the last of IPv6" },
    { TEXT("fd00:1::/64"), "fd00:1:0:1::", false, "one too far in IPv6" },
    { TEXT("fd00:1::/33"), "fd00:1:7fff::", true, "a bit into a byte" },
    { TEXT("fd00:1::/33"), "fd00:1:8000::", false, "and past it" },
};

UNIT_ROWS(has, "network has", networks)
{
    struct rc_network network;
    struct rc_netaddr address;

    assert_true(rc_network_read(unit_guard(row->input), &network));
    assert_true(rc_netaddr_read(rc_str(row->address), &address));
    assert_int_equal(rc_network_has(&network, &address), row->inside);
}

static const struct address_row no_networks[] = {
    { NO_TEXT, NULL, "unset" },
    { TEXT(""), NULL, "empty" },
    { TEXT("/16"), NULL, "no address" },
    { TEXT("10.1.0.0"), NULL, "no length" },
    { TEXT("10.1.0.0/33"), NULL, "longer than IPv4" },
    { TEXT("fd00::/129"), NULL, "longer than IPv6" },
    { TEXT("10.1.0.0/016"), NULL, "leading zero" },
    { TEXT("n1/16"), NULL, "a name" },
};

UNIT_ROWS(refuses_network, "network refuses", no_networks)
{
    struct rc_network network, before;

    memset(&before, 0x5a, sizeof(before));
    network = before;
    assert_false(rc_network_read(unit_guard(row->input), &network));
    assert_memory_equal(&network, &before, sizeof(before));
}

static struct rc_netaddr address_of(const char *text)
{
    struct rc_netaddr address = { .size = 0 };

    assert_true(rc_netaddr_read(rc_str(text), &address));
    return address;
}

/* All nodes take the lowest one, so the order must not depend on any of them. */
UNIT_TEST(has_an_order, "addresses have one order")
{
    static const char *const sorted[] = { "9.255.255.255", "10.0.0.1", "10.0.0.2", "200.0.0.0",
                                          "::1",           "fd00::1",  "fd00::2" };

    for (size_t i = 0; i < UNIT_COUNT(sorted); i++) {
        for (size_t j = 0; j < UNIT_COUNT(sorted); j++) {
            struct rc_netaddr a = address_of(sorted[i]), b = address_of(sorted[j]);
            int order = rc_netaddr_compare(&a, &b);

            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

UNIT_TEST(is_listed, "a list of addresses: has its addresses, by number, and skips what is none")
{
    struct rc_netaddr four, six;

    assert_true(rc_netaddr_read(RC_STR("10.0.0.1"), &four));
    assert_true(rc_netaddr_read(RC_STR("fd00:0::1"), &six));
    assert_true(rc_netaddr_is_listed(RC_STR("n1,10.0.0.2,10.0.0.1"), &four));
    assert_true(rc_netaddr_is_listed(RC_STR("10.0.0.1,fd00::1"), &six));
    assert_false(rc_netaddr_is_listed(RC_STR("10.0.0.11,10.0.0.2"), &four));
    assert_false(rc_netaddr_is_listed(RC_STR("no such name"), &four));
    assert_false(rc_netaddr_is_listed(RC_ABSENT, &four));
}

UNIT_TEST(knows_loopback_and_link_local, "loopback and link-local addresses are known")
{
    static const struct {
        const char *address;
        bool loopback, link_local;
    } rows[] = {
        { "127.0.0.1", true, false },  { "127.0.1.1", true, false }, { "126.255.255.255", false, false },
        { "128.0.0.1", false, false }, { "::1", true, false },       { "::2", false, false },
        { "7f00::1", false, false },   { "fe80::1", false, true },   { "febf::1", false, true },
        { "fec0::1", false, false },   { "fd00::1", false, false },  { "254.128.0.1", false, false },
    };

    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct rc_netaddr address = address_of(rows[i].address);

        if (rc_netaddr_is_loopback(&address) != rows[i].loopback ||
            rc_netaddr_is_link_local(&address) != rows[i].link_local)
            fail_msg("%s", rows[i].address);
    }
}
