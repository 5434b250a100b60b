#include "config.h"

#include "exchange/desk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/arrivals.h"
#include "exchange/ledger.h"
#include "exchange/notes.h"
#include "exchange/queue.h"
#include "exchange/wire.h"
#include "system/clock.h"

/* A round takes in no more than so many callers: those that are there already are
 * heard in between, and a crowd of nodes is never a crowd of strangers. */
enum { EVENTS = 64, WELCOMES = 64, FAREWELL_MS = 2000, SPARE_DESCRIPTORS = 32, SAY_SIZE = 1024 };

/* What a connection is: known by its message. */
enum kind {
    STRANGER, /* which is not whole yet */
    NODE,     /* an entry: gets the answer */
    ASKER,    /* a question: gets a reply of its own */
};

/* Stands among the strangers, in order of arrival; among the visitors; or at the
 * note that it waits for. */
struct caller {
    struct rc_link link; /* first: a link is its caller */
    int fd;
    enum kind kind;
    int64_t since;
    struct rc_wire wire;
    char *reply; /* of an asker; NULL: not yet */
    size_t reply_size;
    size_t sent; /* of reply or answer */
};

struct rc_desk {
    int listener;
    int epoll;
    bool deaf; /* out of descriptors: the listener is left alone until there is one */
    char token[RC_WIRE_TOKEN + 1];
    struct rc_queue strangers;
    struct rc_queue visitors;
    size_t strangers_max;
    struct rc_ledger ledger;
    struct rc_notes *notes;
    struct rc_arrivals arrivals;
    rc_desk_say *say;
    void *say_more;
    int64_t first; /* when the first entry came; -1: none yet */
    char *answer;  /* as it goes over the wire; NULL: not yet */
    size_t answer_size;
};

static struct caller *caller_of(struct rc_link *link)
{
    return (struct caller *)(void *)link;
}

/* Goes on with a descriptor that is watched already. */
static bool rewatch(const struct rc_desk *desk, int fd, uint32_t events, void *whom)
{
    struct epoll_event event = { .events = events, .data.ptr = whom };

    return epoll_ctl(desk->epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

static void hang_up(struct rc_desk *desk, struct caller *caller)
{
    rc_queue_leave(&caller->link);
    close(caller->fd); /* which also takes it out of the epoll set */
    rc_wire_free(&caller->wire);
    free(caller->reply);
    free(caller);
    if (desk->deaf && rewatch(desk, desk->listener, EPOLLIN, desk))
        desk->deaf = false;
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
    desk->notes = rc_notes_create();
    desk->first = -1;
    memcpy(desk->token, token, RC_WIRE_TOKEN);
    desk->strangers_max = allowed > 2 * SPARE_DESCRIPTORS ? allowed - SPARE_DESCRIPTORS : SPARE_DESCRIPTORS;
    if (desk->strangers_max > RC_DESK_STRANGERS_MAX)
        desk->strangers_max = RC_DESK_STRANGERS_MAX;
    desk->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!desk->notes || desk->epoll < 0 || watch(desk, listener, EPOLLIN, desk) < 0) {
        rc_desk_destroy(desk);
        return NULL;
    }
    return desk;
}

void rc_desk_destroy(struct rc_desk *desk)
{
    struct rc_link *link;

    if (!desk)
        return;
    desk->deaf = false;
    while ((link = desk->strangers.first) || (link = desk->visitors.first) ||
           (desk->notes && (link = rc_notes_first_waiting(desk->notes))))
        hang_up(desk, caller_of(link));
    rc_notes_destroy(desk->notes);
    rc_arrivals_free(&desk->arrivals);
    rc_ledger_free(&desk->ledger);
    free(desk->answer);
    if (desk->epoll >= 0)
        close(desk->epoll);
    close(desk->listener);
    free(desk);
}

void rc_desk_watch(struct rc_desk *desk, uint32_t seconds, uint32_t job, rc_desk_say *say, void *more)
{
    desk->arrivals.seconds = seconds;
    desk->arrivals.job = job;
    desk->say = say;
    desk->say_more = more;
}

bool rc_desk_add(struct rc_desk *desk, struct rc_str entry)
{
    if (!rc_ledger_add(&desk->ledger, entry))
        return false;
    if (desk->first < 0)
        desk->first = rc_milliseconds();
    return true;
}

/* As much as the socket takes. False once this caller is done with, or lost;
 * true as long as there is something to wait for. */
static bool give_answer(const struct rc_desk *desk, struct caller *caller)
{
    const char *text = caller->kind == ASKER ? caller->reply : desk->answer;
    size_t size = caller->kind == ASKER ? caller->reply_size : desk->answer_size;

    if (!text)
        return true;
    while (caller->sent < size) {
        ssize_t n = send(caller->fd, text + caller->sent, size - caller->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN && rewatch(desk, caller->fd, EPOLLIN | EPOLLOUT, caller);
        caller->sent += (size_t)n;
    }
    /* closing with nothing unread is no reset, which could overtake the answer */
    return false;
}

static bool reply(const struct rc_desk *desk, struct caller *caller, struct rc_str text)
{
    caller->reply = rc_wire_pack(desk->token, text, &caller->reply_size);
    return caller->reply != NULL;
}

/* Makes the reply to RC_DESK_QUESTION. */
static bool tell_roll(const struct rc_desk *desk, struct caller *caller)
{
    size_t size;
    char *text = rc_ledger_text(&desk->ledger, &size);
    bool good = text && reply(desk, caller, (struct rc_str){ text, size });

    free(text);
    return good;
}

static bool tell_note(const struct rc_desk *desk, struct caller *caller, const struct rc_notes_answer *answer)
{
    char text[RC_NOTES_HEAD_MAX + RC_NOTES_VALUE_MAX];
    size_t head = strlen(answer->head);

    memcpy(text, answer->head, head);
    if (answer->value.n)
        memcpy(text + head, answer->value.p, answer->value.n);
    return reply(desk, caller, (struct rc_str){ text, head + answer->value.n });
}

/* Its question once more, which has a reply now. It is given at the caller's own
 * next event: others' may still stand in the list of this round. */
static void wake(struct rc_desk *desk, struct caller *caller)
{
    struct rc_notes_answer answer;

    rc_queue_join(&desk->visitors, &caller->link);
    if (rc_notes_ask(desk->notes, rc_wire_text(&caller->wire), &answer) && tell_note(desk, caller, &answer))
        rewatch(desk, caller->fd, EPOLLIN | EPOLLOUT, caller);
    else
        shutdown(caller->fd, SHUT_RDWR);
}

static bool look_up_note(struct rc_desk *desk, struct caller *caller)
{
    struct rc_notes_answer answer;

    if (!rc_notes_ask(desk->notes, rc_wire_text(&caller->wire), &answer))
        return false;
    if (!*answer.head) {
        rc_queue_join(answer.waiting, &caller->link);
        return true;
    }
    while (answer.waiting && answer.waiting->first)
        wake(desk, caller_of(answer.waiting->first));
    return tell_note(desk, caller, &answer);
}

/* The reply has nothing in it but that it was heard. */
static bool note_arrival(struct rc_desk *desk, struct caller *caller)
{
    const struct rc_ledger *ledger = &desk->ledger;

    return rc_arrivals_take(&desk->arrivals, rc_wire_text(&caller->wire), ledger->count ? ledger->rolls[0].world : 0,
                            rc_milliseconds()) &&
           reply(desk, caller, RC_STR(""));
}

/* A question, or an entry; late ones are not looked at any more. */
static bool understand(struct rc_desk *desk, struct caller *caller)
{
    struct rc_str text = rc_wire_text(&caller->wire);

    rc_queue_join(&desk->visitors, &caller->link);
    caller->kind = ASKER;
    if (rc_str_is(text, RC_DESK_QUESTION))
        return tell_roll(desk, caller);
    if (rc_notes_is_question(text))
        return look_up_note(desk, caller);
    if (rc_arrivals_is_one(text))
        return note_arrival(desk, caller);
    caller->kind = NODE;
    return desk->answer || rc_desk_add(desk, text);
}

static void hear(struct rc_desk *desk, struct caller *caller)
{
    if (caller->kind != STRANGER) {
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
    /* of a question the text is needed until it has its reply */
    if (caller->kind == NODE)
        rc_wire_free(&caller->wire);
    if (!give_answer(desk, caller))
        hang_up(desk, caller);
}

/* The oldest stranger goes, but not unheard: its entry may have come since. */
static void show_out(struct rc_desk *desk)
{
    size_t count = desk->strangers.count;

    hear(desk, caller_of(desk->strangers.first));
    if (desk->strangers.count == count)
        hang_up(desk, caller_of(desk->strangers.first));
}

static void welcome(struct rc_desk *desk)
{
    for (int i = 0; i < WELCOMES; i++) {
        int fd = accept4(desk->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct caller *caller;

        if (fd < 0) {
            /* out of descriptors: a stranger's will do */
            if (errno == EMFILE || errno == ENFILE) {
                if (desk->strangers.first) {
                    show_out(desk);
                    continue;
                }
                desk->deaf = rewatch(desk, desk->listener, 0, desk);
                return;
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
        rc_queue_join(&desk->strangers, &caller->link);
        /* most have said all by now; no event of its own can stand in this round's list yet */
        hear(desk, caller);
    }
}

static int answer_all(struct rc_desk *desk, rc_desk_decide *decide, void *more)
{
    const struct rc_ledger *ledger = &desk->ledger;
    struct rc_str text = decide(more, ledger->rolls, ledger->count, rc_ledger_is_complete(ledger));
    struct rc_link *next;

    desk->answer = rc_wire_pack(desk->token, text, &desk->answer_size);
    if (!desk->answer)
        return -ENOMEM;
    for (struct rc_link *link = desk->visitors.first; link; link = next) {
        next = link->next;
        if (!give_answer(desk, caller_of(link)))
            hang_up(desk, caller_of(link));
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
    int64_t until = earlier(deadline, rc_arrivals_due(&desk->arrivals));

    if (desk->strangers.first)
        until = earlier(until, caller_of(desk->strangers.first)->since + RC_DESK_PATIENCE * 1000);
    if (until == INT64_MAX)
        return -1;
    until -= rc_milliseconds();
    return until < 0 ? 0 : (int)earlier(until, 60000);
}

static void send_strangers_away(struct rc_desk *desk)
{
    int64_t oldest = rc_milliseconds() - RC_DESK_PATIENCE * 1000;

    while (desk->strangers.first && caller_of(desk->strangers.first)->since <= oldest)
        show_out(desk);
}

static void speak_of_arrivals(struct rc_desk *desk)
{
    const struct rc_ledger *ledger = &desk->ledger;
    char space[SAY_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    enum rc_message_id id;
    const char *text = rc_arrivals_say(&desk->arrivals, ledger->rolls, ledger->count, rc_milliseconds(), &id, &arena);

    if (text)
        desk->say(desk->say_more, id, text);
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
    speak_of_arrivals(desk);
    return true;
}

int rc_desk_run(struct rc_desk *desk, uint32_t seconds, int life, rc_desk_decide *decide, void *more)
{
    int64_t deadline = INT64_MAX;
    int rc = life >= 0 ? watch(desk, life, EPOLLHUP, &life) : 0;

    if (rc < 0)
        return rc;
    while (!rc_ledger_is_complete(&desk->ledger) && (desk->first < 0 || rc_milliseconds() < deadline)) {
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
