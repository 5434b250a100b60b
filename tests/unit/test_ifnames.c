/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables that name interfaces, on a node with all kinds of them. */
#include "system/ifnames.h"
#include "unit.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>

#include "system/net.h"

static const struct {
    const char *filter;
    const char *name;
    bool passes;
    const char *why;
} filters[] = {
    { "", "eth0", true, "none" },
    { "eth", "eth0", true, "a prefix" },
    { "eth0", "eth", false, "a longer one" },
    { "ib,eth", "eth1", true, "the second of a list" },
    { "ib", "eth0", false, "none of the list" },
    { "=eth0", "eth0", true, "the whole name" },
    { "=eth", "eth0", false, "not the whole name" },
    { "=eth,ib0", "ib0", true, "the whole of the second" },
    { "^lo,docker", "docker0", false, "left out by prefix" },
    { "^lo,docker", "eth0", true, "not left out" },
    { "^=eth", "eth0", true, "another name is left out" },
    { "^=eth0", "eth0", false, "this name is left out" },
    { "mlx5_1:1", "mlx5_1", true, "with a port" },
    { "mlx5_1", "mlx5_10", true, "as NCCL does: a prefix" },
    { "=mlx5_1:1,mlx5_2:1", "mlx5_10", false, "whole names with ports" },
    { ",", "eth0", false, "empty elements name nothing" },
    { "^", "eth0", true, "nothing is left out" },
};

UNIT_TEST(test_filters, "filters of interfaces and devices")
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
        if (rc_ifnames_filter(rc_str(filters[i].filter), rc_str(filters[i].name)) != filters[i].passes)
            fail_msg("%s and %s: %s", filters[i].filter, filters[i].name, filters[i].why);
}

static const struct {
    const char *name;
    const char *address;
    unsigned flags;
} links[] = {
    { "lo", "127.0.0.1", IFF_UP | IFF_RUNNING },
    { "eth0", "192.0.2.1", IFF_UP | IFF_RUNNING },
    { "eth0:1", "192.0.2.2", IFF_UP | IFF_RUNNING },
    { "eth1", "198.51.100.1", 0 },
    { "eth2", "198.51.100.2", IFF_UP },
    { "ib0", "2001:db8::1", IFF_UP | IFF_RUNNING },
    { "ib1", "fe80::1", IFF_UP | IFF_RUNNING },
    { "lo", "::1", IFF_UP | IFF_RUNNING },
    { "veth7", "172.17.0.1", IFF_UP | IFF_RUNNING },
};

enum { LINKS = sizeof(links) / sizeof(*links) };

/* In the C library's place. */
int getifaddrs(struct ifaddrs **list)
{
    static struct ifaddrs entry[LINKS + 1];
    static struct sockaddr bare = { .sa_family = AF_PACKET };
    static struct sockaddr_in four[LINKS];
    static struct sockaddr_in6 six[LINKS];

    for (int i = 0; i < LINKS; i++) {
        bool is_six = inet_pton(AF_INET6, links[i].address, &six[i].sin6_addr) == 1;

        inet_pton(AF_INET, links[i].address, &four[i].sin_addr);
        four[i].sin_family = AF_INET;
        six[i].sin6_family = AF_INET6;
        entry[i] = (struct ifaddrs){
            .ifa_next = &entry[i + 1],
            .ifa_name = (char *)(uintptr_t)links[i].name,
            .ifa_flags = links[i].flags,
            .ifa_addr = is_six ? (struct sockaddr *)&six[i] : (struct sockaddr *)&four[i],
        };
        entry[i].ifa_netmask = entry[i].ifa_addr;
    }
    entry[LINKS] = (struct ifaddrs){ .ifa_name = (char *)(uintptr_t) "bare0", .ifa_addr = &bare };
    *list = entry;
    return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
    (void)list;
}

static const struct {
    struct rc_str input; /* GLOO_SOCKET_IFNAME */
    const char *nccl;
    const char *tensorpipe;
    const char *family;
    bool has_peers;
    const char *wrong; /* the variables that are named; "": nothing is wrong */
    const char *why;
} rows[] = {
    { TEXT(""), "", "", "", true, "", "nothing set" },
    { TEXT("eth0"), "eth", "eth0", "", true, "", "an interface that is there" },
    { TEXT("eth7"), "eth7", "eth7", "", true, "GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME TP_SOCKET_IFNAME",
      "one that is not" },
    { TEXT("eth0,ib0"), "ib7,eth", "", "", true, "", "a list" },
    { TEXT("eth0,ib7"), "ib7,ib8", "", "", true, "GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME",
      "a list with one that is not there" },
    { TEXT("eth0,"), "eth0,", "", "", true, "", "a comma at the end" },
    { TEXT("eth0, ib0"), "", "", "", true, "GLOO_SOCKET_IFNAME", "a blank, which gloo takes for a part of the name" },
    { TEXT("bare0"), "bare0", "bare0", "", true, "GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME TP_SOCKET_IFNAME",
      "no address" },
    { TEXT("eth1"), "eth1", "eth1", "", true, "GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME TP_SOCKET_IFNAME",
      "one that is down" },
    { TEXT("eth2"), "eth2", "", "", true, "GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME", "no carrier" },
    { TEXT("eth2"), "eth2", "eth2", "", false, "NCCL_SOCKET_IFNAME", "no carrier, on a single node" },
    { TEXT("ib0"), "ib0", "ib0", "", true, "", "IPv6 only" },
    { TEXT("ib1"), "ib1", "ib1", "", true, "", "a link-local address only" },
    { TEXT("eth0:1"), "=eth0", "", "", true, "", "a label of an address" },
    { TEXT(""), "^docker,lo", "", "", true, "", "NCCL's exclusion" },
    { TEXT(""), "^eth,ib,lo,veth", "", "", true, "NCCL_SOCKET_IFNAME", "all excluded" },
    { TEXT("^lo"), "^lo", "^lo", "", true, "GLOO_SOCKET_IFNAME TP_SOCKET_IFNAME", "NCCL's exclusion for gloo" },
    { TEXT("=eth0"), "=eth0", "", "", true, "GLOO_SOCKET_IFNAME", "NCCL's whole name for gloo" },
    { TEXT(""), "ib0", "", "AF_INET", true, "NCCL_SOCKET_IFNAME", "IPv6 only, for NCCL_SOCKET_FAMILY=AF_INET" },
    { TEXT(""), "eth0", "", "AF_INET6", true, "NCCL_SOCKET_IFNAME", "IPv4 only, for NCCL_SOCKET_FAMILY=AF_INET6" },
    { TEXT(""), "lo", "", "AF_INET6", true, "NCCL_SOCKET_IFNAME", "::1, which NCCL leaves out" },
    { TEXT("x"), "x", "", "", true, "", "one character, which gloo and NCCL ignore" },
    { TEXT(""), "", "eth7", "", false, "", "tensorpipe on a single node, which takes 127.0.0.1" },
};

UNIT_ROWS(finds_interfaces, "interfaces:", rows)
{
    static char text[2048];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_ifnames names = {
        .value = { row->input, rc_str(row->nccl), rc_str(row->tensorpipe) },
        .family = rc_str(row->family),
        .has_peers = row->has_peers,
    };
    const char *said = rc_ifnames_check(&names, &arena);
    char line[128];

    if (!*row->wrong) {
        assert_null(said);
        return;
    }
    assert_non_null(said);
    assert_non_null(strstr(said, "has no such interface that is up and has an address, but eth0, eth0:1, ib0, ib1;"));
    snprintf(line, sizeof(line), "type unset %s, or name an interface that each node has", row->wrong);
    assert_non_null(strstr(said, line));
}
