/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/address.h"

#include "base/netaddr.h"
#include "launcher/hosts.h"

/* The kernel's rule for an interface's name (dev_valid_name): shorter than IFNAMSIZ, without '/', ':' and blanks. */
enum { INTERFACE_MAX = 15 };

static const char *check_suffix(struct rc_str value)
{
    char last = value.p[value.n - 1];

    if (value.n > RC_HOST_MAX)
        return "longer than a host name";
    for (size_t i = 0; i < value.n; i++)
        if (!rc_is_in_name(value.p[i]) || (i > 0 && value.p[i] == '.' && value.p[i - 1] == '.'))
            return "not the end of a host name";
    return last == '-' || last == '.' ? "not the end of a host name" : NULL;
}

static const char *check_network(struct rc_str value)
{
    struct rc_network network;

    if (!rc_network_read(value, &network))
        return "not a network";
    return rc_netaddr_is_loopback(&network.address) ? "loopback, by which no node reaches another" : NULL;
}

static const char *check_interface(struct rc_str value)
{
    struct rc_netaddr address;

    if (rc_netaddr_read(value, &address))
        return "an address; a network has its length behind it";
    if (rc_str_is(value, "lo"))
        return "loopback, by which no node reaches another";
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] <= ' ' || value.p[i] >= 0x7f || value.p[i] == ':')
            return "not the name of an interface";
    return value.n > INTERFACE_MAX ? "longer than the name of an interface" : NULL;
}

const char *rc_address_read(struct rc_str value, enum rc_address_kind *kind)
{
    struct rc_str length;

    if (value.n == 0)
        return "empty";
    if (rc_str_is(value, "given")) {
        *kind = RC_ADDRESS_GIVEN;
        return NULL;
    }
    rc_str_split(value, '/', &length);
    if (length.p) {
        *kind = RC_ADDRESS_NETWORK;
        return check_network(value);
    }
    if (value.p[0] == '-' || value.p[0] == '.') {
        *kind = RC_ADDRESS_SUFFIX;
        return check_suffix(value);
    }
    *kind = RC_ADDRESS_INTERFACE;
    return check_interface(value);
}

const char *rc_address_with_suffix(struct rc_str host, struct rc_str suffix, struct rc_arena *arena)
{
    struct rc_netaddr address;
    struct rc_str domain;
    struct rc_str label = rc_str_split(host, '.', &domain);
    struct rc_str own_domain;
    bool with_domain;
    size_t length;

    rc_str_split(suffix, '.', &own_domain);
    with_domain = own_domain.p || !domain.p;
    length = label.n + suffix.n + (with_domain ? 0 : 1 + domain.n);
    if (label.n == 0 || length > RC_HOST_MAX || rc_netaddr_read(host, &address))
        return NULL;
    return with_domain ? rc_format(arena, "%pS%pS", &label, &suffix)
                       : rc_format(arena, "%pS%pS.%pS", &label, &suffix, &domain);
}
