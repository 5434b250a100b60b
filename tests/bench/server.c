/* SPDX-License-Identifier: BSD-3-Clause */
/* server KIND NODES - srun's server, and a node of 8 tasks and 8 GPUs each that asks it, all at once: real messages on
 * loopback, a process for the server, one for all nodes. Prints the server's own microseconds of processor a node: the
 * nodes share the machine with it, so that the wall says little.
 *
 *   roll       the roll is called and checked
 *   alike      and each node says what it has, all the same
 *   different  and no two have the same
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libexec/exchange/exchange.h"
#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "rendezvous/wire.h"

enum { SECONDS = 120, EVENTS = 256, AT_ONCE = 256, RETRY_MS = 1000, TASKS = 8, TEXT_SIZE = 8192, PORT = 24512 };

enum kind { ROLL, ALIKE, DIFFERENT, KINDS };

static const char *const names[KINDS] = { "roll", "alike", "different" };

static const char *const items[RC_ITEMS] = {
    [RC_ITEM_gpus] = "8 NVIDIA H100 80GB HBM3",
    [RC_ITEM_gpu_links] = "8 at x16",
    [RC_ITEM_gpu_driver] = "550.54.15 (open)",
    [RC_ITEM_imex] = "there",
    [RC_ITEM_nics] = "8 mlx5_core MT4129",
    [RC_ITEM_nic_ports] = "8 ACTIVE InfiniBand 400 Gb/sec (4X NDR)",
    [RC_ITEM_nic_links] = "8 at x16 32.0 GT/s PCIe",
    [RC_ITEM_kernel] = "6.8.0-45-generic",
    [RC_ITEM_memlock] = "unlimited",
    [RC_ITEM_nofile] = "1048576",
    [RC_ITEM_stack] = "unlimited",
    [RC_ITEM_shm] = "1007 GiB",
    [RC_ITEM_memory] = "2015 GiB",
    [RC_ITEM_cores] = "128 of 128",
};

struct client {
    uint32_t number;
    int fd; /* -1: between two connections */
    bool sent;
    char *message; /* NULL: it has its answer */
    size_t size;
    struct rc_wire wire;
    double next; /* when it connects; until when it tries to, while it does */
};

static struct {
    char token[RC_WIRE_TOKEN + 1];
    uint16_t port;
    pid_t pid;
    int life; /* it ends when this is closed */
} server;
static enum kind kind;
static uint32_t count;

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Of a roll without fault, all of it. */
static struct rc_str decide_answer(void *more, const struct rc_roll_call *call)
{
    struct rc_verdict *verdict = more;
    struct rc_str text = rc_verdict_decide(verdict, call);

    return rc_gather_is_whole(call->gather) && (verdict->answer.findings.count > 0) == (kind == DIFFERENT) ? text
                                                                                                           : RC_STR("");
}

static bool open_server(void)
{
    static const struct rc_server_settings settings = { .check = RC_CHECK_STOP, .seconds = SECONDS };
    static struct rc_verdict verdict;
    const int listener[RC_LISTENERS_MAX] = { rc_listen(0, 0, 0, &server.port), -1 };
    int ends[2];

    if (listener[0] < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
        rc_wire_new_token(server.token) < 0)
        return false;
    server.pid = fork();
    if (server.pid == 0) {
        struct rc_server *own;

        close(ends[1]);
        _exit(rc_server_create(listener, server.token, &own) < 0 ||
              rc_server_run(own, ends[0], &settings, decide_answer, &verdict) < 0);
    }
    close(listener[0]);
    close(ends[0]);
    server.life = ends[1];
    return server.pid > 0;
}

/* What it took of the processor; below 0 where it failed. */
static double close_server(void)
{
    struct rusage used;
    int status;

    close(server.life);
    if (wait4(server.pid, &status, 0, &used) != server.pid || status != 0)
        return -1;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Each task has a GPU, with a UUID of its own. */
static const char *write_entry(uint32_t number, struct rc_arena *arena)
{
    char words[4096];
    struct rc_arena own = { .base = words, .size = sizeof(words) };
    uint32_t first = number * TASKS;
    struct rc_roll roll = {
        .version = rc_str("0.1.0"),
        .scope = rc_str("slurm:4711.0"),
        .launcher = rc_str("slurm"),
        .mode = rc_str("worker"),
        .addr = rc_str("node100000"),
        .host = rc_str(rc_format(&own, "node%u", 100000 + number)),
        .boot = rc_str(rc_format(&own, "%u-4ac5-4f5e-9c3e-1b0c9f6d2a11", number * 2654435761u)),
        .hosts = rc_str(rc_format(&own, "node[100000-%u]", 100000 + count - 1)),
        .node = number,
        .nodes = count,
        .world = count * TASKS,
        .tasks = rc_str(rc_format(&own, "%u-%u", first, first + TASKS - 1)),
        .port = number == 0 ? PORT : 0,
        .visible = rc_str("CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7"),
        .gpu_count = TASKS,
    };

    for (uint32_t i = 0; i < TASKS; i++) {
        roll.gpu[i].rank = first + i;
        roll.gpu[i].id = rc_str(rc_format(&own, "GPU-%u-9c3e-4f5e-8d2b-1b0c9f6d2a11", 1000000000 + first + i));
    }
    for (size_t i = 0; kind != ROLL && i < RC_ITEMS; i++)
        if (items[i])
            roll.item[i] = rc_str(rc_format(&own, "%s, unit %u", items[i], kind == DIFFERENT ? number : 100000));
    return own.full ? "" : rc_roll_write(&roll, arena);
}

static void prepare_message(struct client *client)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_gather_request request = { .name = RC_STR(RC_GATHER_ROLL),
                                               .member = client->number,
                                               .of = count,
                                               .each = SECONDS * 1000,
                                               .most = SECONDS * 1000 };

    rc_gather_request_write(&request, &arena);
    rc_join(&arena);
    write_entry(client->number, &arena);
    client->message = rc_wire_pack(server.token, rc_str(text), &client->size);
}

static void hang_up(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    client->sent = false;
    rc_wire_free(&client->wire);
}

/* Eight clients have an address, as there are fewer ports than connections. */
static bool connect_client(struct client *client, int epoll)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(server.port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK + client->number / 8) };
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = client };

    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    client->next = wall() + RETRY_MS * 1e3;
    return client->fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event) == 0 &&
           (connect(client->fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
}

/* After an event of its connection. False: something went wrong. */
static bool advance_client(struct client *client, int epoll)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };
    enum rc_wire_state state;

    if (!client->sent) {
        /* a message is less than a socket's buffer; where it cannot be sent the listener's queue is full: once more */
        client->sent = send(client->fd, client->message, client->size, MSG_NOSIGNAL) == (ssize_t)client->size;
        if (client->sent)
            return epoll_ctl(epoll, EPOLL_CTL_MOD, client->fd, &event) == 0;
        hang_up(client);
        return true;
    }
    state = rc_wire_read(&client->wire, client->fd, server.token);
    if (state != RC_WIRE_WHOLE)
        return state == RC_WIRE_MORE;
    if (!strstr(client->wire.body, "port=24512"))
        return false;
    hang_up(client);
    free(client->message);
    client->message = NULL;
    return true;
}

/* Connects some of those whose time has come, so that they speak soon after. */
static bool connect_due(struct client *client, int epoll, uint32_t *done)
{
    double now = wall();
    uint32_t connected = 0;

    *done = 0;
    for (uint32_t i = 0; i < count; i++) {
        *done += !client[i].message;
        if (client[i].fd >= 0 && !client[i].sent && client[i].next <= now)
            hang_up(&client[i]); /* its connection was not taken: once more, as connect_to */
        if (connected < AT_ONCE && client[i].fd < 0 && client[i].message && client[i].next <= now) {
            connected++;
            if (!connect_client(&client[i], epoll))
                return false;
        }
    }
    return true;
}

static bool serve_all(struct client *client)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    double end = wall() + SECONDS * 1e6;
    uint32_t done = 0;

    while (done < count) {
        struct epoll_event events[EVENTS];
        int seen;

        if (wall() > end || !connect_due(client, epoll, &done))
            return false;
        for (int rounds = 0; rounds < 64 && (seen = epoll_wait(epoll, events, EVENTS, rounds ? 0 : 5)) > 0; rounds++)
            for (int i = 0; i < seen; i++)
                if (!advance_client(events[i].data.ptr, epoll))
                    return false;
    }
    close(epoll);
    return true;
}

int main(int argc, char **argv)
{
    struct client *client;
    struct rlimit limit;
    double start, processor;

    while (argc == 3 && kind < KINDS && strcmp(argv[1], names[kind]) != 0)
        kind++;
    count = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;
    client = calloc(count, sizeof(*client));
    if (kind == KINDS || count == 0 || !client || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 2;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (!open_server())
        return 1;
    for (uint32_t i = 0; i < count; i++) {
        client[i] = (struct client){ .number = i, .fd = -1, .wire.limit = RC_WIRE_BODY_MAX };
        prepare_message(&client[i]);
    }
    start = wall();
    if (!serve_all(client) || (processor = close_server()) < 0)
        return 1;
    printf("%.1f (all after %.1f s)\n", processor / count, (wall() - start) / 1e6);
    return 0;
}
