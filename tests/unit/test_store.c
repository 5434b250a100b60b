/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server keeps for tasks: every question that can be asked, and those that cannot. */
#include "config.h"

#include "rendezvous/store.h"
#include "unit.h"

#define KEY32  "abcdefghijklmnopqrstuvwxyz012345"
#define KEY128 KEY32 KEY32 KEY32 KEY32

static const struct unit_text wrong[] = {
    { TEXT(""), "nothing" },
    { TEXT("store"), "no question" },
    { TEXT("store "), "no verb" },
    { TEXT("store get"), "no key" },
    { TEXT("store get k"), "no end of the line" },
    { TEXT("store get \n"), "an empty key" },
    { TEXT("store get k\nx"), "a value that is asked for" },
    { TEXT("store count k\nx"), "a value that is counted" },
    { TEXT("store put  k\nx"), "a blank in the key" },
    { TEXT("store put k l\nx"), "a blank in the key's middle" },
    { TEXT("store put k\tl\nx"), "a tab" },
    { TEXT("store put k\0l\nx"), "a NUL in the key" },
    { TEXT("store put \xc3\xa4\nx"), "no ASCII" },
    { TEXT("store put k%\nx"), "a percent sign" },
    { TEXT("store take k\n"), "another verb" },
    { TEXT("NOTE get k\n"), "capitals" },
    { TEXT("stores get k\n"), "another word" },
    { TEXT("store get " KEY128 "x\n"), "a key that is too long" },
};

/* The reply's head, and its value; "-" where it is yet to come. */
static const char *ask_text(struct rc_store *store, struct rc_str question)
{
    static char text[RC_STORE_HEAD_MAX + RC_STORE_VALUE_MAX + 1];
    struct rc_store_answer answer;
    size_t head;

    assert_true(rc_store_is_question(question));
    assert_true(rc_store_ask(store, question, &answer));
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

static const char *ask(struct rc_store *store, const char *question)
{
    return ask_text(store, rc_str(question));
}

UNIT_ROWS(check_wrong, "no question", wrong)
{
    struct rc_store *store = rc_store_create();
    struct rc_store_answer answer = { .head = "untouched" };

    assert_non_null(store);
    assert_false(rc_store_ask(store, unit_guard(row->input), &answer));
    assert_string_equal(answer.head, "untouched");
    rc_store_destroy(store);
}

UNIT_TEST(check_put_and_get, "what was put first stays")
{
    struct rc_store *store = rc_store_create();

    assert_string_equal(ask(store, "store get a\n"), "-");
    assert_string_equal(ask(store, "store put a\nfirst"), "store 1\n");
    assert_string_equal(ask(store, "store put a\nsecond"), "store 0\nfirst");
    assert_string_equal(ask(store, "store get a\n"), "store 0\nfirst");
    assert_string_equal(ask(store, "store get b\n"), "-");
    assert_string_equal(ask(store, "store put empty\n"), "store 1\n");
    assert_string_equal(ask(store, "store put empty\nnow"), "store 0\n");
    assert_string_equal(ask(store, "store get empty\n"), "store 0\n");
    assert_string_equal(ask(store, "store put " KEY128 "\nlong"), "store 1\n");
    assert_string_equal(ask(store, "store get " KEY128 "\n"), "store 0\nlong");
    rc_store_destroy(store);
}

UNIT_TEST(check_bytes, "any bytes")
{
    struct rc_store *store = rc_store_create();
    struct rc_store_answer answer;

    assert_string_equal(ask_text(store, RC_STR("store put a\n\0\n\xff\n")), "store 1\n");
    assert_true(rc_store_ask(store, RC_STR("store get a\n"), &answer));
    assert_int_equal(answer.value.n, 4);
    assert_memory_equal(answer.value.p, "\0\n\xff\n", 4);
    rc_store_destroy(store);
}

/* A counter and a value of one name have nothing to do with each other. */
UNIT_TEST(check_count, "a counter")
{
    struct rc_store *store = rc_store_create();

    assert_string_equal(ask(store, "store count a\n"), "store 0\n");
    assert_string_equal(ask(store, "store count a\n"), "store 1\n");
    assert_string_equal(ask(store, "store count b\n"), "store 0\n");
    assert_string_equal(ask(store, "store get a\n"), "-");
    assert_string_equal(ask(store, "store put a\nx"), "store 1\n");
    assert_string_equal(ask(store, "store count a\n"), "store 2\n");
    rc_store_destroy(store);
}

UNIT_TEST(check_waiting, "who waits for a note")
{
    struct rc_store *store = rc_store_create();
    struct rc_link one = { .queue = NULL };
    struct rc_link two = { .queue = NULL };
    struct rc_store_answer answer;

    assert_true(rc_store_ask(store, RC_STR("store get a\n"), &answer));
    rc_queue_join(answer.waiting, &one);
    assert_true(rc_store_ask(store, RC_STR("store get b\n"), &answer));
    rc_queue_join(answer.waiting, &two);
    assert_true(rc_store_ask(store, RC_STR("store put b\nx"), &answer));
    assert_ptr_equal(answer.waiting->first, &two);
    assert_ptr_not_equal(one.queue, two.queue);
    rc_queue_leave(&two);
    rc_queue_leave(&one);
    rc_store_destroy(store);
}

/* The largest value, until there is no room: what is there stays, and can be read. */
UNIT_TEST(check_full, "no room")
{
    struct rc_store *store = rc_store_create();
    char *question = malloc(64 + RC_STORE_VALUE_MAX + 1);
    unsigned many = RC_STORE_SIZE_MAX / RC_STORE_VALUE_MAX;
    struct rc_store_answer answer;
    unsigned put = 0;
    int head;

    assert_non_null(question);
    for (unsigned i = 0; i <= many; i++) {
        head = snprintf(question, 64, "store put k%u\n", i);
        memset(question + head, 'x', RC_STORE_VALUE_MAX + 1);
        assert_false(rc_store_ask(store, (struct rc_str){ question, (size_t)head + RC_STORE_VALUE_MAX + 1 }, &answer));
        assert_true(rc_store_ask(store, (struct rc_str){ question, (size_t)head + RC_STORE_VALUE_MAX }, &answer));
        if (strcmp(answer.head, "store full\n") == 0)
            break;
        assert_string_equal(answer.head, "store 1\n");
        put++;
    }
    assert_in_range(put, many - many / 10, many - 1);
    assert_true(rc_store_ask(store, RC_STR("store get k0\n"), &answer));
    assert_int_equal(answer.value.n, RC_STORE_VALUE_MAX);
    /* a rank that waits for what nobody can put gets an answer, too: each key takes room */
    for (unsigned i = 0; i <= RC_STORE_VALUE_MAX; i++) {
        head = snprintf(question, 64, "store get g%u\n", i);
        assert_true(rc_store_ask(store, (struct rc_str){ question, (size_t)head }, &answer));
        if (!answer.waiting)
            break;
    }
    assert_string_equal(answer.head, "store full\n");
    rc_store_destroy(store);
    free(question);
}
