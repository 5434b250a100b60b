/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/resolver.h"

#include <arpa/inet.h>
#include <netdb.h>

#include "system/interfaces.h"

void rc_addresses_add(struct rc_addresses *addresses, const struct rc_netaddr *address)
{
    if (addresses->count < RC_ADDRESSES_MAX)
        addresses->list[addresses->count++] = *address;
}

int rc_resolver_ask(const char *name, struct rc_addresses *addresses)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    int error = getaddrinfo(name, NULL, &hints, &list);
    unsigned before = addresses->count;

    if (error)
        return error;
    for (const struct addrinfo *a = list; a; a = a->ai_next) {
        struct rc_netaddr address;

        if (rc_netaddr_from_socket(a->ai_addr, &address))
            rc_addresses_add(addresses, &address);
    }
    freeaddrinfo(list);
    return addresses->count > before ? 0 : EAI_NONAME;
}

bool rc_resolver_denies(int error)
{
    switch (error) {
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
        return true;
    default:
        return false;
    }
}

const char *rc_netaddr_text(const struct rc_netaddr *address, char text[RC_NETADDR_TEXT])
{
    int family = address->size == RC_IPV4_BYTES ? AF_INET : AF_INET6;

    return inet_ntop(family, address->byte, text, RC_NETADDR_TEXT) ? text : "?";
}
