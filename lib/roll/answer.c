/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/answer.h"

#include "base/pairs.h"
#include "roll/netorder.h"

#define HEAD "answer=1\n"

static void put_findings(struct rc_arena *arena, const struct rc_messages *findings)
{
    for (unsigned i = 0; i < findings->count && i < RC_FINDINGS_MAX; i++) {
        if (!findings->list[i].text[0])
            continue;
        rc_format(arena, "finding=%s ", rc_message_entry(findings->list[i].id)->id);
        rc_join(arena);
        rc_lines_put_value(arena, rc_str(findings->list[i].text), RC_FINDING_MAX);
    }
}

const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena)
{
    size_t start;

    if (!rc_lines_begin(arena, HEAD, &start))
        return NULL;
    if (answer->port)
        rc_lines_put_number(arena, "port", answer->port);
    if (answer->stop)
        rc_lines_put_number(arena, "stop", 1);
    if (answer->said)
        rc_lines_put_number(arena, "said", 1);
    rc_lines_put(arena, "order", answer->order, RC_NETORDER_MAX);
    rc_lines_put(arena, "first", answer->first, RC_FINDING_MAX);
    rc_lines_put(arena, "unordered", answer->unordered, RC_FINDING_MAX);
    rc_lines_put(arena, "own", answer->own, RC_FINDING_MAX);
    if (answer->has_seat) {
        rc_format(arena, "seat=%u %u\n", answer->place, answer->before);
        rc_join(arena);
    }
    put_findings(arena, &answer->findings);
    return rc_lines_end(arena, start);
}

/* "RC601": three digits, the first of which is a hundred. */
static bool is_id(struct rc_str id)
{
    return id.n == 5 && rc_str_starts(id, "RC") && id.p[2] >= '1' && id.p[2] <= '9' && id.p[3] >= '0' &&
           id.p[3] <= '9' && id.p[4] >= '0' && id.p[4] <= '9';
}

/* Those beyond RC_FINDINGS_MAX, and ids that this rollcall does not have, are skipped. */
static bool take_finding(struct rc_messages *findings, unsigned *count, struct rc_str value, struct rc_arena *arena)
{
    struct rc_str text;
    struct rc_str name = rc_str_split(value, ' ', &text);

    if (!is_id(name) || !text.p || text.n == 0 || text.n > RC_FINDING_MAX)
        return false;
    if (++*count > RC_FINDINGS_MAX)
        return true;
    for (unsigned id = 0; id < RC_MESSAGE_COUNT; id++)
        if (rc_str_is(name, rc_message_entry((enum rc_message_id)id)->id))
            rc_message_add(findings, (enum rc_message_id)id, rc_copy(arena, text));
    return !arena->full;
}

/* "1", and for the first time. */
static bool take_flag(struct rc_str value, bool *flag)
{
    if (*flag || !rc_str_is(value, "1"))
        return false;
    *flag = true;
    return true;
}

/* A text, for the first time. */
static bool take_text(struct rc_str value, struct rc_str *text)
{
    if (text->p)
        return false;
    *text = value;
    return true;
}

static bool take_seat(struct rc_answer *answer, struct rc_str value)
{
    struct rc_str before;
    struct rc_str place = rc_str_split(value, ' ', &before);

    if (answer->has_seat || !rc_parse_u32(place, RC_MAX_TASKS, &answer->place) ||
        !rc_parse_u32(before, RC_MAX_TASKS, &answer->before))
        return false;
    answer->has_seat = true;
    return true;
}

bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena)
{
    struct rc_answer found = { .port = 0 };
    size_t start = arena->used;
    uint32_t port = RC_UNKNOWN;
    unsigned count = 0;
    struct rc_str name;
    struct rc_str value;
    bool good = rc_lines_read_head(&text, HEAD, RC_ANSWER_SIZE);

    while (good && text.n > 0) {
        good = rc_lines_next(&text, &name, &value);
        if (!good)
            break;
        if (rc_str_is(name, "port"))
            good = rc_lines_read_number(value, UINT16_MAX, &port) && port > 0;
        else if (rc_str_is(name, "stop"))
            good = take_flag(value, &found.stop);
        else if (rc_str_is(name, "said"))
            good = take_flag(value, &found.said);
        else if (rc_str_is(name, "order"))
            good = take_text(value, &found.order);
        else if (rc_str_is(name, "first"))
            good = take_text(value, &found.first);
        else if (rc_str_is(name, "unordered"))
            good = take_text(value, &found.unordered);
        else if (rc_str_is(name, "own"))
            good = take_text(value, &found.own);
        else if (rc_str_is(name, "seat"))
            good = take_seat(&found, value);
        else if (rc_str_is(name, "finding"))
            good = take_finding(&found.findings, &count, value, arena);
        else
            good = !rc_str_is(name, "answer");
    }
    if (!good) {
        arena->used = start;
        return false;
    }
    found.port = port == RC_UNKNOWN ? 0 : (uint16_t)port;
    *answer = found;
    return true;
}
