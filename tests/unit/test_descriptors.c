/* SPDX-License-Identifier: BSD-3-Clause */
/* The server if descriptors are short. */
#include "config.h"

#include "serverchild.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
    NODES = 40,
    FEW = 4,       /* descriptors for connections */
    LOOK = 100000, /* microseconds; from 500 ms on the server closes connections that are silent */
    ACCEPTS = 1000 /* of a server in that time: far more than it needs, and far less than without a pause */
};

/* How many times accept4 is to fail, and with what: the server's call, instead of libc's. */
static int failures;
static int failure;

/* How often it was called, by the server's process too; NULL: that does not matter. */
static volatile unsigned *accepts;

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    if (accepts)
        ++*accepts;
    if (failures > 0) {
        failures--;
        errno = failure;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, address, size, flags);
}

UNIT_TEST(check_none, "server: no descriptor for the first connections -> all nodes are answered")
{
    static const int errors[] = { EMFILE, ENFILE };

    for (unsigned i = 0; i < UNIT_COUNT(errors); i++) {
        struct server_child server;
        char text[SERVER_ENTRY];
        int fd[NODES];

        failures = 3;
        failure = errors[i];
        server = server_open((struct server_start){ .stops = false });
        failures = 0;
        for (unsigned k = 0; k < NODES; k++)
            fd[k] = server_send(&server, server_entry(text, k, NODES));
        for (unsigned k = 0; k < NODES; k++)
            server_replies(fd[k], "answer=1\nport=40\n");
        server_decides(&server, "40 whole\n");
        server_close(&server);
    }
}

UNIT_TEST(check_young, "server: connections at the limit -> not closed for others at once, nor does it spin")
{
    volatile unsigned *count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct server_child server;
    int fd[2 * FEW];

    assert_true(count != MAP_FAILED);
    accepts = count;
    server = server_open((struct server_start){ .descriptors = FEW });
    accepts = NULL;
    for (unsigned i = 0; i < 2 * FEW; i++)
        fd[i] = server_connect(&server, 0, 0);
    usleep(LOOK);
    for (unsigned i = 0; i < 2; i++) {
        char text[SERVER_ENTRY];
        size_t size;
        char *message = rc_wire_pack(SERVER_TOKEN, rc_str(server_entry(text, i, 2)), &size);

        assert_int_equal(send(fd[i], message, size, MSG_NOSIGNAL), size);
        free(message);
    }
    for (unsigned i = 0; i < 2; i++)
        server_replies(fd[i], "answer=1\nport=2\n");
    assert_in_range(*count, FEW, ACCEPTS);
    for (unsigned i = 2; i < 2 * FEW; i++)
        close(fd[i]);
    server_decides(&server, "2 whole\n");
    server_close(&server);
}

UNIT_TEST(check_create, "server: no descriptor for its events -> the error")
{
    const int listener[RC_LISTENERS_MAX] = { -1, -1 };
    struct rc_server *server = NULL;
    struct rlimit limit, none;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(rc_server_create(listener, SERVER_TOKEN, &server), -EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_null(server);
}
