/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/record.h"

#include "base/lines.h"
#include "roll/answer.h"

const char *rc_record_write(const struct rc_record *record, struct rc_arena *arena)
{
    size_t start;

    if (!rc_lines_begin(arena, RC_RECORD_HEAD, &start))
        return NULL;
    rc_lines_put(arena, "step", record->step, RC_RECORD_STEP_MAX);
    if (record->deadline)
        rc_lines_put_number(arena, "deadline", record->deadline);
    if (record->stop)
        rc_lines_put_number(arena, "stop", 1);
    rc_findings_put(arena, "said", &record->said);
    return rc_lines_end(arena, start);
}

/* A record that is being read. */
struct reading {
    struct rc_record record;
    uint32_t deadline;
    uint32_t stop;
    unsigned said;
    struct rc_arena *arena;
};

static bool take_step(struct rc_record *record, struct rc_str value)
{
    if (record->step.p || value.n > RC_RECORD_STEP_MAX)
        return false;
    record->step = value;
    return true;
}

static bool take_line(struct reading *r, struct rc_str name, struct rc_str value)
{
    if (rc_str_is(name, "step"))
        return take_step(&r->record, value);
    if (rc_str_is(name, "deadline"))
        return rc_lines_read_number(value, UINT16_MAX, &r->deadline);
    if (rc_str_is(name, "stop"))
        return rc_lines_read_number(value, 1, &r->stop);
    if (rc_str_is(name, "said"))
        return rc_findings_take(&r->record.said, &r->said, value, r->arena);
    return !rc_str_is(name, "record");
}

bool rc_record_read(struct rc_str text, struct rc_record *record, struct rc_arena *arena)
{
    struct reading r = { .deadline = RC_UNKNOWN, .stop = RC_UNKNOWN, .arena = arena };
    size_t start = arena->used;
    struct rc_str name;
    struct rc_str value;
    bool good = rc_lines_read_head(&text, RC_RECORD_HEAD, RC_RECORD_SIZE);

    while (good && text.n > 0)
        good = rc_lines_next(&text, &name, &value) && take_line(&r, name, value);
    if (!good || !r.record.step.p) {
        arena->used = start;
        return false;
    }
    if (r.deadline != RC_UNKNOWN)
        r.record.deadline = r.deadline;
    r.record.stop = r.stop == 1;
    *record = r.record;
    return true;
}
