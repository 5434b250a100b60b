/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "missing.h"

#include <errno.h>
#include <time.h>

#include "base/compact.h"
#include "say.h"

/* Each look for a missing rank takes LOOK_MS (talk.c), so only some of many are named. */
enum { LOOKS_MAX = 256, ABSENT_MAX = 16, ELSEWHERE_MAX = 4, NOTES_MAX = 16, VALUE_SIZE = 512, RANGES_LIMIT = 120 };

/* A talk whose keys begin with guard/late, which is no communicator's id. */
static struct guard_talk of_all(const struct guard_talk *talk)
{
    struct guard_talk all = *talk;

    all.id[0] = 'l';
    all.id[1] = 'a';
    all.id[2] = 't';
    all.id[3] = 'e';
    all.id[4] = '\0';
    return all;
}

static const char *note_key(char key[GUARD_KEY_SIZE], uint32_t rank, uint32_t number)
{
    struct rc_arena arena = { .base = key, .size = GUARD_KEY_SIZE };

    return rc_format(&arena, "r%u/%u", rank, number);
}

static void leave_note(const struct guard_talk *talk)
{
    struct guard_talk all = of_all(talk);
    char key[GUARD_KEY_SIZE];
    char text[VALUE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    uint64_t before;
    size_t size;

    rc_format(&arena, "%s %s %U %s", talk->id, talk->own ? "made" : "got", (uint64_t)time(NULL), talk->member->record);
    if (!arena.full && guard_count(&all, guard_rank_key(key, "r", talk->rank), &before) == 0 && before < NOTES_MAX)
        (void)guard_put(&all, note_key(key, talk->rank, (uint32_t)before), rc_str(text), NULL, 0, &size);
}

int guard_await(struct guard_talk *talk, char *done, size_t room, size_t *size)
{
    uint32_t half = talk->member->deadline * 500;
    int rc = guard_get(talk, "done", half, done, room, size);

    if (rc != -ETIMEDOUT)
        return rc;
    leave_note(talk);
    return guard_get(talk, "done", half, done, room, size);
}

/* Whether a process waits as that rank with another id. *value points into `text`. */
static bool is_elsewhere(const struct guard_talk *talk, uint32_t rank, char text[VALUE_SIZE], struct rc_str *value)
{
    struct guard_talk all = of_all(talk);
    char key[GUARD_KEY_SIZE];
    char buffer[VALUE_SIZE];
    struct rc_str rest;
    uint64_t now = (uint64_t)time(NULL);
    uint64_t since;
    size_t size;
    size_t found = 0;

    for (uint32_t i = 0; i < NOTES_MAX; i++) {
        if (!guard_is_there(&all, note_key(key, rank, i), buffer, sizeof(buffer), &size))
            break;
        found = size;
        for (size_t c = 0; c < size; c++)
            text[c] = buffer[c];
    }
    if (!found || rc_str_is(rc_str_split((struct rc_str){ text, found }, ' ', value), talk->id))
        return false;
    rc_str_split(*value, ' ', &rest);
    /* an old value is an earlier program's */
    return rc_parse_u64(rc_str_split(rest, ' ', &rest), UINT64_MAX / 2, &since) &&
           now <= since + 4 * (uint64_t)talk->member->deadline;
}

static bool is_lowest(struct guard_talk *talk)
{
    char text[VALUE_SIZE];
    struct rc_str value;

    for (uint32_t i = 0; i < talk->rank; i++)
        if (i == ABSENT_MAX || guard_has_come(talk, i) || (i < ELSEWHERE_MAX && is_elsewhere(talk, i, text, &value)))
            return false;
    return true;
}

/* "; process 42 on n1 waits as rank 3 with another NCCL id", from the value that it put */
static const char *rank_place(struct guard_talk *talk, uint32_t rank, struct rc_str value)
{
    struct rc_str rest;
    bool made = rc_str_is(rc_str_split(value, ' ', &rest), "made");

    rc_str_split(rest, ' ', &rest);
    return rc_format(&talk->arena, "; %s waits as rank %u with another NCCL id%s",
                     guard_member_name(rest, &talk->arena), rank, made ? ", which it made itself" : "");
}

/* This process's own rank is there: a server that does not say so in time has not said that others are missing. */
static bool is_timely(struct guard_talk *talk)
{
    return guard_has_come(talk, talk->rank);
}

void guard_say_missing(struct guard_talk *talk)
{
    struct rc_range absent[ABSENT_MAX];
    char text[VALUE_SIZE];
    const char *elsewhere = "";
    struct rc_str value;
    size_t count = 0;

    if (!is_timely(talk) || !is_lowest(talk))
        return;
    for (uint32_t i = 0; i < talk->nranks && i < LOOKS_MAX && count < ABSENT_MAX; i++) {
        if (i == talk->rank || guard_has_come(talk, i))
            continue;
        absent[count++] = (struct rc_range){ i, i };
        if (!*elsewhere && count <= ELSEWHERE_MAX && is_elsewhere(talk, i, text, &value))
            elsewhere = rank_place(talk, i, value);
    }
    if (count == 0 || !is_timely(talk))
        return;
    guard_say(
        RC806,
        rc_format(&talk->arena,
                  "%s has waited %u s for an NCCL communicator of all %u processes: no process has joined as rank "
                  "%s%s%s; it goes on waiting in NCCL; %s",
                  guard_member_name(rc_str(talk->member->record), &talk->arena), talk->member->deadline, talk->nranks,
                  rc_compact_ranges(absent, count, RANGES_LIMIT, &talk->arena),
                  count == ABSENT_MAX ? " and perhaps others" : "", elsewhere,
                  *elsewhere ? "give the id of rank 0 to all" : "see what those processes do"));
}
