/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/port.h"

#include "base/text.h"
#include "system/node.h"
#include "system/sys.h"

/*   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *    0: 0100007F:5051 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 ...
 */
enum { COLUMN_LOCAL = 1, COLUMN_STATE = 3, COLUMN_USER = 7, COLUMN_INODE = 9, COLUMNS, LINES_SIZE = 4096 };

struct search {
    uint16_t port;
    int worth;
    struct rc_tcp_row *row;
};

static int worth_of_row(const struct rc_tcp_row *row)
{
    return row->state == RC_TCP_LISTEN ? 3 : row->inode ? 2 : 1;
}

static bool take_row(struct rc_str line, void *more)
{
    struct search *search = more;
    struct rc_str column[COLUMNS] = { RC_ABSENT };
    struct rc_tcp_row row;
    struct rc_str port;

    for (unsigned i = 0; i < COLUMNS && line.p; i += column[i].n > 0)
        column[i] = rc_str_split(line, ' ', &line);
    rc_str_split(column[COLUMN_LOCAL], ':', &port);
    if (!port.p || rc_hexadecimal(port) != search->port || !rc_parse_u32(column[COLUMN_USER], UINT32_MAX, &row.user) ||
        !rc_parse_u64(column[COLUMN_INODE], UINT64_MAX, &row.inode))
        return false;
    row.state = (uint32_t)rc_hexadecimal(column[COLUMN_STATE]);
    if (worth_of_row(&row) > search->worth) {
        search->worth = worth_of_row(&row);
        *search->row = row;
    }
    return false;
}

bool rc_proctcp_find(uint16_t port, struct rc_tcp_row *row)
{
    struct search search = { .port = port, .row = row };
    char buffer[LINES_SIZE];

    rc_file_lines("/proc/net/tcp", buffer, sizeof(buffer), take_row, &search);
    rc_file_lines("/proc/net/tcp6", buffer, sizeof(buffer), take_row, &search);
    return search.worth > 0;
}

socklen_t rc_socket_name(union rc_socket_name *name, const struct rc_netaddr *address, uint16_t port)
{
    bool is_four = address->size == RC_IPV4_BYTES;
    unsigned char *number = (unsigned char *)&name->four.sin_port;

    _Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
                   "as Linux has it");
    *name = (union rc_socket_name){ .six = { .sin6_family = is_four ? AF_INET : AF_INET6 } };
    number[0] = (unsigned char)(port >> 8);
    number[1] = (unsigned char)(port & 0xff);
    __builtin_memcpy(is_four ? (void *)&name->four.sin_addr : (void *)&name->six.sin6_addr, address->byte,
                     address->size);
    return is_four ? sizeof(name->four) : sizeof(name->six);
}

static int open_bound(const struct rc_netaddr *address, uint16_t port, int type, enum rc_port_binding binding)
{
    union rc_socket_name name;
    socklen_t size = rc_socket_name(&name, address, port);
    long fd = rc_sys_socket(name.any.sa_family, type);
    int yes = 1;
    int no = 0;
    long rc = 0;

    if (fd < 0)
        return (int)fd;
    /* one socket for both families, regardless of net.ipv6.bindv6only */
    if (name.any.sa_family == AF_INET6)
        rc_sys_setsockopt((int)fd, IPPROTO_IPV6, IPV6_V6ONLY, &no);
    if (binding == RC_PORT_SHARED)
        rc = rc_sys_setsockopt((int)fd, SOL_SOCKET, SO_REUSEADDR, &yes);
    if (rc == 0)
        rc = rc_sys_bind((int)fd, &name, size);
    if (rc == 0 && binding == RC_PORT_EXCLUSIVE)
        rc = rc_sys_setsockopt((int)fd, SOL_SOCKET, SO_REUSEADDR, &yes);
    if (rc == 0)
        return (int)fd;
    rc_sys_close((int)fd);
    return (int)rc;
}

bool rc_netaddr_is_elsewhere(const struct rc_netaddr *address)
{
    int fd = open_bound(address, 0, SOCK_STREAM | SOCK_CLOEXEC, RC_PORT_EXCLUSIVE);

    rc_port_release(fd);
    return fd == -EADDRNOTAVAIL;
}

static int bound_somehow(uint16_t port, int type, enum rc_port_binding binding)
{
    static const struct rc_netaddr any_six = { .size = RC_IPV6_BYTES };
    static const struct rc_netaddr any_four = { .size = RC_IPV4_BYTES };
    int fd = open_bound(&any_six, port, type, binding);

    if (fd >= 0 || fd == -EADDRINUSE || fd == -EACCES)
        return fd;
    /* IPv6 is disabled on many clusters */
    return open_bound(&any_four, port, type, binding);
}

int rc_port_bind(uint16_t port, int type, enum rc_port_binding binding)
{
    struct rc_tcp_row row;
    int fd = bound_somehow(port, type, binding);

    /* Listeners and connections refuse a shared bind, a holder does not, but then the kernel lists no socket. (A holder
     * beside TIME_WAIT is missed until the second listener fails.) */
    if (binding == RC_PORT_SHARED && fd >= 0 && !rc_proctcp_find(port, &row)) {
        rc_sys_close(fd);
        return -EADDRINUSE;
    }
    return fd;
}

/* bash uses descriptors 10 and 255, daemons the lowest; a limit of 256 is common */
static int move_up(int fd)
{
    static const int lowest[] = { 200, 64, 3 };
    long moved = -EMFILE;

    for (unsigned i = 0; moved < 0 && i < sizeof(lowest) / sizeof(*lowest); i++)
        moved = rc_sys_dup_from(fd, lowest[i]);
    rc_sys_close(fd);
    return (int)moved;
}

int rc_port_hold(uint16_t port)
{
    int fd = rc_port_bind(port, SOCK_STREAM, RC_PORT_EXCLUSIVE);

    /* TIME_WAIT of an earlier step does not stop torch from listening */
    if (fd == -EADDRINUSE)
        fd = rc_port_bind(port, SOCK_STREAM, RC_PORT_SHARED);
    return fd < 0 ? fd : move_up(fd);
}

uint16_t rc_port_number(int fd)
{
    union rc_socket_name name = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t size = sizeof(name);
    const unsigned char *bytes = (const unsigned char *)&name.four.sin_port;

    if (fd < 0 || rc_sys_getsockname(fd, &name, &size) < 0 ||
        (name.any.sa_family != AF_INET && name.any.sa_family != AF_INET6))
        return 0;
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

void rc_port_release(int fd)
{
    if (fd >= 0)
        rc_sys_close(fd);
}
