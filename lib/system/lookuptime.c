/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/lookuptime.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "system/bounded.h"
#include "system/resolver.h"

enum { WORTH_SAYING_MS = 1000, MICRO = 1000000, MILLI = 1000 };

static uint64_t microseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * MICRO + (uint64_t)t.tv_nsec / MILLI;
}

/* As a listener at [::] sees a client. */
static struct sockaddr_in6 mapped_address(const struct rc_netaddr *address)
{
    struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
    uint8_t *byte = mapped.sin6_addr.s6_addr;

    if (address->size == RC_IPV4_BYTES)
        byte[10] = byte[11] = 0xff;
    memcpy(byte + sizeof(mapped.sin6_addr) - address->size, address->byte, address->size);
    return mapped;
}

/* Returns getnameinfo's result. */
static int look_up(const struct rc_netaddr *address, uint32_t *taken)
{
    struct sockaddr_in6 mapped = mapped_address(address);
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    uint64_t start = microseconds();
    int error = getnameinfo((const struct sockaddr *)&mapped, sizeof(mapped), host, sizeof(host), port, sizeof(port),
                            NI_NUMERICSERV);

    *taken = (uint32_t)(microseconds() - start);
    return error;
}

static bool is_ipv4(const struct rc_netaddr *address)
{
    return address->size == RC_IPV4_BYTES;
}

/* Microseconds, as the child tells them step by step. */
enum { ADDRESS_TAKEN, HAS_FAILED, FIRST, AGAIN, NUMBERS };

static void tell_numbers(int fd, const uint32_t *number, size_t count)
{
    rc_bounded_write(fd, (struct rc_str){ (const char *)number, count * sizeof(*number) });
}

static void tell_times(const void *host, int fd)
{
    struct rc_addresses found = { .count = 0 };
    const struct rc_netaddr *address = &found.list[0];
    uint32_t number[NUMBERS];
    uint64_t start = microseconds();

    if (rc_resolver_ask(host, &found) != 0)
        return;
    for (unsigned i = 0; i < found.count && !is_ipv4(address); i++)
        address = is_ipv4(&found.list[i]) ? &found.list[i] : address;
    number[ADDRESS_TAKEN] = (uint32_t)(microseconds() - start);
    tell_numbers(fd, number, 1);
    number[HAS_FAILED] = look_up(address, &number[FIRST]) != 0;
    tell_numbers(fd, &number[HAS_FAILED], 2);
    if (number[HAS_FAILED])
        return;
    look_up(address, &number[AGAIN]);
    tell_numbers(fd, &number[AGAIN], 1);
}

/* One limit for the address, and one for what follows: a first look-up that has not ended by then has taken more. */
int rc_lookup_time(const char *host, struct rc_lookup_time *time)
{
    uint32_t number[NUMBERS];
    size_t told = rc_bounded_run(tell_times, host, 2 * RC_LOOKUP_LIMIT_MS, (char *)number, sizeof(number)) /
                  sizeof(*number);

    if (told <= ADDRESS_TAKEN || number[ADDRESS_TAKEN] > RC_LOOKUP_LIMIT_MS * MILLI)
        return -ENOENT;
    *time = (struct rc_lookup_time){ .is_over = told <= FIRST };
    if (time->is_over)
        return 0;
    time->has_failed = number[HAS_FAILED];
    time->first = number[FIRST];
    time->again = told > AGAIN ? number[AGAIN] : number[FIRST];
    return 0;
}

/* "20 ms", "2.5 ms" */
static const char *in_milliseconds(uint32_t taken, struct rc_arena *arena)
{
    if (taken >= 10 * MILLI)
        return rc_format(arena, "%u ms", (taken + MILLI / 2) / MILLI);
    return rc_format(arena, "%u.%u ms", taken / MILLI, taken % MILLI / (MILLI / 10));
}

/* Where the next look-up takes half of the time or less, something keeps the answers, and each node's address is
 * asked for once. */
const char *rc_lookup_cost(const struct rc_lookup_time *time, const char *where, uint32_t nodes, uint32_t ranks,
                           struct rc_arena *arena)
{
    bool is_kept = time->again <= time->first / 2;
    uint64_t all = is_kept ? (uint64_t)nodes * time->first + (uint64_t)(ranks - nodes) * time->again
                           : (uint64_t)ranks * time->again;

    if (time->is_over)
        return rc_format(arena,
                         "a reverse look-up takes more than %u s on %s; torch's store there makes one for each of %u "
                         "ranks, or one in all if no name server answers",
                         (uint32_t)RC_LOOKUP_LIMIT_MS / MILLI, where, ranks);
    if (time->has_failed || all <= (uint64_t)WORTH_SAYING_MS * MILLI)
        return NULL;
    return rc_format(arena, "a reverse look-up takes %s on %s; torch's store there makes one for each of %u %s: %U s",
                     in_milliseconds(is_kept ? time->first : time->again, arena), where, is_kept ? nodes : ranks,
                     is_kept ? "nodes" : "ranks", (all + MICRO / 2) / MICRO);
}
