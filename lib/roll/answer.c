/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/answer.h"

#include "base/pairs.h"
#include "roll/netorder.h"

/* The first is also what is written. */
struct reading {
    struct rc_answer answer;
    unsigned findings;
    struct rc_arena *arena; /* for their texts */
};

/* "RC601": three digits, the first of which is a hundred. */
static bool is_id(struct rc_str id)
{
    return id.n == 5 && rc_str_starts(id, "RC") && id.p[2] >= '1' && id.p[2] <= '9' && id.p[3] >= '0' &&
           id.p[3] <= '9' && id.p[4] >= '0' && id.p[4] <= '9';
}

/* Those beyond RC_FINDINGS_MAX, and ids that this rollcall does not have, are skipped. */
static bool take_finding(struct rc_str value, void *to)
{
    struct reading *reading = to;
    struct rc_str text;
    struct rc_str name = rc_str_split(value, ' ', &text);

    if (!is_id(name) || !text.p || text.n == 0 || text.n > RC_FINDING_MAX)
        return false;
    if (++reading->findings > RC_FINDINGS_MAX)
        return true;
    for (unsigned id = 0; id < RC_MESSAGE_COUNT; id++)
        if (rc_str_is(name, rc_message_entry((enum rc_message_id)id)->id))
            rc_message_add(&reading->answer.findings, (enum rc_message_id)id, rc_copy(reading->arena, text));
    return !reading->arena->full;
}

static void put_findings(struct rc_arena *arena, const void *from)
{
    const struct rc_messages *findings = &((const struct rc_answer *)from)->findings;

    for (unsigned i = 0; i < findings->count && i < RC_FINDINGS_MAX; i++) {
        if (!findings->list[i].text[0])
            continue;
        rc_format(arena, "finding=%s ", rc_message_entry(findings->list[i].id)->id);
        rc_join(arena);
        rc_pairs_put_value(arena, rc_str(findings->list[i].text), RC_FINDING_MAX);
    }
}

static bool take_seat(struct rc_str value, void *to)
{
    struct rc_answer *answer = to;
    struct rc_str before;
    struct rc_str place = rc_str_split(value, ' ', &before);

    answer->has_seat = rc_parse_u32(place, RC_MAX_TASKS, &answer->place) &&
                       rc_parse_u32(before, RC_MAX_TASKS, &answer->before);
    return answer->has_seat;
}

static void put_seat(struct rc_arena *arena, const void *from)
{
    const struct rc_answer *answer = from;

    if (!answer->has_seat)
        return;
    rc_format(arena, "seat=%u %u\n", answer->place, answer->before);
    rc_join(arena);
}

static const struct rc_row rows[] = {
    RC_ROW_NUMBER(struct rc_answer, port, 1, UINT16_MAX),
    RC_ROW_FLAG(struct rc_answer, stop, "1"),
    RC_ROW_FLAG(struct rc_answer, said, "1"),
    RC_ROW_TEXT(struct rc_answer, order, RC_NETORDER_MAX),
    RC_ROW_TEXT(struct rc_answer, first, RC_FINDING_MAX),
    RC_ROW_TEXT(struct rc_answer, unordered, RC_FINDING_MAX),
    RC_ROW_TEXT(struct rc_answer, own, RC_FINDING_MAX),
    RC_ROW_OWN("seat", take_seat, put_seat),
    RC_ROW_MANY("finding", take_finding, put_findings),
};

static const struct rc_form form = { .head = "answer", .most = RC_ANSWER_SIZE, RC_FORM_ROWS(rows) };

const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena)
{
    return rc_pairs_write(&form, answer, arena);
}

bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena)
{
    struct reading reading = { .arena = arena };
    size_t start = arena->used;

    if (!rc_pairs_read(text, '\n', &form, &reading)) {
        arena->used = start;
        return false;
    }
    *answer = reading.answer;
    return true;
}
