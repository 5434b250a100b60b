/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages: the catalogue's rows, and the list that a result carries. */
#include "base/message.h"
#include "cli/cli.h"
#include "unit.h"

#include <ctype.h>

static const struct {
    struct rc_str input; /* the id as the catalogue has it */
    enum rc_message_id id;
    const char *why;
} rows[] = {
#define ROLLCALL_MESSAGE(id, level, said, cause, cure) { TEXT(#id), id, cause },
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
};

/* One line each, lower case, no full stop: they are printed after an id. */
static void check_line(const char *text)
{
    size_t n = strlen(text);

    assert_in_range(n, 10, 160);
    for (size_t i = 0; i < n; i++)
        assert_true(text[i] >= ' ' && text[i] < 0x7f);
    assert_false(isspace((unsigned char)text[0]) || isspace((unsigned char)text[n - 1]));
    assert_int_not_equal(text[n - 1], '.');
    /* proper names (MASTER_ADDR, Slurm, PMIx) may begin a line, articles not */
    assert_int_not_equal(strncmp(text, "A ", 2), 0);
    assert_int_not_equal(strncmp(text, "The ", 4), 0);
}

UNIT_ROWS(is_in_catalogue, "the catalogue has", rows)
{
    const struct rc_message_entry *entry = rc_message_entry(row->id);
    const struct cli_catalogue_entry *words = cli_catalogue_message(row->id);
    char series;

    assert_string_equal(entry->id, row->input.p);
    assert_int_equal(sscanf(entry->id, "RC%c%*2[0-9]%c", &series, &series), 1);
    assert_in_range(series, '1', '9');
    /* an array: an id that just fits would have no end */
    assert_non_null(memchr(entry->id, '\0', sizeof(entry->id)));
    assert_string_equal(words->cause, row->why);
    check_line(words->cause);
    check_line(words->cure);
    assert_in_range(entry->level, RC_LEVEL_NOTE, RC_LEVEL_ERROR);
}

static const struct {
    struct rc_str input;
    enum rc_message_id id;
    enum rc_level level;
    enum rc_said said;
    const char *why;
} said[] = {
    { TEXT("RC101"), RC101, RC_LEVEL_ERROR, RC_SAID_PER_NODE, "a task's own number is wrong" },
    { TEXT("RC107"), RC107, RC_LEVEL_NOTE, RC_SAID_PER_TASK, "a note" },
    { TEXT("RC301"), RC301, RC_LEVEL_WARNING, RC_SAID_PER_LAUNCH, "advice on the layout" },
    { TEXT("RC401"), RC401, RC_LEVEL_WARNING, RC_SAID_PER_LAUNCH, "a value was replaced" },
    { TEXT("RC405"), RC405, RC_LEVEL_ERROR, RC_SAID_PER_NODE, "one node's port" },
    { TEXT("RC611"), RC611, RC_LEVEL_WARNING, RC_SAID_PER_NODE, "one node cannot reach the others" },
    { TEXT("RC612"), RC612, RC_LEVEL_ERROR, RC_SAID_PER_LAUNCH, "all nodes stop for one reason" },
    { TEXT("RC617"), RC617, RC_LEVEL_ERROR, RC_SAID_PER_TASK, "a call of the library fails" },
    { TEXT("RC914"), RC914, RC_LEVEL_WARNING, RC_SAID_PER_TASK, "one daemon's tasks alone know" },
    { TEXT("RC906"), RC906, RC_LEVEL_WARNING, RC_SAID_PER_LAUNCH, "a part of the GPUs may be meant" },
    { TEXT("RC915"), RC915, RC_LEVEL_WARNING, RC_SAID_PER_LAUNCH, "srun was told so for all" },
};

UNIT_ROWS(is_said_so, "says who says", said)
{
    const struct rc_message_entry *entry = rc_message_entry(row->id);

    assert_int_equal(entry->level, row->level);
    assert_int_equal(entry->said, row->said);
}

/* The options are the same for all tasks of a launch, so one line is enough. An administrator may have switched
 * rollcall off on some nodes alone (RC206). */
UNIT_TEST(options_are_the_launchs, "errors of options are said once")
{
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        if (strncmp(rows[i].input.p, "RC2", 3) == 0 && rows[i].id != RC206)
            assert_int_equal(rc_message_entry(rows[i].id)->said, RC_SAID_PER_LAUNCH);
}

UNIT_TEST(is_sorted, "the catalogue is sorted, no id comes twice")
{
    assert_int_equal(UNIT_COUNT(rows), RC_MESSAGE_COUNT);
    for (size_t i = 1; i < UNIT_COUNT(rows); i++)
        if (strcmp(rows[i - 1].input.p, rows[i].input.p) >= 0)
            fail_msg("%s comes before %s", rows[i - 1].input.p, rows[i].input.p);
}

UNIT_TEST(names_levels, "every level has its name")
{
    assert_string_equal(rc_level_name(RC_LEVEL_NOTE), "note");
    assert_string_equal(rc_level_name(RC_LEVEL_WARNING), "warning");
    assert_string_equal(rc_level_name(RC_LEVEL_ERROR), "error");
}

UNIT_TEST(adds, "messages are kept in order")
{
    struct rc_messages messages = { .count = 0 };

    rc_message_add(&messages, RC107, "a note");
    rc_message_add(&messages, RC301, "a warning");
    assert_int_equal(messages.count, 2);
    assert_false(messages.has_error);
    assert_int_equal(messages.list[1].id, RC301);
    assert_string_equal(messages.list[1].text, "a warning");
    rc_message_add(&messages, RC101, "an error");
    assert_int_equal(messages.count, 3);
    assert_true(messages.has_error);
}

UNIT_TEST(adds_once, "the same text of the same id is added once")
{
    struct rc_messages messages = { .count = 0 };

    rc_message_add(&messages, RC101, "RANK is 'x'");
    rc_message_add(&messages, RC101, unit_guard_string("RANK is 'x'"));
    assert_int_equal(messages.count, 1);
    rc_message_add(&messages, RC101, "RANK is 'y'");
    assert_int_equal(messages.count, 2);
    rc_message_add(&messages, RC102, "RANK is 'x'");
    assert_int_equal(messages.count, 3);
}

UNIT_TEST(says_in_its_arena, "a message is formatted into the list's arena")
{
    UNIT_ARENA(arena, 64);
    struct rc_messages messages = { .arena = &arena };
    struct rc_str value = RC_STR("a\nb");

    assert_false(rc_say(&messages, RC101, "%s is %pQ, not %u", "RANK", &value, (uint32_t)7));
    assert_true(messages.has_error);
    assert_int_equal(messages.count, 1);
    assert_ptr_equal(messages.list[0].text, arena.base);
    assert_string_equal(arena.base, "RANK is 'a\\x0ab', not 7");
}

/* A hostile environment may cause any number of messages. */
UNIT_TEST(drops_the_rest, "what does not fit is dropped, but not that there was an error")
{
    struct rc_messages *messages = unit_guard_memory(sizeof(*messages));
    char text[RC_MESSAGES_MAX + 10][24];

    memset(messages, 0, sizeof(*messages));
    for (unsigned i = 0; i < UNIT_COUNT(text); i++) {
        snprintf(text[i], sizeof(text[i]), "note %u", i);
        rc_message_add(messages, RC107, text[i]);
    }
    assert_int_equal(messages->count, RC_MESSAGES_MAX);
    assert_string_equal(messages->list[RC_MESSAGES_MAX - 1].text, text[RC_MESSAGES_MAX - 1]);
    assert_false(messages->has_error);
    rc_message_add(messages, RC101, "an error that finds no room");
    assert_int_equal(messages->count, RC_MESSAGES_MAX);
    assert_true(messages->has_error);
}

static const struct {
    struct rc_str input; /* the text */
    enum rc_level level;
    size_t room;
    const char *line;
    const char *why;
} lines[] = {
    { TEXT("a note"), RC_LEVEL_NOTE, 80, "rollcall: note RC101: a note\n", "a note is not explained" },
    { TEXT("a hint"), RC_LEVEL_WARNING, 80, "rollcall: warning RC101: a hint\n", "the job goes on" },
    { TEXT("no rank"), RC_LEVEL_ERROR, 80, "rollcall: error RC101: no rank (rollcall explain RC101)\n",
      "the job ends" },
    { TEXT("no rank"), RC_LEVEL_ERROR, 57, "rollcall: error RC101: no rank (rollcall explain RC101)\n",
      "it just fits" },
    { TEXT("no rank"), RC_LEVEL_ERROR, 56, "rollcall: error RC101: see rollcall explain RC101\n", "it does not fit" },
    { TEXT("no rank"), RC_LEVEL_ERROR, 40, "", "nothing fits" },
};

UNIT_ROWS(makes_lines, "the user reads", lines)
{
    struct rc_arena arena = { .base = unit_guard_memory(row->room), .size = row->room };

    assert_string_equal(rc_message_line(&arena, row->level, RC101, row->input.p), row->line);
    assert_int_equal(arena.full, !*row->line);
}

/* `export ROLLCALL_DEBUG=yes` is meant to show something. */
UNIT_TEST(reads_debug_level, "ROLLCALL_DEBUG is a level, or a word that asks for notes")
{
    assert_int_equal(rc_debug_level(rc_str("")), 0);
    assert_int_equal(rc_debug_level(rc_str("0")), 0);
    assert_int_equal(rc_debug_level(rc_str("2")), 2);
    assert_int_equal(rc_debug_level(rc_str("4")), RC_DEBUG_LEVEL_MAX);
    assert_int_equal(rc_debug_level(rc_str("yes")), 1);
    assert_int_equal(rc_debug_level(rc_str("-1")), 1);
}
