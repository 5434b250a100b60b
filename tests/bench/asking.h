/* SPDX-License-Identifier: BSD-3-Clause */
/* asking.h - one message to the server and its reply, for a process that is thousands of clients: never blocks. */
#ifndef ROLLCALL_BENCH_ASKING_H
#define ROLLCALL_BENCH_ASKING_H

#include <sys/epoll.h>
#include <sys/socket.h>

#include "rendezvous/wire.h"

struct asking {
    int fd;
    bool sent;
    char *message;
    size_t size;
    struct rc_wire wire;
};

/* ASKING_REFUSED: the message could not be sent. */
enum asking_state { ASKING_WAITS, ASKING_DONE, ASKING_REFUSED, ASKING_WRONG };

/* What an event of the connection makes of it. `whom` is what further events have. Of ASKING_DONE the reply is in
 * the wire. */
static inline enum asking_state asking_advance(struct asking *asking, const char *token, int epoll, void *whom)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = whom };

    if (!asking->sent) {
        /* a message is less than a socket's buffer */
        asking->sent = send(asking->fd, asking->message, asking->size, MSG_NOSIGNAL) == (ssize_t)asking->size;
        if (!asking->sent)
            return ASKING_REFUSED;
        return epoll_ctl(epoll, EPOLL_CTL_MOD, asking->fd, &event) == 0 ? ASKING_WAITS : ASKING_WRONG;
    }
    switch (rc_wire_read(&asking->wire, asking->fd, token)) {
    case RC_WIRE_MORE:
        return ASKING_WAITS;
    case RC_WIRE_WHOLE:
        return ASKING_DONE;
    case RC_WIRE_WRONG:
        break;
    }
    return ASKING_WRONG;
}

#endif
