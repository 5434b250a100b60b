/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/netaddr.h"

enum { GROUP_DIGITS = 4, NOWHERE = RC_IPV6_BYTES + 1 };

static bool read_ipv4(struct rc_str text, uint8_t *byte)
{
    for (unsigned i = 0; i < RC_IPV4_BYTES; i++) {
        uint32_t number;

        if (!rc_parse_u32(rc_str_split(text, '.', &text), UINT8_MAX, &number))
            return false;
        byte[i] = (uint8_t)number;
    }
    return !text.p;
}

static bool read_group(struct rc_str text, uint8_t *byte)
{
    uint32_t value = 0;

    if (text.n == 0 || text.n > GROUP_DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (rc_is_digit(c))
            value = value << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    byte[0] = (uint8_t)(value >> 8);
    byte[1] = (uint8_t)value;
    return true;
}

/* Parse groups between colons into `byte`, which must be zeroed. "::", once, stands for at least one group; an IPv4
 * address may replace the last two. */
static bool read_ipv6(struct rc_str text, uint8_t byte[RC_IPV6_BYTES])
{
    unsigned used = 0;
    unsigned gap = NOWHERE;

    if (rc_str_starts(text, "::")) /* so that the loop sees one empty group */
        text = (struct rc_str){ text.p + 1, text.n - 1 };
    else if (rc_str_starts(text, ":"))
        return false;
    while (text.p) {
        struct rc_str group = rc_str_split(text, ':', &text);

        if (group.n == 0 && text.p && gap == NOWHERE) {
            gap = used;
            if (text.n == 0)
                break;
        } else if (!text.p && used + RC_IPV4_BYTES <= RC_IPV6_BYTES && read_ipv4(group, byte + used)) {
            used += RC_IPV4_BYTES;
        } else if (used + 2 <= RC_IPV6_BYTES && read_group(group, byte + used)) {
            used += 2;
        } else {
            return false;
        }
    }
    if (gap == NOWHERE)
        return used == RC_IPV6_BYTES;
    if (used > RC_IPV6_BYTES - 2)
        return false;
    for (unsigned i = used; i-- > gap;) {
        byte[RC_IPV6_BYTES - used + i] = byte[i];
        byte[i] = 0;
    }
    return true;
}

bool rc_netaddr_read(struct rc_str text, struct rc_netaddr *address)
{
    struct rc_netaddr read = { .size = RC_IPV4_BYTES };

    if (!read_ipv4(text, read.byte)) {
        read = (struct rc_netaddr){ .size = RC_IPV6_BYTES };
        if (!read_ipv6(text, read.byte))
            return false;
    }
    *address = read;
    return true;
}

struct rc_network rc_network_around(const struct rc_netaddr *address, uint8_t bits)
{
    struct rc_network network = { .address = *address, .bits = bits };

    for (unsigned i = 0; i < address->size; i++) {
        unsigned kept = bits > 8 * i ? bits - 8 * i : 0;

        if (kept < 8)
            network.address.byte[i] &= (uint8_t)(0xff00u >> kept);
    }
    return network;
}

bool rc_network_read(struct rc_str text, struct rc_network *network)
{
    struct rc_str bits_text;
    struct rc_netaddr address;
    uint32_t bits;

    if (!rc_netaddr_read(rc_str_split(text, '/', &bits_text), &address) || !bits_text.p ||
        !rc_parse_u32(bits_text, 8u * address.size, &bits))
        return false;
    *network = rc_network_around(&address, (uint8_t)bits);
    return true;
}

bool rc_network_has(const struct rc_network *network, const struct rc_netaddr *address)
{
    struct rc_network own = rc_network_around(address, network->bits);

    return address->size == network->address.size && rc_netaddr_compare(&own.address, &network->address) == 0;
}

bool rc_netaddr_is_loopback(const struct rc_netaddr *address)
{
    static const struct rc_netaddr six = { .byte[15] = 1, .size = RC_IPV6_BYTES };

    if (address->size == RC_IPV4_BYTES)
        return address->byte[0] == 127;
    return rc_netaddr_compare(address, &six) == 0;
}

bool rc_netaddr_is_link_local(const struct rc_netaddr *address)
{
    return address->size == RC_IPV6_BYTES && address->byte[0] == 0xfe && (address->byte[1] & 0xc0) == 0x80;
}

int rc_netaddr_compare(const struct rc_netaddr *a, const struct rc_netaddr *b)
{
    if (a->size != b->size)
        return a->size - b->size;
    for (unsigned i = 0; i < a->size; i++)
        if (a->byte[i] != b->byte[i])
            return a->byte[i] - b->byte[i];
    return 0;
}

bool rc_netaddr_is_listed(struct rc_str list, const struct rc_netaddr *address)
{
    struct rc_netaddr listed;

    while (list.p)
        if (rc_netaddr_read(rc_str_split(list, ',', &list), &listed) && rc_netaddr_compare(&listed, address) == 0)
            return true;
    return false;
}

bool rc_host_is_loopback(struct rc_str host)
{
    struct rc_str rest = RC_STR("localhost|localhost.localdomain|localhost4|localhost6|ip6-localhost|ip6-loopback|::1|"
                                "0.0.0.0|0|::");

    while (rest.p)
        if (rc_str_is_alike(rc_str_split(rest, '|', &rest), host))
            return true;
    return rc_str_starts(host, "127.") || rc_str_starts(host, "localhost.") || rc_str_starts(host, "::ffff:127.");
}

const char *rc_host_with_port(struct rc_str host, uint32_t port, struct rc_arena *arena)
{
    bool is_ipv6 = rc_str_pieces(host, ':') > 1;

    if (!host.n || !port)
        return rc_copy(arena, host);
    return rc_format(arena, is_ipv6 ? "[%pS]:%u" : "%pS:%u", &host, port);
}
