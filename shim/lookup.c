/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup.c - librollcall-lookup.so: torch's stores take addresses as they are, without asking for names.
 *
 *   srun --ddp=lookup=numeric python train.py
 *
 * The server of torch's TCPStore has one thread. On each new connection that looks up the client's name, for lines of a
 * log that nobody reads (c10d's socket.cpp, under both of its back ends, torch 2.6 to 2.14). Where name servers
 * answer slowly, thousands of ranks wait for each other's look-ups. Each client looks up the server, too.
 *
 * rollcall puts this library into LD_PRELOAD of all tasks (lib/resolve/reverse.h). It answers getnameinfo with the
 * address where torch's own libraries call, and hands all other calls on as they are. Like the preload library it has
 * no libc, because all programs of a task load it. It has no constructor, starts nothing and prints nothing.
 */
#include "config.h"

#include <netdb.h>
#include <sys/socket.h>

#include "objects.h"

/* In torch 2.13 five places call. */
enum { CALLERS = 8 };

typedef int lookup_function(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size,
                            char *service, socklen_t service_size, int flags);

/* Remembers where torch calls, since torch stays loaded. Others, which may go, are asked for each time. */
static bool is_torch(uintptr_t caller)
{
    static uintptr_t known[CALLERS];

    for (unsigned i = 0; i < CALLERS; i++)
        if (__atomic_load_n(&known[i], __ATOMIC_RELAXED) == caller)
            return true;
    if (!shim_object_is(caller, "libtorch libc10"))
        return false;
    for (unsigned i = 0; i < CALLERS; i++) {
        uintptr_t none = 0;

        if (__atomic_compare_exchange_n(&known[i], &none, caller, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
    }
    return true;
}

static lookup_function *find_next(void)
{
    static uintptr_t known;
    uintptr_t next = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (!next) {
        next = shim_object_next("getnameinfo");
        __atomic_store_n(&known, next, __ATOMIC_RELAXED);
    }
    return (lookup_function *)next;
}

/* With NI_NAMEREQD the address is no answer. */
__attribute__((visibility("default"))) int getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
                                                       socklen_t host_size, char *service, socklen_t service_size,
                                                       int flags)
{
    lookup_function *next = find_next();

    if (!(flags & (NI_NAMEREQD | NI_NUMERICHOST)) && is_torch((uintptr_t)__builtin_return_address(0)))
        flags |= NI_NUMERICHOST;
    return next ? next(address, size, host, host_size, service, service_size, flags) : EAI_FAIL;
}
