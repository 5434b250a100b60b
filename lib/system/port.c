/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/port.h"

#include "system/sys.h"

/*   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *    0: 0100007F:5051 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 ...
 */
enum { COLUMN_LOCAL = 1, COLUMN_STATE = 3, COLUMN_USER = 7, COLUMN_INODE = 9 };

struct reader {
    unsigned column;
    bool in_word;
    uint64_t hex; /* the digits since the last colon */
    uint64_t decimal;
    uint64_t port;
    struct rc_tcp_row row;
};

static void end_word(struct reader *r)
{
    switch (r->column) {
    case COLUMN_LOCAL:
        r->port = r->hex;
        break;
    case COLUMN_STATE:
        r->row.state = (uint32_t)r->hex;
        break;
    case COLUMN_USER:
        r->row.user = (uint32_t)r->decimal;
        break;
    case COLUMN_INODE:
        r->row.inode = r->decimal;
        break;
    default:
        break;
    }
    r->column++;
    r->in_word = false;
}

/* True at the end of a line that has all the columns. */
static bool take_character(struct reader *r, char c)
{
    bool complete;

    if (c == ' ' || c == '\n') {
        if (r->in_word)
            end_word(r);
        if (c == ' ')
            return false;
        complete = r->column > COLUMN_INODE;
        r->column = 0;
        return complete;
    }
    if (!r->in_word || c == ':') {
        r->in_word = true;
        r->hex = r->decimal = 0;
    }
    if (c >= '0' && c <= '9') {
        r->hex = r->hex << 4 | (uint64_t)(c - '0');
        r->decimal = r->decimal * 10 + (uint64_t)(c - '0');
    } else if (c >= 'A' && c <= 'F') {
        r->hex = r->hex << 4 | (uint64_t)(c - 'A' + 10);
    }
    return false;
}

static int worth_of_row(const struct rc_tcp_row *row)
{
    return row->state == RC_TCP_LISTEN ? 3 : row->inode ? 2 : 1;
}

static int scan_list(const char *path, uint16_t port, int best, struct rc_tcp_row *out)
{
    struct reader r = { .column = 0 };
    char buffer[4096];
    long fd = rc_sys_open(path, O_RDONLY | O_CLOEXEC);
    long n;

    if (fd < 0)
        return best;
    while ((n = rc_sys_read((int)fd, buffer, sizeof(buffer))) > 0) {
        for (long i = 0; i < n; i++) {
            if (take_character(&r, buffer[i]) && r.port == port && worth_of_row(&r.row) > best) {
                best = worth_of_row(&r.row);
                *out = r.row;
            }
        }
    }
    rc_sys_close((int)fd);
    return best;
}

bool rc_proctcp_find(uint16_t port, struct rc_tcp_row *row)
{
    int best = scan_list("/proc/net/tcp", port, 0, row);

    return scan_list("/proc/net/tcp6", port, best, row) > 0;
}

static void put_port(void *field, uint16_t port)
{
    unsigned char *bytes = field;

    bytes[0] = (unsigned char)(port >> 8);
    bytes[1] = (unsigned char)(port & 0xff);
}

static long bind_any(int fd, int family, uint16_t port)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    struct sockaddr_in four = { .sin_family = AF_INET };
    int no = 0;

    put_port(&six.sin6_port, port);
    put_port(&four.sin_port, port);
    if (family == AF_INET)
        return rc_sys_bind(fd, &four, sizeof(four));
    /* one socket for both families, whatever net.ipv6.bindv6only says */
    rc_sys_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no);
    return rc_sys_bind(fd, &six, sizeof(six));
}

static int open_bound(int family, uint16_t port, int type, enum rc_port_binding binding)
{
    int yes = 1;
    long fd = rc_sys_socket(family, type);
    long rc = 0;

    if (fd < 0)
        return (int)fd;
    if (binding == RC_PORT_SHARED)
        rc = rc_sys_setsockopt((int)fd, SOL_SOCKET, SO_REUSEADDR, &yes);
    if (rc == 0)
        rc = bind_any((int)fd, family, port);
    if (rc == 0 && binding == RC_PORT_EXCLUSIVE)
        rc = rc_sys_setsockopt((int)fd, SOL_SOCKET, SO_REUSEADDR, &yes);
    if (rc == 0)
        return (int)fd;
    rc_sys_close((int)fd);
    return (int)rc;
}

static int bound_somehow(uint16_t port, int type, enum rc_port_binding binding)
{
    int fd = open_bound(AF_INET6, port, type, binding);

    if (fd >= 0 || fd == -EADDRINUSE || fd == -EACCES)
        return fd;
    /* IPv6 is off on many clusters: the family is missing, or has no address */
    return open_bound(AF_INET, port, type, binding);
}

int rc_port_bind(uint16_t port, int type, enum rc_port_binding binding)
{
    struct rc_tcp_row row;
    int fd = bound_somehow(port, type, binding);

    /* A shared bind is refused by listeners and by connections of others, but not by a
     * holder; that one is known because then the kernel lists no socket at all. (A
     * holder and TIME_WAIT together are not seen: the second listener is.) */
    if (binding == RC_PORT_SHARED && fd >= 0 && !rc_proctcp_find(port, &row)) {
        rc_sys_close(fd);
        return -EADDRINUSE;
    }
    return fd;
}

/* bash uses descriptors 10 and 255, daemons the lowest ones; a limit of 256 is common */
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

    /* an earlier step may have left it in TIME_WAIT, and torch could listen all the same */
    if (fd == -EADDRINUSE)
        fd = rc_port_bind(port, SOCK_STREAM, RC_PORT_SHARED);
    return fd < 0 ? fd : move_up(fd);
}

uint16_t rc_port_number(int fd)
{
    union {
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } name = { .four = { .sin_family = AF_UNSPEC } };
    socklen_t size = sizeof(name);
    const unsigned char *bytes = (const unsigned char *)&name.four.sin_port;

    /* the port is at the same offset in both address structures */
    _Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
                   "as Linux has it");
    if (fd < 0 || rc_sys_getsockname(fd, &name, &size) < 0 ||
        (name.four.sin_family != AF_INET && name.four.sin_family != AF_INET6))
        return 0;
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

void rc_port_release(int fd)
{
    if (fd >= 0)
        rc_sys_close(fd);
}
