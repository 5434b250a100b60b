/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "endpoints.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "rendezvous/endpoint.h"
#include "system/beside.h"
#include "system/program.h"

enum { HOSTS_SIZE = 4000 };

extern char **environ;

static void list_addresses(char hosts[HOSTS_SIZE])
{
    static const int families[] = { AF_INET, AF_INET6 };
    struct ifaddrs *all;
    size_t used = 0;

    hosts[0] = '\0';
    if (getifaddrs(&all) < 0)
        return;
    for (unsigned i = 0; i < 2; i++) {
        for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
            char name[INET6_ADDRSTRLEN];
            const void *address;

            if (!a->ifa_addr || a->ifa_addr->sa_family != families[i] || (a->ifa_flags & IFF_LOOPBACK) ||
                !(a->ifa_flags & IFF_UP))
                continue;
            address = families[i] == AF_INET
                          ? (const void *)&((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr
                          : (const void *)&((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr;
            /* a link-local address needs the interface's number, which differs from host to host */
            if (families[i] == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)address))
                continue;
            if (inet_ntop(families[i], address, name, sizeof(name)) && used + strlen(name) + 2 <= HOSTS_SIZE)
                used += (size_t)snprintf(hosts + used, HOSTS_SIZE - used, "%s%s", used ? " " : "", name);
        }
    }
    freeifaddrs(all);
}

const char *exchange_write_endpoint(const char *token, uint16_t port, struct rc_arena *arena)
{
    char hosts[HOSTS_SIZE];
    struct rc_endpoint endpoint = { .token = rc_str(token), .port = port };

    list_addresses(hosts);
    endpoint.hosts = rc_str(hosts);
    return rc_endpoint_write(&endpoint, arena);
}

char *exchange_ask_pmix(const char *argument, struct rc_str input, uint32_t milliseconds, char *line, size_t size)
{
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = RC_PROGRAM_PMIX, .path = path, .argument = argument, .input = input, .milliseconds = milliseconds
    };
    int rc;

    if (!rc_beside_file(".", "rollcall-pmix", path, sizeof(path)).p) {
        snprintf(line, size, "%s", strerror(ENOENT));
        return NULL;
    }
    program.env = (const char *const *)environ;
    rc = rc_program_line(&program, line, size);
    if (rc == -ETIMEDOUT)
        snprintf(line, size, "no answer by the deadline");
    return rc < 0 ? NULL : line;
}
