/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/store.h"

#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "note "

struct note {
    struct rc_str key;
    struct rc_str value; /* absent: not put yet */
    uint64_t count;
    struct rc_queue waiting;
    struct note *next;
};

struct rc_notes {
    void *tree; /* of struct note, by key */
    struct note *first;
    size_t size;
};

struct rc_notes *rc_notes_create(void)
{
    return calloc(1, sizeof(struct rc_notes));
}

static void free_note(struct note *note)
{
    free((char *)(uintptr_t)note->key.p);
    free((char *)(uintptr_t)note->value.p);
    free(note);
}

static void keep(void *note)
{
    (void)note;
}

void rc_notes_destroy(struct rc_notes *notes)
{
    struct note *next;

    if (!notes)
        return;
    tdestroy(notes->tree, keep);
    for (struct note *note = notes->first; note; note = next) {
        next = note->next;
        free_note(note);
    }
    free(notes);
}

static int by_key(const void *a, const void *b)
{
    struct rc_str left = ((const struct note *)a)->key;
    struct rc_str right = ((const struct note *)b)->key;

    if (left.n != right.n)
        return left.n < right.n ? -1 : 1;
    return memcmp(left.p, right.p, left.n);
}

bool rc_notes_is_key(struct rc_str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!memchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._:/-", key.p[i], 67))
            return false;
    return key.n > 0 && key.n <= RC_NOTES_KEY_MAX;
}

/* A copy; absent where there is no room or no memory. A NUL behind it, so that
 * an empty text is there, too. */
static struct rc_str copy(struct rc_notes *notes, struct rc_str text, size_t more)
{
    char *to;

    if (text.n + more > RC_NOTES_SIZE_MAX - notes->size || !(to = malloc(text.n + 1)))
        return RC_ABSENT;
    memcpy(to, text.p, text.n);
    to[text.n] = '\0';
    notes->size += text.n + more;
    return (struct rc_str){ to, text.n };
}

/* The note of that key, which there is from now on; NULL without room. */
static struct note *find(struct rc_notes *notes, struct rc_str key)
{
    struct note wanted = { .key = key };
    struct note *const *found = tfind(&wanted, &notes->tree, by_key);
    struct note *note;

    if (found)
        return *found;
    note = calloc(1, sizeof(*note));
    if (!note)
        return NULL;
    note->key = copy(notes, key, sizeof(*note));
    if (!note->key.p || !tsearch(note, &notes->tree, by_key)) {
        free_note(note);
        return NULL;
    }
    note->next = notes->first;
    notes->first = note;
    return note;
}

static void say_full(struct rc_notes_answer *answer)
{
    snprintf(answer->head, sizeof(answer->head), BEGIN "full\n");
}

static void say(struct rc_notes_answer *answer, uint64_t number, struct rc_str value)
{
    snprintf(answer->head, sizeof(answer->head), BEGIN "%llu\n", (unsigned long long)number);
    answer->value = value;
}

static void put(struct rc_notes *notes, struct note *note, struct rc_str value, struct rc_notes_answer *answer)
{
    if (note->value.p) {
        say(answer, 0, note->value);
        return;
    }
    note->value = copy(notes, value, 0);
    if (!note->value.p) {
        say_full(answer);
        return;
    }
    say(answer, 1, RC_ABSENT);
    answer->waiting = &note->waiting;
}

bool rc_notes_is_question(struct rc_str text)
{
    return rc_str_starts(text, BEGIN);
}

bool rc_notes_ask(struct rc_notes *notes, struct rc_str question, struct rc_notes_answer *answer)
{
    struct rc_notes_answer made = { .waiting = NULL };
    struct rc_str value;
    struct rc_str line = rc_str_split(question, '\n', &value);
    struct rc_str begin = rc_str_split(line, ' ', &line);
    struct rc_str what = rc_str_split(line, ' ', &line);
    bool puts = rc_str_is(what, "put");
    bool gets = rc_str_is(what, "get");
    struct note *note;

    if (!rc_str_is(begin, "note") || !(puts || gets || rc_str_is(what, "count")) || !rc_notes_is_key(line) ||
        !value.p || value.n > (puts ? RC_NOTES_VALUE_MAX : 0))
        return false;
    note = find(notes, line);
    if (!note)
        say_full(&made);
    else if (puts)
        put(notes, note, value, &made);
    else if (!gets)
        say(&made, note->count++, RC_ABSENT);
    else if (note->value.p)
        say(&made, 0, note->value);
    else
        made.waiting = &note->waiting;
    *answer = made;
    return true;
}

struct rc_link *rc_notes_first_waiting(const struct rc_notes *notes)
{
    for (const struct note *note = notes->first; note; note = note->next)
        if (note->waiting.first)
            return note->waiting.first;
    return NULL;
}
