/* SPDX-License-Identifier: BSD-3-Clause */
/* The server where descriptors are short: nobody is lost, and who puts something is always heard. */
#include "config.h"

#include "rendezvous/server.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rendezvous/client.h"
#include "rendezvous/wire.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

enum {
    LONG = 600,     /* seconds that nothing here needs */
    GUARD = 100,    /* seconds after which a test that hangs has failed */
    CLIENTS = 40,   /* ten times as many as */
    FEW = 4,        /* descriptors for connections */
    SETTLE = 300000 /* microseconds in which all have come that are to wait */
};

/* How many times accept4 is to fail, and with what: the server's call, instead of libc's. */
static int failures;
static int failure;

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    if (failures > 0) {
        failures--;
        errno = failure;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, address, size, flags);
}

/* A server in a process of its own. */
struct office {
    pid_t pid;
    uint16_t port;
    int life;
};

/* "answer=1\nport=COUNT\n" */
static struct rc_str decide(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    static char text[64];
    int n = snprintf(text, sizeof(text), "answer=1\nport=%zu\n", count);

    (void)more;
    (void)rolls;
    (void)complete;
    return (struct rc_str){ text, (size_t)n };
}

/* spare: descriptors beside those that are open, and one for its set of events; 0: as many as there are. */
static struct office open_office(rlim_t spare)
{
    struct office office;
    int life[2];
    int listener = rc_listen(0, 0, &office.port);

    assert_true(listener >= 0);
    assert_int_equal(pipe2(life, O_CLOEXEC), 0);
    office.pid = fork();
    assert_true(office.pid >= 0);
    if (office.pid == 0) {
        int next = dup(life[0]);
        const struct rlimit limit = { .rlim_cur = (rlim_t)next + 1 + spare, .rlim_max = (rlim_t)next + 1 + spare };
        struct rc_server *server;

        close(next);
        alarm(GUARD);
        close(life[1]);
        if (spare && setrlimit(RLIMIT_NOFILE, &limit) < 0)
            _exit(2);
        server = rc_server_create(listener, TOKEN);
        if (!server || rc_server_run(server, LONG, life[0], decide, NULL) != 0)
            _exit(3);
        rc_server_destroy(server);
        _exit(0);
    }
    close(listener);
    close(life[0]);
    office.life = life[1];
    return office;
}

static void ends(const struct office *office)
{
    int status;

    close(office->life);
    assert_int_equal(waitpid(office->pid, &status, 0), office->pid);
    assert_int_equal(status, 0);
}

static struct rc_endpoint server_of(const struct office *office)
{
    return (struct rc_endpoint){ .token = RC_STR(TOKEN), .port = office->port, .hosts = RC_STR("127.0.0.1") };
}

/* One of many clients, in a thread. */
struct client {
    const struct office *office;
    unsigned number;
    pthread_t thread;
    char text[64];
    int rc;
};

static struct rc_str write_entry(char text[256], unsigned node, unsigned nodes)
{
    int n = snprintf(text, 256, "roll=1\nscope=slurm:1.0\nhost=n%u\nnode=%u\nnodes=%u\nworld=%u\ntasks=%u\n", node,
                     node, nodes, nodes, node);

    return (struct rc_str){ text, (size_t)n };
}

static void *be_node(void *data)
{
    struct client *client = data;
    const struct rc_endpoint server = server_of(client->office);
    char entry[256];
    struct rc_reply reply;
    bool heard;

    client->rc = rc_client_request(&server, write_entry(entry, client->number, CLIENTS), GUARD * 1000, &reply, &heard);
    if (client->rc == 0) {
        snprintf(client->text, sizeof(client->text), "%s", reply.text);
        free(reply.text);
    }
    return NULL;
}

static void *be_waiter(void *data)
{
    struct client *client = data;
    const struct rc_endpoint server = server_of(client->office);
    size_t size;

    client->rc = rc_store_client_get(&server, "id", GUARD * 1000, client->text, sizeof(client->text) - 1, &size);
    return NULL;
}

static void start_clients(struct client clients[CLIENTS], const struct office *office, void *(*run)(void *))
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){ .office = office, .number = i };
        assert_int_equal(pthread_create(&clients[i].thread, NULL, run, &clients[i]), 0);
    }
}

static void end_clients(struct client clients[CLIENTS], const char *expected)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
        assert_int_equal(clients[i].rc, 0);
        assert_string_equal(clients[i].text, expected);
    }
}

/* The first connections fail while nobody is there whose end could free a descriptor. */
UNIT_TEST(check_deaf, "no descriptor for the first ones, and nobody there")
{
    static const int errors[] = { EMFILE, ENFILE };

    for (unsigned i = 0; i < UNIT_COUNT(errors); i++) {
        struct client clients[CLIENTS];
        struct office office;

        failures = 3;
        failure = errors[i];
        office = open_office(0);
        failures = 0;
        start_clients(clients, &office, be_node);
        end_clients(clients, "answer=1\nport=40\n");
        ends(&office);
    }
}

UNIT_TEST(check_nodes, "ten times as many nodes as descriptors")
{
    struct office office = open_office(FEW);
    struct client clients[CLIENTS];

    start_clients(clients, &office, be_node);
    end_clients(clients, "answer=1\nport=40\n");
    ends(&office);
}

UNIT_TEST(check_waiters, "ten times as many waiters as descriptors, and one who puts")
{
    struct office office = open_office(FEW);
    const struct rc_endpoint server = server_of(&office);
    struct client clients[CLIENTS];

    start_clients(clients, &office, be_waiter);
    usleep(SETTLE);
    assert_int_equal(rc_store_client_put(&server, "id", RC_STR("128 bytes"), GUARD * 1000, NULL, 0, NULL), 1);
    end_clients(clients, "128 bytes");
    ends(&office);
}

static int go(const struct office *office)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(office->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* Those who have come but just now, and whose message is on its way, are not closed for others. */
UNIT_TEST(check_young, "young connections at the limit")
{
    struct office office = open_office(FEW);
    int fd[2 * FEW];

    for (unsigned i = 0; i < 2 * FEW; i++)
        fd[i] = go(&office);
    usleep(SETTLE);
    for (unsigned i = 0; i < FEW; i++) {
        char entry[256];
        size_t size;
        char *message = rc_wire_pack(TOKEN, write_entry(entry, i, FEW), &size);

        assert_int_equal(send(fd[i], message, size, MSG_NOSIGNAL), size);
        free(message);
    }
    for (unsigned i = 0; i < FEW; i++) {
        char text[64];

        /* the answer; or to come again, for those behind it */
        assert_true(recv(fd[i], text, sizeof(text), 0) > 0);
    }
    for (unsigned i = 0; i < 2 * FEW; i++)
        close(fd[i]);
    ends(&office);
}
