/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that other nodes can reach: at which port. */
#include "rendezvous/wire.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void check_ports(const void *data)
{
    uint16_t port;
    uint16_t other;
    int fd = rc_listen(0, 0, &port);

    (void)data;
    assert_true(fd >= 0);
    assert_int_not_equal(port, 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(rc_listen(port, port, &other), -EADDRINUSE);
    close(fd);
}

/* A range with one port of the two taken: the other one, wherever the search begins. */
static void check_range(const void *data)
{
    uint16_t port = 0;
    int taken = -1;

    (void)data;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        uint16_t other;
        int fd;

        taken = rc_listen(0, 0, &port);
        assert_true(taken >= 0);
        if (port < UINT16_MAX && (fd = rc_listen(port, (uint16_t)(port + 1), &other)) >= 0) {
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

int main(void)
{
    unit_add_one(check_ports, "a port of the kernel's choice, and a taken one");
    unit_add_one(check_range, "a range with a taken port");
    return unit_run("listen");
}
