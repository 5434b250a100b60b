/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_server - the rendezvous server between eight peers that take turns, with a clock of its own.
 *
 * An input is "CHECK SECONDS WATCH\n" and lines, each what one peer does while the server waits: its number 0 to 7,
 * a letter, and a text in which | stands for a newline.
 *   3m TEXT   a whole message with the token       3h TEXT   all of it but the last byte
 *   3b TEXT   these very bytes                      3r        reads what there is
 *   3c        closes                                3s        writes nothing more
 *   3t N      N milliseconds pass                   3e N      the next N accepts fail, out of descriptors
 * A peer is connected by its first deed. The wrapped functions are the linker's (--wrap, see fuzz.am).
 */
#include "fuzz.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "libexec/exchange/exchange.h"
#include "rendezvous/local.h"
#include "rendezvous/wire.h"

/* A peer is a local process. */
#define TOKEN RC_LOCAL_TOKEN

enum { PEERS = 8, ROUNDS_MAX = 20000, QUIET_ROUNDS = 64 };

static struct {
    struct rc_str rest; /* lines that are yet to be done */
    struct sockaddr_un address;
    socklen_t address_size;
    int peer[PEERS]; /* -1: not connected */
    int life;        /* the end that is not the server's */
    int64_t now;     /* milliseconds */
    unsigned accepts_fail;
    unsigned rounds;
    unsigned quiet; /* rounds since the last deed */
} world;

int __real_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout);
int __real_poll(struct pollfd *list, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *list, nfds_t count, int timeout);
int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, time);
    *time = (struct timespec){ .tv_sec = world.now / 1000, .tv_nsec = world.now % 1000 * 1000000 };
    return 0;
}

/* The server waits for srun, which sends its byte back. */
int __wrap_poll(struct pollfd *list, nfds_t count, int timeout)
{
    char byte;

    world.now += timeout > 0 ? timeout : 0;
    if (world.life >= 0 && recv(world.life, &byte, 1, MSG_DONTWAIT) == 1)
        CHECK(send(world.life, &byte, 1, MSG_NOSIGNAL) == 1);
    return __real_poll(list, count, 0);
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    if (world.accepts_fail == 0)
        return __real_accept4(fd, address, size, flags);
    world.accepts_fail--;
    errno = EMFILE;
    return -1;
}

static int connect_peer(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&world.address, world.address_size) == 0)
        return fd;
    close(fd);
    return -1;
}

static void close_peer(int *peer)
{
    if (*peer >= 0)
        close(*peer);
    *peer = -1;
}

static void send_bytes(int peer, const char *bytes, size_t size)
{
    if (peer >= 0 && send(peer, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        CHECK(errno == EPIPE || errno == EAGAIN || errno == ECONNRESET);
}

static void send_message(int peer, struct rc_str text, size_t missing)
{
    size_t size;
    char *message = rc_wire_pack(TOKEN, text, &size);

    CHECK(message != NULL);
    send_bytes(peer, message, size - missing);
    free(message);
}

/* A server says nothing but whole messages of its own. */
static void read_reply(int peer)
{
    static const char head[] = "rollcall 1 " TOKEN " ";
    char bytes[4096];
    ssize_t n = peer >= 0 ? recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_PEEK) : 0;

    if (n >= (ssize_t)sizeof(head))
        CHECK(memcmp(bytes, head, sizeof(head) - 1) == 0);
}

static void do_deed(struct rc_str line)
{
    int *peer = &world.peer[(unsigned char)line.p[0] % PEERS];
    char letter = line.n > 1 ? line.p[1] : 'm';
    struct rc_str text = { line.p + (line.n > 3 ? 3 : line.n), line.n > 3 ? line.n - 3 : 0 };
    char *bytes = fuzz_copy_string(text);
    uint32_t number = 0;

    for (size_t i = 0; i < text.n; i++)
        if (bytes[i] == '|')
            bytes[i] = '\n';
    text.p = bytes;
    (void)rc_parse_u32(text, 1000000, &number);
    if (*peer < 0 && strchr("mhb", letter))
        *peer = connect_peer();
    switch (letter) {
    case 'm':
    case 'h':
        send_message(*peer, text, letter == 'h');
        break;
    case 'b':
        send_bytes(*peer, bytes, text.n);
        break;
    case 'r':
        read_reply(*peer);
        close_peer(peer);
        break;
    case 'c':
        close_peer(peer);
        break;
    case 's':
        if (*peer >= 0)
            shutdown(*peer, SHUT_WR);
        break;
    case 't':
        world.now += number;
        break;
    case 'e':
        world.accepts_fail = number % 16;
        break;
    }
    free(bytes);
}

/* After the last deed the peers wait for their replies, then all is closed. */
static void go_on(int timeout)
{
    if (world.rest.n > 0) {
        do_deed(rc_str_split(world.rest, '\n', &world.rest));
        world.now++;
        return;
    }
    world.now += timeout < 0 ? 1 : timeout;
    if (++world.quiet < QUIET_ROUNDS && timeout >= 0)
        return;
    for (int i = 0; i < PEERS; i++) {
        read_reply(world.peer[i]);
        close_peer(&world.peer[i]);
    }
    if (world.life >= 0)
        close(world.life);
    world.life = -1;
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
    int count = __real_epoll_wait(epoll, events, most, 0);

    CHECK(++world.rounds < ROUNDS_MAX);
    while (count == 0 && world.life >= 0) {
        int64_t before = world.now;

        go_on(timeout);
        count = __real_epoll_wait(epoll, events, most, 0);
        if (timeout >= 0 && world.now - before >= timeout)
            break;
    }
    return count;
}

/* An address that the kernel chooses. */
static int listen_somewhere(void)
{
    struct sockaddr_un none = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    world.address_size = sizeof(world.address);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&none, sizeof(none.sun_family)) == 0 && listen(fd, PEERS) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&world.address, &world.address_size) == 0);
    return fd;
}

static void check_line(enum rc_message_id id, const char *text)
{
    CHECK(id < RC_MESSAGE_COUNT && fuzz_is_printable(rc_str(text)));
}

static void begin_world(struct rc_str rest, int life)
{
    world.rest = rest;
    world.life = life;
    world.now = 1000;
    world.accepts_fail = world.rounds = world.quiet = 0;
    for (int i = 0; i < PEERS; i++)
        world.peer[i] = -1;
}

void fuzz_one(struct rc_str input)
{
    static struct rc_verdict verdict;
    uint32_t number[3] = { 0, 10, 0 };
    int before = fuzz_free_descriptor();
    struct rc_server_settings settings = { .job = 42, .hosts = RC_STR("n[1-3]") };
    struct rc_server *server;
    int listener[RC_LISTENERS_MAX] = { -1, -1 };
    int life[2];

    fuzz_take_numbers(&input, number, 3, 600);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life) == 0);
    begin_world(input, life[1]);
    verdict = (struct rc_verdict){ .silence = NULL };
    settings.check = (enum rc_check)(number[0] % (RC_CHECK_STRICT + 1));
    settings.seconds = number[1];
    listener[0] = listen_somewhere();
    CHECK(rc_server_create(listener, "0123456789abcdef0123456789abcdef", &server) == 0);
    settings.watch_seconds = number[2];
    settings.nodes = number[2] % 2 ? 3 : 0;
    rc_server_watch(server, &settings, number[2], check_line);
    CHECK(rc_server_run(server, life[0], &settings, rc_verdict_decide, &verdict) == 0);
    fuzz_check_messages(&verdict.answer.findings);
    rc_server_destroy(server);
    for (int i = 0; i < PEERS; i++)
        close_peer(&world.peer[i]);
    close(life[0]);
    if (world.life >= 0)
        close(world.life);
    /* none is left open */
    CHECK(fuzz_free_descriptor() == before);
}
