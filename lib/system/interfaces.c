/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/interfaces.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { DISCARD_PORT = 9 };

bool rc_netaddr_from_socket(const struct sockaddr *from, struct rc_netaddr *to)
{
    if (from && from->sa_family == AF_INET) {
        to->size = RC_IPV4_BYTES;
        memcpy(to->byte, &((const struct sockaddr_in *)(const void *)from)->sin_addr, RC_IPV4_BYTES);
    } else if (from && from->sa_family == AF_INET6) {
        to->size = RC_IPV6_BYTES;
        memcpy(to->byte, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, RC_IPV6_BYTES);
    } else {
        return false;
    }
    return true;
}

static uint8_t count_bits(const struct rc_netaddr *mask)
{
    uint8_t bits = 0;

    while (bits < 8 * mask->size && mask->byte[bits / 8] & 0x80 >> bits % 8)
        bits++;
    return bits;
}

/* An address may have a label of its own: "ib0:1" is of ib0. */
static void copy_name(const struct ifaddrs *entry, char name[RC_INTERFACE_SIZE])
{
    struct rc_str label;
    struct rc_str own = rc_str_split(rc_str(entry->ifa_name), ':', &label);
    size_t n = own.n < RC_INTERFACE_SIZE ? own.n : RC_INTERFACE_SIZE - 1;

    memcpy(name, own.p, n);
    name[n] = '\0';
}

unsigned rc_interfaces(struct rc_interface list[RC_INTERFACES_MAX])
{
    struct ifaddrs *all = NULL;
    unsigned count = 0;

    if (getifaddrs(&all) < 0)
        return 0;
    for (const struct ifaddrs *entry = all; entry && count < RC_INTERFACES_MAX; entry = entry->ifa_next) {
        struct rc_interface *interface = &list[count];
        struct rc_netaddr mask;

        memset(interface, 0, sizeof(*interface));
        copy_name(entry, interface->name);
        if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_PACKET) {
            count++;
            continue;
        }
        if (!rc_netaddr_from_socket(entry->ifa_addr, &interface->address) ||
            rc_netaddr_is_link_local(&interface->address) || !rc_netaddr_from_socket(entry->ifa_netmask, &mask))
            continue;
        interface->network = rc_network_around(&interface->address, count_bits(&mask));
        count++;
    }
    freeifaddrs(all);
    return count;
}

/* The address that this node's packets to another one carry. */
static bool find_source(const struct rc_netaddr *address, struct rc_netaddr *source)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } name = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t size;
    bool found;
    int fd;

    if (address->size == RC_IPV4_BYTES) {
        name.four = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(DISCARD_PORT) };
        memcpy(&name.four.sin_addr, address->byte, RC_IPV4_BYTES);
        size = sizeof(name.four);
    } else {
        name.six = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(DISCARD_PORT) };
        memcpy(&name.six.sin6_addr, address->byte, RC_IPV6_BYTES);
        size = sizeof(name.six);
    }
    fd = socket(name.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    found = connect(fd, &name.any, size) == 0;
    size = sizeof(name);
    found = found && getsockname(fd, &name.any, &size) == 0 && rc_netaddr_from_socket(&name.any, source);
    close(fd);
    return found;
}

bool rc_interface_towards(const struct rc_netaddr *address, char name[RC_INTERFACE_SIZE])
{
    struct rc_interface list[RC_INTERFACES_MAX];
    struct rc_netaddr source;
    unsigned count;

    if (rc_netaddr_is_loopback(address) || !find_source(address, &source))
        return false;
    count = rc_interfaces(list);
    for (unsigned i = 0; i < count; i++) {
        if (rc_netaddr_compare(&list[i].address, &source) == 0 && strcmp(list[i].name, "lo") != 0) {
            memcpy(name, list[i].name, RC_INTERFACE_SIZE);
            return true;
        }
    }
    return false;
}
