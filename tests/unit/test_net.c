/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces of a node that has more of them than are kept, as beside dozens of containers. */
#include "system/net.h"
#include "unit.h"

#include <arpa/inet.h>
#include <ifaddrs.h>

enum { LINKS = 70 };

/* In the C library's place: first all links, then addresses, as the kernel lists them. */
static struct ifaddrs node[LINKS + 2];
static struct sockaddr link_address = { .sa_family = AF_PACKET };
static struct sockaddr_in address[2];
static struct sockaddr_in mask = { .sin_family = AF_INET };

int getifaddrs(struct ifaddrs **list)
{
    static char name[LINKS][RC_INTERFACE_SIZE];

    for (int i = 0; i < LINKS; i++) {
        snprintf(name[i], sizeof(name[i]), i == 0 ? "lo" : i == 1 ? "ib0" : "veth%d", i);
        node[i] = (struct ifaddrs){ .ifa_next = &node[i + 1], .ifa_name = name[i], .ifa_addr = &link_address };
    }
    inet_pton(AF_INET, "255.255.0.0", &mask.sin_addr);
    for (int i = 0; i < 2; i++) {
        address[i].sin_family = AF_INET;
        inet_pton(AF_INET, i == 0 ? "127.0.0.1" : "10.1.2.3", &address[i].sin_addr);
        node[LINKS + i] = (struct ifaddrs){
            .ifa_next = i == 0 ? &node[LINKS + 1] : NULL,
            .ifa_name = name[i],
            .ifa_addr = (struct sockaddr *)&address[i],
            .ifa_netmask = (struct sockaddr *)&mask,
        };
    }
    *list = node;
    return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
    assert_ptr_equal(list, node);
}

UNIT_TEST(keeps_addresses, "addresses come before links, of which the first ones are kept")
{
    struct rc_interface list[RC_INTERFACES_MAX];
    char text[RC_NETADDR_TEXT];

    assert_int_equal(rc_interfaces(list), RC_INTERFACES_MAX);
    assert_string_equal(list[0].name, "lo");
    assert_string_equal(list[1].name, "ib0");
    assert_string_equal(rc_netaddr_text(&list[1].address, text), "10.1.2.3");
    assert_int_equal(list[1].network.bits, 16);
    assert_string_equal(list[2].name, "veth2");
    assert_int_equal(list[2].address.size, 0);
    assert_int_equal(list[RC_INTERFACES_MAX - 1].address.size, 0);
}
