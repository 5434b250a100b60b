/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that other nodes can reach: at which port. */
#include "rendezvous/wire.h"
#include "unit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "system/port.h"

UNIT_TEST(check_ports, "a port of the kernel's choice, and a taken one")
{
    uint16_t port;
    uint16_t other;
    int fd = rc_listen(0, 0, 0, &port);

    assert_true(fd >= 0);
    assert_int_not_equal(port, 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(rc_listen(port, port, 0, &other), -EADDRINUSE);
    close(fd);
}

/* A range with one port of the two taken: the other one, wherever the search begins. */
UNIT_TEST(check_range, "a range with a taken port")
{
    uint16_t port = 0;
    int taken = -1;

    for (unsigned attempt = 0; attempt < 100; attempt++) {
        uint16_t other;
        int fd;

        taken = rc_listen(0, 0, 0, &port);
        assert_true(taken >= 0);
        if (port < UINT16_MAX && (fd = rc_listen(port, (uint16_t)(port + 1), 0, &other)) >= 0) {
            assert_int_equal(other, port + 1);
            close(fd);
            close(taken);
            return;
        }
        /* somebody has the next one */
        close(taken);
    }
    fail_msg("no two ports side by side in 100 attempts");
}

/* A range of this port only leaves srun none. */
UNIT_TEST(check_left, "a range without the ports that srun needs: -EADDRINUSE, and nothing stays bound")
{
    uint16_t port;
    uint16_t other;
    int fd = rc_listen(0, 0, 0, &port);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(rc_listen(port, port, 1, &other), -EADDRINUSE);
    fd = rc_listen(port, port, 0, &other);
    assert_true(fd >= 0);
    close(fd);
}

/* A server that closes a connection first, as rollcall-exchange does, and ends. */
static uint16_t leave_time_wait(void)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int client = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd ready = { .events = POLLIN };
    uint16_t port;
    char byte;

    ready.fd = rc_listen(0, 0, 0, &port);
    assert_true(ready.fd >= 0);
    here.sin_port = htons(port);
    assert_int_equal(connect(client, (struct sockaddr *)&here, sizeof(here)), 0);
    assert_int_equal(poll(&ready, 1, -1), 1);
    close(accept(ready.fd, NULL, NULL));
    assert_int_equal(read(client, &byte, 1), 0);
    close(client);
    close(ready.fd);
    return port;
}

UNIT_TEST(check_time_wait, "a port that a server left in TIME_WAIT")
{
    uint16_t left = leave_time_wait();
    uint16_t port;
    uint16_t other;
    int fd;

    assert_int_equal(rc_port_bind(left, SOCK_STREAM, RC_PORT_EXCLUSIVE), -EADDRINUSE);
    fd = rc_listen(left, left, 0, &port);
    assert_true(fd >= 0);
    assert_int_equal(port, left);
    assert_int_equal(rc_listen(left, left, 0, &other), -EADDRINUSE);
    close(fd);
}

UNIT_TEST(check_held, "a MASTER_PORT that a task holds")
{
    int held = rc_port_hold(0);
    uint16_t port = rc_port_number(held);
    uint16_t other;

    assert_true(held >= 0);
    assert_int_equal(rc_listen(port, port, 0, &other), -EADDRINUSE);
    rc_port_release(held);
}
