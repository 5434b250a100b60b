/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/lookuptime.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "system/clock.h"
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

/* The child: a number for each step that is done. */
static void tell_times(const char *host, int fd)
{
    struct rc_addresses found = { .count = 0 };
    const struct rc_netaddr *address = &found.list[0];
    uint32_t number[3] = { 0 };

    if (rc_resolver_ask(host, &found) != 0)
        return;
    for (unsigned i = 0; i < found.count && !is_ipv4(address); i++)
        address = is_ipv4(&found.list[i]) ? &found.list[i] : address;
    if (write(fd, &number[0], sizeof(*number)) < 0)
        return;
    number[0] = look_up(address, &number[1]) != 0;
    if (write(fd, number, 2 * sizeof(*number)) < 0 || number[0])
        return;
    look_up(address, &number[2]);
    (void)!write(fd, &number[2], sizeof(*number));
}

static bool read_numbers(int fd, uint32_t *number, size_t count)
{
    struct pollfd in = { .fd = fd, .events = POLLIN };
    int64_t deadline = rc_milliseconds() + RC_LOOKUP_LIMIT_MS;
    int64_t left;

    while ((left = deadline - rc_milliseconds()) > 0) {
        if (poll(&in, 1, (int)left) > 0)
            return read(fd, number, count * sizeof(*number)) == (ssize_t)(count * sizeof(*number));
    }
    return false;
}

static int read_times(int fd, struct rc_lookup_time *time)
{
    uint32_t number[3];

    if (!read_numbers(fd, number, 1))
        return -ENOENT;
    *time = (struct rc_lookup_time){ .is_over = !read_numbers(fd, number, 2) };
    if (time->is_over)
        return 0;
    time->has_failed = number[0];
    time->first = time->again = number[1];
    if (!time->has_failed && read_numbers(fd, &number[2], 1))
        time->again = number[2];
    return 0;
}

int rc_lookup_time(const char *host, struct rc_lookup_time *time)
{
    int ends[2];
    pid_t child;
    int rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    child = fork();
    if (child == 0) {
        tell_times(host, ends[1]);
        _exit(0);
    }
    rc = child < 0 ? -errno : 0;
    close(ends[1]);
    if (child > 0) {
        rc = read_times(ends[0], time);
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return rc;
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
