/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rendezvous/arrivals.h"
#include "rendezvous/connections.h"
#include "rendezvous/registrations.h"
#include "rendezvous/store.h"
#include "system/clock.h"

enum { FAREWELL_MS = 2000, SAY_SIZE = 1024 };

/* Visitors are nodes that wait for the answer, and whoever has a reply that is
 * on its way; who waits for a note stands there. */
struct rc_desk {
    struct rc_crowd crowd;
    char token[RC_WIRE_TOKEN + 1];
    struct rc_ledger ledger;
    struct rc_notes *notes;
    struct rc_arrivals arrivals;
    rc_desk_say *say;
    void *say_more;
    int64_t first; /* when the first entry came; -1: none yet */
    char *answer;  /* as it goes over the wire; NULL: not yet */
    size_t answer_size;
};

static rc_crowd_understand understand;

struct rc_desk *rc_desk_create(int listener, const char *token)
{
    struct rc_desk *desk = calloc(1, sizeof(*desk));

    if (!desk)
        return NULL;
    memcpy(desk->token, token, RC_WIRE_TOKEN);
    desk->first = -1;
    desk->notes = rc_notes_create();
    if (!desk->notes || rc_crowd_open(&desk->crowd, listener, desk->token, understand, desk) < 0) {
        rc_notes_destroy(desk->notes);
        free(desk);
        return NULL;
    }
    return desk;
}

void rc_desk_destroy(struct rc_desk *desk)
{
    struct rc_link *link;

    if (!desk)
        return;
    while ((link = rc_notes_first_waiting(desk->notes)))
        rc_crowd_hang_up(&desk->crowd, rc_caller_of(link));
    rc_crowd_close(&desk->crowd);
    rc_notes_destroy(desk->notes);
    rc_arrivals_free(&desk->arrivals);
    rc_ledger_free(&desk->ledger);
    free(desk->answer);
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

static bool reply(const struct rc_desk *desk, struct rc_caller *caller, struct rc_str text)
{
    caller->reply = caller->own_reply = rc_wire_pack(desk->token, text, &caller->reply_size);
    return caller->reply != NULL;
}

static void reply_answer(const struct rc_desk *desk, struct rc_caller *caller)
{
    caller->reply = desk->answer;
    caller->reply_size = desk->answer_size;
}

/* Makes the reply to RC_DESK_QUESTION. */
static bool tell_roll(const struct rc_desk *desk, struct rc_caller *caller)
{
    size_t size;
    char *text = rc_ledger_text(&desk->ledger, &size);
    bool good = text && reply(desk, caller, (struct rc_str){ text, size });

    free(text);
    return good;
}

static bool tell_note(const struct rc_desk *desk, struct rc_caller *caller, const struct rc_notes_answer *answer)
{
    char text[RC_NOTES_HEAD_MAX + RC_NOTES_VALUE_MAX];
    size_t head = strlen(answer->head);

    memcpy(text, answer->head, head);
    if (answer->value.n)
        memcpy(text + head, answer->value.p, answer->value.n);
    return reply(desk, caller, (struct rc_str){ text, head + answer->value.n });
}

/* Its question once more, which has a reply now. */
static void wake(struct rc_desk *desk, struct rc_caller *caller)
{
    struct rc_notes_answer answer;

    if (rc_notes_ask(desk->notes, rc_wire_text(&caller->wire), &answer))
        tell_note(desk, caller, &answer);
    rc_crowd_wake(&desk->crowd, caller);
}

static bool look_up_note(struct rc_desk *desk, struct rc_caller *caller)
{
    struct rc_notes_answer answer;

    if (!rc_notes_ask(desk->notes, rc_wire_text(&caller->wire), &answer))
        return false;
    if (!*answer.head) {
        rc_queue_join(answer.waiting, &caller->link);
        return true;
    }
    while (answer.waiting && answer.waiting->first)
        wake(desk, rc_caller_of(answer.waiting->first));
    return tell_note(desk, caller, &answer);
}

/* The reply has nothing in it but that it was heard. */
static bool note_arrival(struct rc_desk *desk, struct rc_caller *caller)
{
    const struct rc_ledger *ledger = &desk->ledger;

    return rc_arrivals_take(&desk->arrivals, rc_wire_text(&caller->wire), ledger->count ? ledger->rolls[0].world : 0,
                            rc_milliseconds()) &&
           reply(desk, caller, RC_STR(""));
}

/* Late ones are not looked at any more. */
static bool take_entry(struct rc_desk *desk, struct rc_caller *caller)
{
    if (!desk->answer && !rc_desk_add(desk, rc_wire_text(&caller->wire)))
        return false;
    rc_wire_free(&caller->wire);
    reply_answer(desk, caller);
    return true;
}

/* A question, or an entry. */
static bool understand(void *more, struct rc_caller *caller)
{
    struct rc_desk *desk = more;
    struct rc_str text = rc_wire_text(&caller->wire);

    if (rc_str_is(text, RC_DESK_QUESTION))
        return tell_roll(desk, caller);
    if (rc_notes_is_question(text))
        return look_up_note(desk, caller);
    if (rc_arrivals_is_one(text))
        return note_arrival(desk, caller);
    return take_entry(desk, caller);
}

static int answer_all(struct rc_desk *desk, rc_desk_decide *decide, void *more)
{
    const struct rc_ledger *ledger = &desk->ledger;
    struct rc_str text = decide(more, ledger->rolls, ledger->count, rc_ledger_is_complete(ledger));
    struct rc_link *next;

    desk->answer = rc_wire_pack(desk->token, text, &desk->answer_size);
    if (!desk->answer)
        return -ENOMEM;
    for (struct rc_link *link = desk->crowd.visitors.first; link; link = next) {
        next = link->next;
        if (!rc_caller_of(link)->reply)
            reply_answer(desk, rc_caller_of(link));
        rc_crowd_give(&desk->crowd, rc_caller_of(link));
    }
    return 0;
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

/* One round; false once its life is over. */
static bool serve(struct rc_desk *desk, int64_t deadline)
{
    int64_t due = rc_arrivals_due(&desk->arrivals);
    bool lives = rc_crowd_serve(&desk->crowd, due < deadline ? due : deadline);

    if (lives)
        speak_of_arrivals(desk);
    return lives;
}

int rc_desk_run(struct rc_desk *desk, uint32_t seconds, int life, rc_desk_decide *decide, void *more)
{
    int64_t deadline = INT64_MAX;
    int rc = life >= 0 ? rc_crowd_set_life(&desk->crowd, life) : 0;

    if (rc < 0)
        return rc;
    while (!rc_ledger_is_complete(&desk->ledger) && (desk->first < 0 || rc_milliseconds() < deadline)) {
        if (desk->first >= 0)
            deadline = desk->first + seconds * INT64_C(1000);
        if (!serve(desk, deadline))
            return 0;
    }
    rc = answer_all(desk, decide, more);
    if (rc < 0)
        return rc;
    deadline = life >= 0 ? INT64_MAX : rc_milliseconds() + FAREWELL_MS;
    while ((life >= 0 || desk->crowd.visitors.first) && rc_milliseconds() < deadline)
        if (!serve(desk, deadline))
            break;
    return 0;
}
