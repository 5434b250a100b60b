/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/proctcp.h"

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
