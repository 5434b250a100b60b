#include "config.h"

#include "exchange/desk.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/wire.h"
#include "system/clock.h"

enum { BACKLOG = 4096, EVENTS = 64, FAREWELL_MS = 2000, SPARE_DESCRIPTORS = 32 };

/* One connection: a stranger until its message is whole, a visitor from then on.
 * Strangers stand in a list in order of arrival. */
struct caller {
    int fd;
    int64_t since;
    struct rc_wire wire;
    char *reply; /* of its own; NULL: the answer that all get */
    size_t reply_size;
    size_t sent; /* of either */
    bool is_visitor;
    struct caller *previous;
    struct caller *next;
};

struct list {
    struct caller *first;
    struct caller *last;
    size_t count;
};

struct rc_desk {
    int listener;
    int epoll;
    char token[RC_WIRE_TOKEN + 1];
    struct list strangers;
    struct list visitors; /* those who wait for the answer */
    size_t strangers_max;
    struct rc_roll *rolls;
    char **texts; /* that the rolls are slices of */
    size_t count;
    size_t room;
    int64_t first; /* when the first entry came; -1: none yet */
    char *answer;  /* as it goes over the wire; NULL: not yet */
    size_t answer_size;
};

static int bind_any(int family, uint16_t port)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int no = 0;
    int rc;

    if (fd < 0)
        return -errno;
    if (family == AF_INET6)
        rc = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) < 0 ||
             bind(fd, (struct sockaddr *)&six, sizeof(six)) < 0;
    else
        rc = bind(fd, (struct sockaddr *)&four, sizeof(four)) < 0;
    if (!rc && listen(fd, BACKLOG) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

static int bind_somehow(uint16_t port)
{
    int fd = bind_any(AF_INET6, port);

    return fd >= 0 || fd == -EADDRINUSE || fd == -EACCES ? fd : bind_any(AF_INET, port);
}

int rc_desk_listen(uint16_t first, uint16_t last, uint16_t *port)
{
    struct sockaddr_in6 name;
    socklen_t size = sizeof(name);
    uint32_t span = (uint32_t)last - first + 1;
    uint32_t start = (uint32_t)rc_milliseconds() % span;
    int fd = -EADDRINUSE;

    /* many steps of one host share the range: not all of them begin at its beginning */
    for (uint32_t i = 0; fd == -EADDRINUSE && i < span; i++)
        fd = bind_somehow((uint16_t)(first + (start + i) % span));
    if (fd < 0)
        return fd;
    /* the port stands at the same place in both families' addresses */
    if (getsockname(fd, (struct sockaddr *)&name, &size) < 0) {
        close(fd);
        return -errno;
    }
    *port = ntohs(name.sin6_port);
    return fd;
}

static void append(struct list *list, struct caller *caller)
{
    caller->next = NULL;
    caller->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = caller;
    list->last = caller;
    list->count++;
}

static void take_out(struct list *list, struct caller *caller)
{
    *(caller->previous ? &caller->previous->next : &list->first) = caller->next;
    *(caller->next ? &caller->next->previous : &list->last) = caller->previous;
    list->count--;
}

static void hang_up(struct rc_desk *desk, struct caller *caller)
{
    take_out(caller->is_visitor ? &desk->visitors : &desk->strangers, caller);
    close(caller->fd); /* which also takes it out of the epoll set */
    rc_wire_free(&caller->wire);
    free(caller->reply);
    free(caller);
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

static int watch(const struct rc_desk *desk, int fd, uint32_t events, void *whom)
{
    struct epoll_event event = { .events = events, .data.ptr = whom };

    return epoll_ctl(desk->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

struct rc_desk *rc_desk_create(int listener, const char *token)
{
    struct rc_desk *desk = calloc(1, sizeof(*desk));
    size_t allowed = descriptors();

    if (!desk)
        return NULL;
    desk->listener = listener;
    desk->first = -1;
    memcpy(desk->token, token, RC_WIRE_TOKEN);
    desk->strangers_max = allowed > RC_DESK_STRANGERS_MAX + SPARE_DESCRIPTORS ? RC_DESK_STRANGERS_MAX
                          : allowed > 2 * SPARE_DESCRIPTORS                ? allowed - SPARE_DESCRIPTORS
                                                                           : SPARE_DESCRIPTORS;
    desk->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (desk->epoll < 0 || watch(desk, listener, EPOLLIN, desk) < 0) {
        rc_desk_destroy(desk);
        return NULL;
    }
    return desk;
}

void rc_desk_destroy(struct rc_desk *desk)
{
    if (!desk)
        return;
    while (desk->strangers.first)
        hang_up(desk, desk->strangers.first);
    while (desk->visitors.first)
        hang_up(desk, desk->visitors.first);
    for (size_t i = 0; i < desk->count; i++)
        free(desk->texts[i]);
    free(desk->texts);
    free(desk->rolls);
    free(desk->answer);
    if (desk->epoll >= 0)
        close(desk->epoll);
    close(desk->listener);
    free(desk);
}

static bool make_room(struct rc_desk *desk)
{
    size_t room = desk->room ? 2 * desk->room : 16;
    struct rc_roll *rolls;
    char **texts;

    if (desk->count < desk->room)
        return true;
    rolls = realloc(desk->rolls, room * sizeof(*rolls));
    if (rolls)
        desk->rolls = rolls;
    texts = realloc(desk->texts, room * sizeof(*texts));
    if (texts)
        desk->texts = texts;
    if (rolls && texts)
        desk->room = room;
    return rolls && texts;
}

bool rc_desk_add(struct rc_desk *desk, struct rc_str entry)
{
    char *text;

    if (!make_room(desk) || !(text = malloc(entry.n + 1)))
        return false;
    memcpy(text, entry.p, entry.n);
    text[entry.n] = '\0';
    if (!rc_roll_read((struct rc_str){ text, entry.n }, &desk->rolls[desk->count])) {
        free(text);
        return false;
    }
    desk->texts[desk->count++] = text;
    if (desk->first < 0)
        desk->first = rc_milliseconds();
    return true;
}

/* As much as the socket takes. False once this caller is done with, or lost;
 * true as long as there is something to wait for. */
static bool give_answer(const struct rc_desk *desk, struct caller *caller)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT, .data.ptr = caller };
    const char *reply = caller->reply ? caller->reply : desk->answer;
    size_t size = caller->reply ? caller->reply_size : desk->answer_size;

    if (!reply)
        return true;
    while (caller->sent < size) {
        ssize_t n = send(caller->fd, reply + caller->sent, size - caller->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN && epoll_ctl(desk->epoll, EPOLL_CTL_MOD, caller->fd, &event) == 0;
        caller->sent += (size_t)n;
    }
    /* closing with nothing unread is no reset, which could overtake the answer */
    return false;
}

/* Makes the reply to RC_DESK_QUESTION. */
static bool tell_roll(const struct rc_desk *desk, struct caller *caller)
{
    size_t size = 0;
    char *text;
    char *end;

    for (size_t i = 0; i < desk->count; i++)
        size += strlen(desk->texts[i]) + 1;
    end = text = malloc(size + 1);
    if (!text)
        return false;
    for (size_t i = 0; i < desk->count; i++) {
        end = stpcpy(end, desk->texts[i]);
        *end++ = '\n';
    }
    caller->reply = rc_wire_pack(desk->token, (struct rc_str){ text, size }, &caller->reply_size);
    free(text);
    return caller->reply != NULL;
}

/* A question, or an entry; late ones are not looked at any more. */
static bool understand(struct rc_desk *desk, struct caller *caller)
{
    struct rc_str text = rc_wire_text(&caller->wire);

    if (rc_str_is(text, RC_DESK_QUESTION))
        return tell_roll(desk, caller);
    return desk->answer || rc_desk_add(desk, text);
}

static void hear(struct rc_desk *desk, struct caller *caller)
{
    if (caller->is_visitor) {
        char byte;
        ssize_t n = recv(caller->fd, &byte, 1, MSG_DONTWAIT);

        /* a visitor that is gone, or says more than it should */
        if (n >= 0 || (errno != EAGAIN && errno != EINTR) || !give_answer(desk, caller))
            hang_up(desk, caller);
        return;
    }
    switch (rc_wire_read(&caller->wire, caller->fd, desk->token)) {
    case RC_WIRE_MORE:
        return;
    case RC_WIRE_WRONG:
        hang_up(desk, caller);
        return;
    case RC_WIRE_WHOLE:
        break;
    }
    if (!understand(desk, caller)) {
        hang_up(desk, caller);
        return;
    }
    rc_wire_free(&caller->wire);
    take_out(&desk->strangers, caller);
    caller->is_visitor = true;
    append(&desk->visitors, caller);
    if (!give_answer(desk, caller))
        hang_up(desk, caller);
}

/* The oldest stranger goes, but not unheard: its entry may have come since. */
static void show_out(struct rc_desk *desk)
{
    size_t count = desk->strangers.count;

    hear(desk, desk->strangers.first);
    if (desk->strangers.count == count)
        hang_up(desk, desk->strangers.first);
}

static void welcome(struct rc_desk *desk)
{
    for (;;) {
        int fd = accept4(desk->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct caller *caller;

        if (fd < 0) {
            /* out of descriptors: a stranger's will do */
            if ((errno == EMFILE || errno == ENFILE) && desk->strangers.first) {
                show_out(desk);
                continue;
            }
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return;
        }
        if (desk->strangers.count == desk->strangers_max)
            show_out(desk);
        caller = calloc(1, sizeof(*caller));
        if (!caller || watch(desk, fd, EPOLLIN, caller) < 0) {
            free(caller);
            close(fd);
            continue;
        }
        caller->fd = fd;
        caller->since = rc_milliseconds();
        caller->wire.limit = RC_WIRE_BODY_MAX;
        append(&desk->strangers, caller);
    }
}

static bool is_complete(const struct rc_desk *desk)
{
    return desk->count > 0 && desk->count >= desk->rolls[0].nodes;
}

static int answer_all(struct rc_desk *desk, rc_desk_decide *decide, void *more)
{
    struct rc_str text = decide(more, desk->rolls, desk->count, is_complete(desk));
    struct caller *next;

    desk->answer = rc_wire_pack(desk->token, text, &desk->answer_size);
    if (!desk->answer)
        return -ENOMEM;
    for (struct caller *caller = desk->visitors.first; caller; caller = next) {
        next = caller->next;
        if (!give_answer(desk, caller))
            hang_up(desk, caller);
    }
    return 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Milliseconds until something has to be done without anybody's asking; -1: nothing. */
static int pause_until(const struct rc_desk *desk, int64_t deadline)
{
    int64_t until = deadline;

    if (desk->strangers.first)
        until = earlier(until, desk->strangers.first->since + RC_DESK_PATIENCE * 1000);
    if (until == INT64_MAX)
        return -1;
    until -= rc_milliseconds();
    return until < 0 ? 0 : (int)earlier(until, 60000);
}

static void send_strangers_away(struct rc_desk *desk)
{
    int64_t oldest = rc_milliseconds() - RC_DESK_PATIENCE * 1000;

    while (desk->strangers.first && desk->strangers.first->since <= oldest)
        show_out(desk);
}

/* One round; false once the other end of `life` is closed. A caller may be hung
 * up while others' events of the same round are still to be handled: it is one
 * event each, and only a caller's own event or the listener's hangs it up, so
 * the listener's comes last. */
static bool wait_and_serve(struct rc_desk *desk, const int *life, int64_t deadline)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(desk->epoll, events, EVENTS, pause_until(desk, deadline));
    bool knock = false;

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == life)
            return false;
        if (events[i].data.ptr == desk)
            knock = true;
        else
            hear(desk, events[i].data.ptr);
    }
    if (knock)
        welcome(desk);
    send_strangers_away(desk);
    return true;
}

int rc_desk_run(struct rc_desk *desk, uint32_t seconds, int life, rc_desk_decide *decide, void *more)
{
    int64_t deadline = INT64_MAX;
    int rc = life >= 0 ? watch(desk, life, EPOLLHUP, &life) : 0;

    if (rc < 0)
        return rc;
    while (!is_complete(desk) && (desk->first < 0 || rc_milliseconds() < deadline)) {
        if (desk->first >= 0)
            deadline = desk->first + seconds * INT64_C(1000);
        if (!wait_and_serve(desk, &life, deadline))
            return 0;
    }
    rc = answer_all(desk, decide, more);
    if (rc < 0)
        return rc;
    deadline = life >= 0 ? INT64_MAX : rc_milliseconds() + FAREWELL_MS;
    while ((life >= 0 || desk->visitors.first) && rc_milliseconds() < deadline)
        if (!wait_and_serve(desk, &life, deadline))
            break;
    return 0;
}
