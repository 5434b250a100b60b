/* SPDX-License-Identifier: BSD-3-Clause */
#include "entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli.h"
#include "console/json.h"
#include "inspect.h"

/* Both catalogues: messages, then findings. */
enum { COUNT = RC_MESSAGE_COUNT + FINDING_COUNT };

static const struct cli_catalogue_entry entries[COUNT] = {
#define ROLLCALL_MESSAGE(id, level, said, wanted, cause, cure) [id] = { #id, RC_LEVEL_##level, cause, cure },
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
#define ROLLCALL_FINDING(id, level, cause, cure) [RC_MESSAGE_COUNT + FINDING_##id] = { #id, level, cause, cure },
#include "cli/findings.def"
#undef ROLLCALL_FINDING
};

const struct cli_catalogue_entry *cli_catalogue_message(enum rc_message_id id)
{
    return &entries[id];
}

const struct cli_catalogue_entry *cli_catalogue_finding(enum finding_id id)
{
    return &entries[RC_MESSAGE_COUNT + id];
}

enum finding_id cli_catalogue_find_finding(const char *name)
{
    enum finding_id id = 0;

    while (id < FINDING_COUNT && strcmp(cli_catalogue_finding(id)->id, name) != 0)
        id++;
    return id;
}

static uint32_t number_of(size_t place)
{
    uint32_t number = 0;

    rc_parse_u32(rc_str(entries[place].id + (place < RC_MESSAGE_COUNT ? 2 : 1)), UINT32_MAX, &number);
    return number;
}

/* RC602, rc602 or 602 is message 602, D403 or d403 finding 403. A mark after it, as in "RC602:" of a log, is no part
 * of it. */
static int find_entry(const char *typed, struct cli_catalogue_entry *entry)
{
    bool is_finding = typed[0] == 'D' || typed[0] == 'd';
    struct rc_str digits = rc_str(typed + (is_finding ? 1 : strncasecmp(typed, "RC", 2) == 0 ? 2 : 0));
    size_t first = is_finding ? RC_MESSAGE_COUNT : 0;
    size_t end = is_finding ? COUNT : RC_MESSAGE_COUNT;
    size_t place = first;
    uint32_t number;

    while (digits.n > 0 && strchr(":;,.)", digits.p[digits.n - 1]))
        digits.n--;
    if (!rc_parse_u32(digits, UINT32_MAX, &number))
        return console_fail("explain: what is '%.64s'? a message has an id such as RC602", typed);
    while (place < end && number_of(place) < number)
        place++;
    if (place < end && number_of(place) == number) {
        *entry = entries[place];
        return STATUS_RESOLVED;
    }
    if (place == first || place == end)
        return console_fail("explain: there is no message '%.64s'; the nearest is %s; see rollcall explain --list",
                            typed, entries[place == first ? first : end - 1].id);
    return console_fail("explain: there is no message '%.64s'; the nearest are %s and %s; see rollcall explain --list",
                        typed, entries[place - 1].id, entries[place].id);
}

static void print_json(const struct cli_catalogue_entry *entry, size_t count)
{
    struct json json = json_begin(stdout);

    json_open_array(&json, "messages");
    for (size_t i = 0; i < count; i++) {
        json_open_object(&json, NULL);
        json_text(&json, "id", entry[i].id);
        json_text(&json, "level", rc_level_name(entry[i].level));
        json_text(&json, "cause", entry[i].cause);
        json_text(&json, "cure", entry[i].cure);
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

struct question {
    bool json;
    bool list;
    char *const *ids;
    size_t count;
};

/* Prints the entries of some ids: RC602, rc602 or 602, D403 or d403. For an unknown id it prints the nearest ones. */
static int print_entries(char *const *ids, size_t count, bool json)
{
    struct cli_catalogue_entry *entry = calloc(count + 1, sizeof(*entry));
    int status = entry ? STATUS_RESOLVED : console_fail("out of memory");

    for (size_t i = 0; i < count && status == STATUS_RESOLVED; i++)
        status = find_entry(ids[i], &entry[i]);
    if (status == STATUS_RESOLVED && json) {
        print_json(entry, count);
    } else if (status == STATUS_RESOLVED) {
        paint_choose();
        for (size_t i = 0; i < count && status == STATUS_RESOLVED; i++) {
            printf("%s%s%s %s%s\n", i > 0 ? "\n" : "", paint_on(cli_report_level_paint(entry[i].level)),
                   rc_level_name(entry[i].level), entry[i].id, paint_off());
            if (cli_report_detail("cause", entry[i].cause) < 0 || cli_report_detail("cure", entry[i].cure) < 0)
                status = console_fail("out of memory");
        }
    }
    free(entry);
    return status;
}

static int print_answer(void *more)
{
    const struct question *question = more;

    if (!question->list)
        return print_entries(question->ids, question->count, question->json);
    if (question->json)
        print_json(entries, COUNT);
    for (size_t i = 0; i < COUNT && !question->json; i++)
        printf("%-5s %-7s  %s\n", entries[i].id, rc_level_name(entries[i].level), entries[i].cause);
    return STATUS_RESOLVED;
}

/* Options and ids may come in any order. */
static int run_explain(int argc, char **argv)
{
    static const struct option options[] = {
        { "json", no_argument, NULL, 'j' },
        { "list", no_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    struct question question = { .ids = argv + 1 };
    struct cli_scope scope = { .all = false };

    for (;;) {
        int c = console_getopt("explain", argc, argv, options);

        if (c == '?')
            return STATUS_USAGE;
        if (c == 'h') {
            fputs(cli_explain.help, stdout);
            return STATUS_RESOLVED;
        }
        question.json = question.json || c == 'j';
        question.list = question.list || c == 'l';
        if (c != -1)
            continue;
        if (optind >= argc || strcmp(argv[optind - 1], "--") == 0)
            break;
        argv[++question.count] = argv[optind++]; /* getopt has read the words up to here */
    }
    while (optind < argc)
        argv[++question.count] = argv[optind++];
    if (question.list && question.count > 0)
        return console_fail("explain: '%.64s' does not go together with --list", argv[1]);
    if (!question.list && question.count == 0)
        return console_fail("explain: which message? use an id such as RC602, or --list; why values are what they are: "
                            "rollcall show --why");
    scope.plain = question.json;
    return cli_report_own(&scope, print_answer, &question);
}

const struct subcommand cli_explain = {
    .name = "explain",
    .summary = "what a message means, and what to do",
    .help = "usage: rollcall explain [--json] ID...\n"
            "       rollcall explain [--json] --list\n"
            "\n"
            "With ID, such as RC602: the cause of a message, and what to do;\n"
            "with D403 the same of what rollcall doctor has found.\n"
            "\n"
            "      --list        all ids, one line each\n"
            "      --json        one JSON object instead of text\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 printed, 2 wrong usage or no such id.\n",
    .operands = OPERANDS_IDS,
    .run = run_explain,
};
