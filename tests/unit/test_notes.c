/* SPDX-License-Identifier: BSD-3-Clause */
/* What a desk keeps for tasks: every question that can be asked, and those that cannot. */
#include "config.h"

#include "rendezvous/store.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY32  "abcdefghijklmnopqrstuvwxyz012345"
#define KEY128 KEY32 KEY32 KEY32 KEY32

struct row {
    struct rc_str input;
    const char *why;
};

static const struct row wrong[] = {
    { TEXT(""), "nothing" },
    { TEXT("note"), "no question" },
    { TEXT("note "), "no verb" },
    { TEXT("note get"), "no key" },
    { TEXT("note get k"), "no end of the line" },
    { TEXT("note get \n"), "an empty key" },
    { TEXT("note get k\nx"), "a value that is asked for" },
    { TEXT("note count k\nx"), "a value that is counted" },
    { TEXT("note put  k\nx"), "a blank in the key" },
    { TEXT("note put k l\nx"), "a blank in the key's middle" },
    { TEXT("note put k\tl\nx"), "a tab" },
    { TEXT("note put k\0l\nx"), "a NUL in the key" },
    { TEXT("note put \xc3\xa4\nx"), "no ASCII" },
    { TEXT("note put k%\nx"), "a percent sign" },
    { TEXT("note take k\n"), "another verb" },
    { TEXT("NOTE get k\n"), "capitals" },
    { TEXT("notes get k\n"), "another word" },
    { TEXT("note get " KEY128 "x\n"), "a key that is too long" },
};

/* The reply's head, and its value; "-" where it is yet to come. */
static const char *ask_text(struct rc_notes *notes, struct rc_str question)
{
    static char text[RC_NOTES_HEAD_MAX + RC_NOTES_VALUE_MAX + 1];
    struct rc_notes_answer answer;
    size_t head;

    assert_true(rc_notes_is_question(question));
    assert_true(rc_notes_ask(notes, question, &answer));
    head = strlen(answer.head);
    if (head == 0) {
        assert_non_null(answer.waiting);
        return "-";
    }
    memcpy(text, answer.head, head);
    if (answer.value.n)
        memcpy(text + head, answer.value.p, answer.value.n);
    text[head + answer.value.n] = '\0';
    return text;
}

static const char *ask(struct rc_notes *notes, const char *question)
{
    return ask_text(notes, rc_str(question));
}

static void check_wrong(const void *data)
{
    const struct row *row = data;
    struct rc_notes *notes = rc_notes_create();
    struct rc_notes_answer answer = { .head = "untouched" };

    assert_non_null(notes);
    assert_false(rc_notes_ask(notes, unit_guard(row->input), &answer));
    assert_string_equal(answer.head, "untouched");
    rc_notes_destroy(notes);
}

static void check_put_and_get(const void *data)
{
    struct rc_notes *notes = rc_notes_create();

    (void)data;
    assert_string_equal(ask(notes, "note get a\n"), "-");
    assert_string_equal(ask(notes, "note put a\nfirst"), "note 1\n");
    assert_string_equal(ask(notes, "note put a\nsecond"), "note 0\nfirst");
    assert_string_equal(ask(notes, "note get a\n"), "note 0\nfirst");
    assert_string_equal(ask(notes, "note get b\n"), "-");
    assert_string_equal(ask(notes, "note put empty\n"), "note 1\n");
    assert_string_equal(ask(notes, "note put empty\nnow"), "note 0\n");
    assert_string_equal(ask(notes, "note get empty\n"), "note 0\n");
    assert_string_equal(ask(notes, "note put " KEY128 "\nlong"), "note 1\n");
    assert_string_equal(ask(notes, "note get " KEY128 "\n"), "note 0\nlong");
    rc_notes_destroy(notes);
}

static void check_bytes(const void *data)
{
    struct rc_notes *notes = rc_notes_create();
    struct rc_notes_answer answer;

    (void)data;
    assert_string_equal(ask_text(notes, RC_STR("note put a\n\0\n\xff\n")), "note 1\n");
    assert_true(rc_notes_ask(notes, RC_STR("note get a\n"), &answer));
    assert_int_equal(answer.value.n, 4);
    assert_memory_equal(answer.value.p, "\0\n\xff\n", 4);
    rc_notes_destroy(notes);
}

/* A counter and a value of one name have nothing to do with each other. */
static void check_count(const void *data)
{
    struct rc_notes *notes = rc_notes_create();

    (void)data;
    assert_string_equal(ask(notes, "note count a\n"), "note 0\n");
    assert_string_equal(ask(notes, "note count a\n"), "note 1\n");
    assert_string_equal(ask(notes, "note count b\n"), "note 0\n");
    assert_string_equal(ask(notes, "note get a\n"), "-");
    assert_string_equal(ask(notes, "note put a\nx"), "note 1\n");
    assert_string_equal(ask(notes, "note count a\n"), "note 2\n");
    rc_notes_destroy(notes);
}

static void check_waiting(const void *data)
{
    struct rc_notes *notes = rc_notes_create();
    struct rc_link one = { .queue = NULL };
    struct rc_link two = { .queue = NULL };
    struct rc_notes_answer answer;

    (void)data;
    assert_null(rc_notes_first_waiting(notes));
    assert_true(rc_notes_ask(notes, RC_STR("note get a\n"), &answer));
    rc_queue_join(answer.waiting, &one);
    assert_true(rc_notes_ask(notes, RC_STR("note get b\n"), &answer));
    rc_queue_join(answer.waiting, &two);
    assert_non_null(rc_notes_first_waiting(notes));
    assert_true(rc_notes_ask(notes, RC_STR("note put b\nx"), &answer));
    assert_ptr_equal(answer.waiting->first, &two);
    rc_queue_leave(&two);
    assert_ptr_equal(rc_notes_first_waiting(notes), &one);
    rc_queue_leave(&one);
    assert_null(rc_notes_first_waiting(notes));
    rc_notes_destroy(notes);
}

/* The largest value, until there is no room: what is there stays, and can be read. */
static void check_full(const void *data)
{
    struct rc_notes *notes = rc_notes_create();
    char *question = malloc(64 + RC_NOTES_VALUE_MAX + 1);
    unsigned many = RC_NOTES_SIZE_MAX / RC_NOTES_VALUE_MAX;
    struct rc_notes_answer answer;
    unsigned put = 0;
    int head;

    (void)data;
    assert_non_null(question);
    for (unsigned i = 0; i <= many; i++) {
        head = snprintf(question, 64, "note put k%u\n", i);
        memset(question + head, 'x', RC_NOTES_VALUE_MAX + 1);
        assert_false(rc_notes_ask(notes, (struct rc_str){ question, (size_t)head + RC_NOTES_VALUE_MAX + 1 }, &answer));
        assert_true(rc_notes_ask(notes, (struct rc_str){ question, (size_t)head + RC_NOTES_VALUE_MAX }, &answer));
        if (strcmp(answer.head, "note full\n") == 0)
            break;
        assert_string_equal(answer.head, "note 1\n");
        put++;
    }
    assert_in_range(put, many - many / 10, many - 1);
    assert_true(rc_notes_ask(notes, RC_STR("note get k0\n"), &answer));
    assert_int_equal(answer.value.n, RC_NOTES_VALUE_MAX);
    rc_notes_destroy(notes);
    free(question);
}

int main(void)
{
    UNIT_TABLE(check_wrong, "no question", wrong);
    unit_add_one(check_put_and_get, "what was put first stays");
    unit_add_one(check_bytes, "any bytes");
    unit_add_one(check_count, "a counter");
    unit_add_one(check_waiting, "who waits for a note");
    unit_add_one(check_full, "no room");
    return unit_run("notes");
}
