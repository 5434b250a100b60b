/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a step: what is written is read, and nothing else is. */
#include "roll/record.h"
#include "unit.h"

#include <string.h>

struct row {
    struct rc_str input;
    const char *why;
};

#define RECORD "record=1\n"

static const struct row records[] = {
    { TEXT(RECORD "step=42.0\n"), "a step" },
    { TEXT(RECORD "step=42.0\ndeadline=10\nstop=1\nsaid=RC707 text\nsaid=RC708 text\n"), "all there is" },
    { TEXT(RECORD "step=42.0\nnewer=1\nsaid=RC999 a newer one\n"), "what is not known" },
};

static const struct row no_records[] = {
    { NO_TEXT, "nothing" },
    { TEXT(""), "an empty text" },
    { TEXT(RECORD), "no step" },
    { TEXT("step=42.0\n"), "no head" },
    { TEXT(RECORD RECORD "step=42.0\n"), "the head twice" },
    { TEXT(RECORD "step=42.0"), "a last line without its end" },
    { TEXT(RECORD "step=42.0\nstep=42.0\n"), "a step twice" },
    { TEXT(RECORD "step=123456789012345678901234567890.0\n"), "a step that is too long" },
    { TEXT(RECORD "step=42.0\ndeadline=x\n"), "a deadline that is none" },
    { TEXT(RECORD "step=42.0\nstop=2\n"), "a stop that is none" },
    { TEXT(RECORD "step=42.0\nsaid=text\n"), "a message without an id" },
};

static void reads(const void *data)
{
    const struct row *row = data;
    char text[1024];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_record record, again;
    const char *written;

    assert_true(rc_record_read(unit_guard(row->input), &record, &arena));
    assert_true(rc_str_is(record.step, "42.0"));
    written = rc_record_write(&record, &arena);
    assert_non_null(written);
    assert_true(rc_record_read(rc_str(written), &again, &arena));
    assert_int_equal(again.deadline, record.deadline);
    assert_int_equal(again.stop, record.stop);
    assert_int_equal(again.said.count, record.said.count);
}

static void refuses(const void *data)
{
    const struct row *row = data;
    char text[1024];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_record record = { .deadline = 7 };

    assert_false(rc_record_read(unit_guard(row->input), &record, &arena));
    assert_int_equal(record.deadline, 7);
    assert_int_equal(arena.used, 0);
}

static void reads_all(const void *data)
{
    char text[256];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_record record;

    (void)data;
    assert_true(rc_record_read(records[1].input, &record, &arena));
    assert_int_equal(record.deadline, 10);
    assert_true(record.stop);
    assert_int_equal(record.said.list[1].id, RC708);
    assert_string_equal(record.said.list[1].text, "text");
}

int main(void)
{
    UNIT_TABLE(reads, "reads:", records);
    UNIT_TABLE(refuses, "refuses:", no_records);
    unit_add_one(reads_all, "every value");
    return unit_run("record");
}
