/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/notices.h"

#include <string.h>

#include "base/pairs.h"

/* srun ends the step ~0.3 s after the first failure. Otherwise wait this long for more failures. */
enum { SETTLE_MS = 2000, NAME_MAX = 64, ERROR_MAX = 300, LATER_SHOWN = 64, PATH_MAX_SHOWN = 512 };

static const struct rc_row rows[] = {
    RC_ROW_NUMBER(struct rc_failure, task, 0, RC_MAX_TASKS - 1),
    RC_ROW_NUMBER(struct rc_failure, rank, 0, RC_MAX_TASKS - 1),
    RC_ROW_NUMBER(struct rc_failure, size, 1, RC_MAX_TASKS),
    RC_ROW_NUMBER(struct rc_failure, attempt, 0, UINT16_MAX),
    RC_ROW_FLAG(struct rc_failure, killed, "yes"),
    RC_ROW_TEXT(struct rc_failure, host, NAME_MAX),
    RC_ROW_TEXT(struct rc_failure, error, ERROR_MAX),
    RC_ROW_TEXT(struct rc_failure, output, PATH_MAX_SHOWN),
};

static const struct rc_form form = { .head = "raised", .most = RC_FAILURE_SIZE, RC_FORM_ROWS(rows) };

static bool read_failure(struct rc_str text, struct rc_failure *failure)
{
    *failure = (struct rc_failure){ .task = RC_UNKNOWN, .rank = RC_UNKNOWN, .size = RC_UNKNOWN };
    return rc_pairs_read(text, '\n', &form, failure) && failure->task != RC_UNKNOWN && failure->error.n;
}

bool rc_failures_are_alike(struct rc_str a, struct rc_str b)
{
    while (a.n && b.n) {
        if (rc_is_digit(*a.p) && rc_is_digit(*b.p)) {
            for (; a.n && rc_is_digit(*a.p); a.p++)
                a.n--;
            for (; b.n && rc_is_digit(*b.p); b.p++)
                b.n--;
        } else if (*a.p++ != *b.p++) {
            return false;
        } else {
            a.n--;
            b.n--;
        }
    }
    return !a.n && !b.n;
}

/* Copy the text; *place points into the copy. */
static void keep(struct rc_failures *failures, struct rc_failure *place, struct rc_str text)
{
    char *room = failures->text[place == &failures->next];

    memcpy(room, text.p, text.n);
    read_failure((struct rc_str){ room, text.n }, place);
}

static void begin(struct rc_failures *failures, struct rc_str text, int64_t now)
{
    uint32_t attempt = failures->first.attempt;

    *failures = (struct rc_failures){ .since = now, .alike = 1 };
    keep(failures, &failures->first, text);
    /* torchrun reports a signal without the attempt */
    if (failures->first.attempt < attempt)
        failures->first.attempt = attempt;
}

bool rc_failures_take(struct rc_failures *failures, struct rc_str text, int64_t now)
{
    struct rc_failure failure;

    if (!read_failure(text, &failure))
        return false;
    /* torchrun restarted its workers; or it reported ~0.3 s late the worker whose end by a signal caused the others'
     * exceptions */
    if (!failures->alike || failure.attempt > failures->first.attempt ||
        (failure.killed && !failures->first.killed && !failures->said)) {
        begin(failures, text, now);
    } else if (rc_failures_are_alike(failure.error, failures->first.error)) {
        failures->alike++;
    } else if (!failures->next.error.n) {
        failures->after = now - failures->since;
        keep(failures, &failures->next, text);
    }
    return true;
}

int64_t rc_failures_due(const struct rc_failures *failures)
{
    return failures->alike && !failures->said ? failures->since + SETTLE_MS : INT64_MAX;
}

/* Return "rank 3 on n2". */
static const char *name_process(const struct rc_failure *failure, struct rc_arena *arena)
{
    bool has_rank = failure->rank != RC_UNKNOWN;

    return rc_format(arena, "%s %u%s%pS", has_rank ? "rank" : "task", has_rank ? failure->rank : failure->task,
                     failure->host.n ? " on " : "", &failure->host);
}

/* Shorten the error of a consequence: gloo's have 200 characters. */
static const char *begin_of(struct rc_str error, struct rc_arena *arena)
{
    struct rc_str shown = { error.p, error.n < LATER_SHOWN ? error.n : LATER_SHOWN };

    return rc_format(arena, "%pS%s", &shown, shown.n < error.n ? "..." : "");
}

/* Name the first failure, or the number of equal failures, whose order is unknown. */
static const char *name_first(const struct rc_failures *failures, struct rc_arena *arena)
{
    const struct rc_failure *first = &failures->first;
    const char *process = name_process(first, arena);

    if (failures->alike == 1)
        return rc_format(arena, first->killed ? "a signal ended %s" : "the first exception came from %s", process);
    if (first->size == RC_UNKNOWN)
        return rc_format(arena, "%u processes failed alike, %s among them", failures->alike, process);
    return rc_format(arena, "%u of %u ranks failed alike, %s among them", failures->alike, first->size, process);
}

const char *rc_failures_say(struct rc_failures *failures, struct rc_arena *arena)
{
    const struct rc_failure *first = &failures->first;
    const struct rc_failure *next = &failures->next;
    uint32_t tenths = (uint32_t)((failures->after + 50) / 100);
    const char *later = "";

    if (!failures->alike || failures->said)
        return NULL;
    failures->said = true;
    if (next->error.n)
        later = rc_format(arena, "; %u.%u s later %s: %s", tenths / 10, tenths % 10, name_process(next, arena),
                          begin_of(next->error, arena));
    return rc_format(arena, "%s: %pS%s; begin with its output%s%pS", name_first(failures, arena), &first->error, later,
                     first->output.n ? ", " : "", &first->output);
}
