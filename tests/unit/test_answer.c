/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to the roll call: what is written is read, and nothing else is. */
#include "roll/roll.h"
#include "unit.h"

#define X16(x)  x x x x x x x x x x x x x x x x
#define X256(x) X16(X16(x))

#define ANSWER "answer=1\n"

static const struct unit_text answers[] = {
    { TEXT(ANSWER), "nothing to say" },
    { TEXT(ANSWER "port=24512\n"), "a port" },
    { TEXT(ANSWER "order=2-3x4,0-1x4\nfirst=n3\n"), "an order" },
    { TEXT(ANSWER "unordered=a reason\n"), "no order" },
    { TEXT(ANSWER "port=24512\nown=10.0.0.1,fd00::1\n"), "addresses of RANK 0's node" },
    { TEXT(ANSWER "newer=1\nnewer=2\n"), "names that are not known" },
    { TEXT(ANSWER "finding=RC999 a newer one\n"), "an id that is not known" },
    { TEXT(ANSWER X16("finding=RC103 text\n") "finding=RC103 text\n"), "a finding again and again" },
};

static const struct unit_text no_answers[] = {
    { NO_TEXT, "nothing" },
    { TEXT(""), "an empty text" },
    { TEXT("port=24512\n"), "no head" },
    { TEXT(ANSWER ANSWER), "the head twice" },
    { TEXT(ANSWER "\n"), "an empty line" },
    { TEXT(ANSWER "port=24512\nport=24512\n"), "a port twice" },
    { TEXT(ANSWER "stop=0\n"), "a stop that is none" },
    { TEXT(ANSWER "said=yes\n"), "a word for a flag" },
    { TEXT(ANSWER "finding=RC103\n"), "a finding without a text" },
    { TEXT(ANSWER "finding=RC103 \x1b[2J\n"), "a terminal's escape" },
    { TEXT(ANSWER "finding=RC103 " X16(X256("t")) "\n"), "a finding that is too long" },
    { TEXT(ANSWER "new\0er=1\n"), "a NUL" },
};

static bool reads_answer(struct rc_str input, struct rc_answer *answer, struct rc_arena *arena)
{
    memset(answer, 0x5a, sizeof(*answer));
    return rc_answer_read(unit_guard(input), answer, arena);
}

UNIT_ROWS(is_answer, "an answer:", answers)
{
    UNIT_ARENA(arena,
               RC_FINDINGS_MAX * sizeof("text")); /* an equal text has been copied before it is seen to be equal */
    struct rc_answer answer;

    assert_true(reads_answer(row->input, &answer, &arena));
    assert_int_equal(answer.findings.count, strstr(row->input.p, "RC103") ? 1 : 0);
}

UNIT_ROWS(is_no_answer, "no answer:", no_answers)
{
    UNIT_ARENA(arena, 8192);
    struct rc_answer answer;
    struct rc_answer untouched;

    memset(&untouched, 0x5a, sizeof(untouched));
    assert_false(reads_answer(row->input, &answer, &arena));
    assert_memory_equal(&answer, &untouched, sizeof(answer));
    assert_int_equal(arena.used, 0);
}

UNIT_TEST(answers_and_reads, "an answer is read as it was written")
{
    UNIT_ARENA(arena, 512);
    struct rc_answer answer = { .port = 24512, .stop = true, .said = true };
    const char *written;

    rc_message_add(&answer.findings, RC301, "a warning\nof two lines");
    rc_message_add(&answer.findings, RC103, "an error");
    written = rc_answer_write(&answer, &arena);
    assert_string_equal(written, ANSWER "port=24512\nstop=1\nsaid=1\nfinding=RC301 a warning?of two lines\n"
                                        "finding=RC103 an error\n");
    assert_true(reads_answer(rc_str(written), &answer, &arena));
    assert_int_equal(answer.port, 24512);
    assert_true(answer.stop);
    assert_true(answer.said);
    assert_true(answer.findings.has_error);
    assert_int_equal(answer.findings.count, 2);
    assert_int_equal(answer.findings.list[0].id, RC301);
    assert_string_equal(answer.findings.list[0].text, "a warning?of two lines");
    assert_int_equal(answer.findings.list[1].id, RC103);
    assert_string_equal(answer.findings.list[1].text, "an error");
}

/* As many findings as there may be, each as long as it may be. */
UNIT_TEST(largest_answer_fits, "the largest answer fits, and a small arena is no harm")
{
    static char text[RC_ANSWER_SIZE + 1];
    static char copies[RC_ANSWER_SIZE];
    static char long_text[RC_MESSAGES_MAX][RC_FINDING_MAX + 10];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_arena space = { .base = copies, .size = sizeof(copies) };
    struct rc_arena small = { .base = copies, .size = RC_FINDING_MAX };
    struct rc_answer answer = { .port = 65535, .stop = true, .said = true };
    const char *written;

    for (unsigned i = 0; i < RC_MESSAGES_MAX; i++) {
        memset(long_text[i], 'a' + (int)i, sizeof(long_text[i]) - 1);
        rc_message_add(&answer.findings, RC103, long_text[i]);
    }
    written = rc_answer_write(&answer, &arena);
    assert_non_null(written);
    assert_true(reads_answer(rc_str(written), &answer, &space));
    assert_int_equal(answer.findings.count, RC_FINDINGS_MAX);
    assert_int_equal(strlen(answer.findings.list[0].text), RC_FINDING_MAX);
    assert_false(rc_answer_read(rc_str(written), &answer, &small));
    assert_int_equal(small.used, 0);
    arena = (struct rc_arena){ .base = text, .size = 100 };
    assert_null(rc_answer_write(&answer, &arena));
    assert_int_equal(arena.used, 0);
}
