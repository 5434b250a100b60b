/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/connections.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/clock.h"

/* A round takes in no more than so many callers: those that are there already are
 * heard in between, and a crowd of nodes is never a crowd of strangers. */
enum { EVENTS = 64, WELCOMES = 64, SPARE_DESCRIPTORS = 32 };

static bool rewatch(const struct rc_crowd *crowd, int fd, uint32_t events, void *whom)
{
    struct epoll_event event = { .events = events, .data.ptr = whom };

    return epoll_ctl(crowd->epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

static int watch(const struct rc_crowd *crowd, int fd, uint32_t events, void *whom)
{
    struct epoll_event event = { .events = events, .data.ptr = whom };

    return epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* As many descriptors as the system allows: there is one for each node. */
static size_t descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 256;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur;
}

int rc_crowd_open(struct rc_crowd *crowd, int listener, const char *token, rc_crowd_understand *understand, void *more)
{
    size_t allowed = descriptors();
    int rc;

    *crowd = (struct rc_crowd){
        .listener = listener,
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .life = -1,
        .token = token,
        .understand = understand,
        .more = more,
        .strangers_max = allowed > 2 * SPARE_DESCRIPTORS ? allowed - SPARE_DESCRIPTORS : SPARE_DESCRIPTORS,
    };
    if (crowd->strangers_max > RC_CROWD_STRANGERS_MAX)
        crowd->strangers_max = RC_CROWD_STRANGERS_MAX;
    rc = crowd->epoll < 0 ? -errno : watch(crowd, listener, EPOLLIN, crowd);
    if (rc < 0)
        rc_crowd_close(crowd);
    return rc;
}

void rc_crowd_close(struct rc_crowd *crowd)
{
    struct rc_link *link;

    crowd->deaf = false;
    while ((link = crowd->strangers.first) || (link = crowd->visitors.first))
        rc_crowd_hang_up(crowd, rc_caller_of(link));
    if (crowd->epoll >= 0)
        close(crowd->epoll);
    close(crowd->listener);
}

int rc_crowd_set_life(struct rc_crowd *crowd, int life)
{
    crowd->life = life;
    return watch(crowd, life, EPOLLHUP, &crowd->life);
}

void rc_crowd_hang_up(struct rc_crowd *crowd, struct rc_caller *caller)
{
    rc_queue_leave(&caller->link);
    close(caller->fd); /* which also takes it out of the epoll set */
    rc_wire_free(&caller->wire);
    free(caller->own_reply);
    free(caller);
    if (crowd->deaf && rewatch(crowd, crowd->listener, EPOLLIN, crowd))
        crowd->deaf = false;
}

/* False once this caller is done with, or lost; true as long as there is something to wait for. */
static bool send_reply(const struct rc_crowd *crowd, struct rc_caller *caller)
{
    if (!caller->reply)
        return true;
    while (caller->sent < caller->reply_size) {
        ssize_t n = send(caller->fd, caller->reply + caller->sent, caller->reply_size - caller->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN && rewatch(crowd, caller->fd, EPOLLIN | EPOLLOUT, caller);
        caller->sent += (size_t)n;
    }
    /* closing with nothing unread is no reset, which could overtake the reply */
    return false;
}

void rc_crowd_give(struct rc_crowd *crowd, struct rc_caller *caller)
{
    if (!send_reply(crowd, caller))
        rc_crowd_hang_up(crowd, caller);
}

void rc_crowd_wake(struct rc_crowd *crowd, struct rc_caller *caller)
{
    rc_queue_join(&crowd->visitors, &caller->link);
    /* without a reply it is to go, at its own next event, too */
    if (!caller->reply || !rewatch(crowd, caller->fd, EPOLLIN | EPOLLOUT, caller))
        shutdown(caller->fd, SHUT_RDWR);
}

/* A visitor that is gone, or says more than it should, goes. */
static bool is_patient(const struct rc_caller *caller)
{
    char byte;

    return recv(caller->fd, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool hear_stranger(struct rc_crowd *crowd, struct rc_caller *caller)
{
    switch (rc_wire_read(&caller->wire, caller->fd, crowd->token)) {
    case RC_WIRE_MORE:
        return true;
    case RC_WIRE_WRONG:
        return false;
    case RC_WIRE_WHOLE:
        break;
    }
    caller->is_visitor = true;
    rc_queue_join(&crowd->visitors, &caller->link);
    return crowd->understand(crowd->more, caller) && send_reply(crowd, caller);
}

static void hear(struct rc_crowd *crowd, struct rc_caller *caller)
{
    bool stays = caller->is_visitor ? is_patient(caller) && send_reply(crowd, caller) : hear_stranger(crowd, caller);

    if (!stays)
        rc_crowd_hang_up(crowd, caller);
}

/* The oldest stranger goes, but not unheard: its message may have come since. */
static void show_out(struct rc_crowd *crowd)
{
    size_t count = crowd->strangers.count;

    hear(crowd, rc_caller_of(crowd->strangers.first));
    if (crowd->strangers.count == count)
        rc_crowd_hang_up(crowd, rc_caller_of(crowd->strangers.first));
}

static void let_in(struct rc_crowd *crowd, int fd)
{
    struct rc_caller *caller = calloc(1, sizeof(*caller));

    if (!caller || watch(crowd, fd, EPOLLIN, caller) < 0) {
        free(caller);
        close(fd);
        return;
    }
    caller->fd = fd;
    caller->since = rc_milliseconds();
    caller->wire.limit = RC_WIRE_BODY_MAX;
    rc_queue_join(&crowd->strangers, &caller->link);
    /* most have said all by now; no event of its own can stand in this round's list yet */
    hear(crowd, caller);
}

static void welcome(struct rc_crowd *crowd)
{
    for (int i = 0; i < WELCOMES; i++) {
        int fd = accept4(crowd->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            if (crowd->strangers.count == crowd->strangers_max)
                show_out(crowd);
            let_in(crowd, fd);
        } else if (errno == EMFILE || errno == ENFILE) {
            /* out of descriptors: a stranger's will do */
            crowd->deaf = !crowd->strangers.first && rewatch(crowd, crowd->listener, 0, crowd);
            if (!crowd->strangers.first)
                return;
            show_out(crowd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static int64_t patience_of(const struct rc_crowd *crowd)
{
    return crowd->strangers.first ? rc_caller_of(crowd->strangers.first)->since + RC_CROWD_PATIENCE * 1000 : INT64_MAX;
}

/* For epoll; -1: ever. */
static int milliseconds_until(int64_t until)
{
    int64_t left = until - rc_milliseconds();

    return until == INT64_MAX ? -1 : left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* A caller may be hung up while others' events of the same round are still to be
 * handled: it is one event each, and only a caller's own event or the listener's
 * hangs it up, so the listener's comes last. */
bool rc_crowd_serve(struct rc_crowd *crowd, int64_t until)
{
    int64_t patience = patience_of(crowd);
    struct epoll_event events[EVENTS];
    int count = epoll_wait(crowd->epoll, events, EVENTS, milliseconds_until(until < patience ? until : patience));
    bool knock = false;

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &crowd->life)
            return false;
        if (events[i].data.ptr == crowd)
            knock = true;
        else
            hear(crowd, events[i].data.ptr);
    }
    if (knock)
        welcome(crowd);
    while (patience_of(crowd) <= rc_milliseconds())
        show_out(crowd);
    return true;
}
