/* SPDX-License-Identifier: BSD-3-Clause */
/* The server where descriptors are short: nobody is lost, and who puts something is always heard. */
#include "config.h"

#include "serverchild.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "rendezvous/client.h"

enum {
    CLIENTS = 40,    /* ten times as many as */
    FEW = 4,         /* descriptors for connections */
    SETTLE = 300000, /* microseconds in which all have come that are to wait */
    LOOK = 100000,   /* microseconds for a server to ask too often in; from 500 ms on it closes those who say nothing */
    ASKS = 1000      /* for a connection: far more than it takes, and far less than without a pause */
};

/* How many times accept4 is to fail, and with what: the server's call, instead of libc's. */
static int failures;
static int failure;

/* How often it was called, by the server's process too; NULL: that does not matter. */
static volatile unsigned *asked;

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    if (asked)
        ++*asked;
    if (failures > 0) {
        failures--;
        errno = failure;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, address, size, flags);
}

/* One of many clients, in a thread. */
struct client {
    const struct server_child *server;
    unsigned number;
    pthread_t thread;
    char text[64];
    int rc;
};

static void *be_node(void *data)
{
    struct client *client = data;
    char entry[256];
    struct rc_reply reply;

    client->rc = rc_client_request(&client->server->endpoint, server_entry(entry, client->number, CLIENTS),
                                   SERVER_GUARD * 1000, &reply, NULL);
    if (client->rc == 0) {
        snprintf(client->text, sizeof(client->text), "%s", reply.text);
        free(reply.text);
    }
    return NULL;
}

static void *be_waiter(void *data)
{
    struct client *client = data;
    size_t size;

    client->rc = rc_store_client_get(&client->server->endpoint, "id", SERVER_GUARD * 1000, client->text,
                                     sizeof(client->text) - 1, &size);
    return NULL;
}

static void start_clients(struct client clients[CLIENTS], const struct server_child *server, void *(*run)(void *))
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){ .server = server, .number = i };
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
        struct server_child server;

        failures = 3;
        failure = errors[i];
        server = server_open((struct server_start){ .seconds = 0 });
        failures = 0;
        start_clients(clients, &server, be_node);
        end_clients(clients, "answer=1\nport=40\n");
        server_decides(&server, "40 1\n");
        server_close(&server);
    }
}

UNIT_TEST(check_nodes, "ten times as many nodes as descriptors")
{
    struct server_child server = server_open((struct server_start){ .descriptors = FEW });
    struct client clients[CLIENTS];

    start_clients(clients, &server, be_node);
    end_clients(clients, "answer=1\nport=40\n");
    server_decides(&server, "40 1\n");
    server_close(&server);
}

UNIT_TEST(check_waiters, "ten times as many waiters as descriptors, and one who puts")
{
    struct server_child server = server_open((struct server_start){ .descriptors = FEW });
    struct client clients[CLIENTS];

    start_clients(clients, &server, be_waiter);
    usleep(SETTLE);
    assert_int_equal(
        rc_store_client_put(&server.endpoint, "id", RC_STR("128 bytes"), SERVER_GUARD * 1000, NULL, 0, NULL), 1);
    end_clients(clients, "128 bytes");
    server_close(&server);
}

/* Those who have come but just now, and whose message is on its way, are not closed for others. Until then the server
 * does not ask for the others all the time. */
UNIT_TEST(check_young, "young connections at the limit")
{
    volatile unsigned *count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct server_child server;
    int fd[2 * FEW];

    assert_true(count != MAP_FAILED);
    asked = count;
    server = server_open((struct server_start){ .descriptors = FEW });
    asked = NULL;
    for (unsigned i = 0; i < 2 * FEW; i++)
        fd[i] = server_connect(&server, 0, 0);
    usleep(LOOK);
    for (unsigned i = 0; i < FEW; i++) {
        char entry[256];
        size_t size;
        char *message = rc_wire_pack(SERVER_TOKEN, server_entry(entry, i, FEW), &size);

        assert_int_equal(send(fd[i], message, size, MSG_NOSIGNAL), size);
        free(message);
    }
    for (unsigned i = 0; i < FEW; i++) {
        char text[64];

        /* the answer; or to come again, for those after it */
        assert_true(recv(fd[i], text, sizeof(text), 0) > 0);
    }
    assert_in_range(*count, FEW, ASKS);
    for (unsigned i = 0; i < 2 * FEW; i++)
        close(fd[i]);
    server_decides(&server, "4 1\n");
    server_close(&server);
}
