/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/net.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "system/node.h"
#include "system/port.h"

enum { DISCARD_PORT = 9 };

static bool netaddr_from_socket(const struct sockaddr *from, struct rc_netaddr *to)
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

/* Return false if other nodes cannot use the entry's address. */
static bool keep_address(const struct ifaddrs *entry, bool all, struct rc_interface *interface)
{
    struct rc_netaddr mask;

    if (!netaddr_from_socket(entry->ifa_addr, &interface->address) ||
        (!all && rc_netaddr_is_link_local(&interface->address)) || !netaddr_from_socket(entry->ifa_netmask, &mask))
        return false;
    /* an address's label: "ib0:1" belongs to ib0 */
    snprintf(interface->name, RC_INTERFACE_SIZE, "%.*s", (int)strcspn(entry->ifa_name, all ? "" : ":"),
             entry->ifa_name);
    interface->is_up = (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & IFF_RUNNING);
    interface->network = rc_network_around(&interface->address, count_bits(&mask));
    return true;
}

static unsigned list_addresses(struct rc_interface list[RC_INTERFACES_MAX], bool with_all)
{
    struct ifaddrs *all = NULL;
    unsigned count = 0;

    memset(list, 0, RC_INTERFACES_MAX * sizeof(*list));
    if (getifaddrs(&all) < 0)
        return 0;
    for (const struct ifaddrs *entry = all; entry && count < RC_INTERFACES_MAX; entry = entry->ifa_next)
        count += keep_address(entry, with_all, &list[count]);
    freeifaddrs(all);
    return count;
}

unsigned rc_interfaces(struct rc_interface list[RC_INTERFACES_MAX])
{
    return list_addresses(list, false);
}

unsigned rc_interfaces_all(struct rc_interface list[RC_INTERFACES_MAX])
{
    return list_addresses(list, true);
}

bool rc_source_towards(const struct rc_netaddr *address, struct rc_netaddr *source)
{
    union rc_socket_name name;
    socklen_t size = rc_socket_name(&name, address, DISCARD_PORT);
    int fd = socket(name.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found;

    if (fd < 0)
        return false;
    found = connect(fd, &name.any, size) == 0;
    size = sizeof(name);
    found = found && getsockname(fd, &name.any, &size) == 0 && netaddr_from_socket(&name.any, source);
    close(fd);
    return found;
}

bool rc_interface_towards(const struct rc_netaddr *address, char name[RC_INTERFACE_SIZE])
{
    struct rc_interface list[RC_INTERFACES_MAX];
    struct rc_netaddr source;
    unsigned count;

    if (rc_netaddr_is_loopback(address) || !rc_source_towards(address, &source))
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

        if (netaddr_from_socket(a->ai_addr, &address))
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

/* The kernel retransmits a lost packet only after 1 s. */
enum { KNOCK_MS = 250 };

/* Linux answers with a reset without a listener, so an ICMP refusal is a firewall's. The socket keeps that message
 * since Linux 5.8 (45af29ca761c); before, it is not detected. */
static bool is_rejected(int fd)
{
    struct msghdr message = { .msg_iov = NULL };

    return recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0;
}

/* A listener could take the test for one of its ranks. So drop every answer except a reset: the handshake never
 * finishes. A dropped packet (SO_MEMINFO, since Linux 4.12) proves a listener. Return false if the kernel lacks
 * this. */
static bool drop_answers(int fd)
{
    enum { FLAGS_AT = 13, RESET = 4 };
    struct sock_filter line[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, RESET, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog program = { .len = sizeof(line) / sizeof(*line), .filter = line };
    uint32_t memory[SK_MEMINFO_VARS];
    socklen_t size = sizeof(memory);

    return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &size) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

static bool has_dropped(int fd)
{
    uint32_t memory[SK_MEMINFO_VARS] = { 0 };
    socklen_t size = sizeof(memory);

    return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &size) == 0 && memory[SK_MEMINFO_DROPS] > 0;
}

static int await_answer(int fd)
{
    enum { LOOK_MS = 5 };
    struct pollfd answer = { .fd = fd, .events = POLLOUT };
    int64_t deadline = rc_milliseconds() + KNOCK_MS;
    int error = 0;
    socklen_t size = sizeof(error);

    while (poll(&answer, 1, LOOK_MS) == 0) {
        if (has_dropped(fd))
            return 0;
        if (rc_milliseconds() >= deadline)
            return ETIMEDOUT;
    }
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}

static int knock(const struct rc_netaddr *address, uint16_t port)
{
    union rc_socket_name name;
    socklen_t size = rc_socket_name(&name, address, port);
    bool is_four = name.any.sa_family == AF_INET;
    int fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    int yes = 1;

    if (fd < 0)
        return errno;
    setsockopt(fd, is_four ? IPPROTO_IP : IPPROTO_IPV6, is_four ? IP_RECVERR : IPV6_RECVERR, &yes, sizeof(yes));
    if (!drop_answers(fd)) {
        close(fd);
        return 0;
    }
    if (connect(fd, &name.any, size) < 0)
        error = errno;
    if (error == EINPROGRESS)
        error = await_answer(fd);
    if (error == ECONNREFUSED && !is_rejected(fd))
        error = 0;
    close(fd);
    return error;
}

/* Other errors are local: no socket, or no IPv6. */
static bool is_of_network(int error)
{
    return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH || error == ECONNREFUSED ||
           /* last three: local routes (prohibit, blackhole) and firewall rules */
           error == EACCES || error == EPERM || error == EINVAL;
}

int rc_port_reach(const struct rc_addresses *addresses, uint16_t port, uint32_t milliseconds)
{
    int64_t deadline = rc_milliseconds() + milliseconds;
    int first = 0;
    bool is_silent = true;

    while (is_silent && (!first || rc_milliseconds() < deadline)) {
        is_silent = false;
        for (unsigned i = 0; i < addresses->count && (!first || rc_milliseconds() < deadline); i++) {
            int error = knock(&addresses->list[i], port);

            if (error == 0)
                return 0;
            is_silent |= error == ETIMEDOUT;
            if (!first && is_of_network(error))
                first = error;
        }
    }
    return first;
}

const char *rc_port_reach_words(int error)
{
    return error == ECONNREFUSED ? "a firewall rejects it" : strerror(error);
}

/* ~50 ms on a node with 1000 processes of 100 files each. */
enum { FILES_MAX = 1 << 20, NAME_SIZE = 17 };

static bool has_socket(uint32_t pid, uint64_t inode, unsigned *budget)
{
    char path[64];
    char wanted[64];
    DIR *files;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    snprintf(wanted, sizeof(wanted), "socket:[%llu]", (unsigned long long)inode);
    files = opendir(path);
    for (const struct dirent *entry; files && !found && *budget > 0 && (entry = readdir(files)); --*budget) {
        char link[64];
        ssize_t n = readlinkat(dirfd(files), entry->d_name, link, sizeof(link));

        found = n > 0 && rc_str_is((struct rc_str){ link, (size_t)n }, wanted);
    }
    if (files)
        closedir(files);
    return found;
}

/* A process chooses its name: replace unprintable characters. */
static const char *read_name(uint32_t pid, char name[NAME_SIZE])
{
    char path[64];
    size_t n;

    snprintf(path, sizeof(path), "/proc/%u/comm", pid);
    n = rc_file_read(path, name, NAME_SIZE - 1);
    name[n > 0 && name[n - 1] == '\n' ? n - 1 : n] = '\0';
    for (char *p = name; *p; p++)
        if (!rc_is_printable(*p))
            *p = '?';
    return name;
}

/* Return a process with this socket, or 0 if none is visible. */
static uint32_t find_process(uint64_t inode)
{
    DIR *processes = opendir("/proc");
    unsigned budget = FILES_MAX;
    bool found = false;
    uint32_t pid = 0;

    for (const struct dirent *entry; processes && !found && budget > 0 && (entry = readdir(processes));)
        found = rc_parse_u32(rc_str(entry->d_name), INT32_MAX, &pid) && has_socket(pid, inode, &budget);
    if (processes)
        closedir(processes);
    return found ? pid : 0;
}

void rc_port_owner(uint16_t port, char *text, size_t size)
{
    struct rc_tcp_row row;
    char name[NAME_SIZE];
    uint32_t pid;

    if (!rc_proctcp_find(port, &row))
        snprintf(text, size, "a program that holds it without listening yet");
    else if (row.inode == 0)
        snprintf(text, size, "a connection of a program that is already gone");
    else if ((pid = find_process(row.inode)) != 0)
        snprintf(text, size, "pid %u (%s) of user %u", pid, read_name(pid, name), row.user);
    else
        snprintf(text, size, "a program of user %u", row.user);
}
