/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces of a node that has a thousand of them, as beside hundreds of containers. */
#include "system/net.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <unistd.h>

#include "system/port.h"

enum { LINKS = 1000, BARE = 1 };

/* In the C library's place: first all links, then the addresses, as the kernel lists them. All have one but BARE. */
static struct ifaddrs node[2 * LINKS];
static struct sockaddr link_address = { .sa_family = AF_PACKET };
static struct sockaddr_in address[LINKS];
static struct sockaddr_in mask = { .sin_family = AF_INET };

int getifaddrs(struct ifaddrs **list)
{
    static char name[LINKS][RC_INTERFACE_SIZE];
    struct ifaddrs *next = node;

    inet_pton(AF_INET, "255.255.0.0", &mask.sin_addr);
    for (int i = 0; i < LINKS; i++, next++) {
        snprintf(name[i], sizeof(name[i]), i == 0 ? "lo" : i == LINKS - 1 ? "ib0" : "veth%d", i);
        *next = (struct ifaddrs){ .ifa_next = next + 1, .ifa_name = name[i], .ifa_addr = &link_address };
    }
    for (unsigned i = 0; i < LINKS; i++) {
        if (i == BARE)
            continue;
        address[i] = (struct sockaddr_in){
            .sin_family = AF_INET,
            .sin_addr.s_addr = htonl(i == 0           ? INADDR_LOOPBACK
                                     : i == LINKS - 1 ? 0x0a010203
                                                      : 0xac110000 + i),
        };
        *next = (struct ifaddrs){
            .ifa_next = i == LINKS - 1 ? NULL : next + 1,
            .ifa_name = name[i],
            .ifa_addr = (struct sockaddr *)&address[i],
            .ifa_netmask = (struct sockaddr *)&mask,
        };
        next++;
    }
    *list = node;
    return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
    assert_ptr_equal(list, node);
}

UNIT_TEST(keeps_addresses, "links are no addresses, and none of these is left out")
{
    struct rc_interface list[RC_INTERFACES_MAX];
    char text[RC_NETADDR_TEXT];

    assert_int_equal(rc_interfaces(list), LINKS - 1);
    assert_string_equal(list[0].name, "lo");
    assert_string_equal(list[LINKS - 2].name, "ib0");
    assert_string_equal(rc_netaddr_text(&list[LINKS - 2].address, text), "10.1.2.3");
    assert_int_equal(list[LINKS - 2].network.bits, 16);
}

/* Of a program that accepts a connection from each of its ranks. */
UNIT_TEST(knocks_unseen, "a port where a program listens is reached, and the program sees no connection")
{
    static const char *const hosts[] = { "127.0.0.1", "::1" };

    for (unsigned i = 0; i < 2; i++) {
        struct rc_addresses addresses = { .count = 1 };
        union rc_socket_name name;
        socklen_t size;
        int fd;

        assert_true(rc_netaddr_read(rc_str(hosts[i]), &addresses.list[0]));
        size = rc_socket_name(&name, &addresses.list[0], 0);
        fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        /* a machine without IPv6 */
        if (i == 1 && (fd < 0 || bind(fd, &name.any, size) < 0)) {
            close(fd);
            return;
        }
        if (i == 0)
            assert_int_equal(bind(fd, &name.any, size), 0);
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(rc_port_reach(&addresses, rc_port_number(fd), 10000), 0);
            assert_int_equal(listen(fd, 8), 0);
        }
        assert_int_equal(accept(fd, NULL, NULL), -1);
        assert_int_equal(errno, EAGAIN);
        close(fd);
    }
}
