/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "console/json.h"
#include "errorlog.h"
#include "inspect.h"

const struct cli_catalogue_entry cli_catalogue[CLI_CATALOGUE_SIZE] = {
#define ROLLCALL_MESSAGE(id, level, said, cause, cure) [id] = { #id, RC_LEVEL_##level, cause, cure },
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
#define ROLLCALL_FINDING(id, level, cause, cure) [RC_MESSAGE_COUNT + FINDING_##id] = { #id, level, cause, cure },
#include "cli/findings.def"
#undef ROLLCALL_FINDING
};

enum finding_id cli_catalogue_find_finding(const char *name)
{
    enum finding_id id = 0;

    while (id < FINDING_COUNT && strcmp(cli_catalogue_finding(id)->id, name) != 0)
        id++;
    return id;
}

static bool is_id(struct rc_str typed, const char *id)
{
    return typed.n == strlen(id) && strncasecmp(typed.p, id, typed.n) == 0;
}

/* Find RC602, rc602, 602, D403 or d403, ignoring punctuation after it, as in "RC602:" of a log. Return NULL if
 * unknown. */
static const struct cli_catalogue_entry *find_entry(const char *word)
{
    struct rc_str typed = rc_str(word);

    while (typed.n > 0 && strchr(":;,.)", typed.p[typed.n - 1]))
        typed.n--;
    for (size_t i = 0; i < CLI_CATALOGUE_SIZE; i++)
        if (is_id(typed, cli_catalogue[i].id) ||
            (i < RC_MESSAGE_COUNT && is_id(typed, cli_catalogue[i].id + strlen("RC"))))
            return &cli_catalogue[i];
    return NULL;
}

static bool is_log(const char *word)
{
    return strcmp(word, "-") == 0 || (!find_entry(word) && access(word, F_OK) == 0);
}

static void write_entry(struct json *json, const struct cli_catalogue_entry *entry)
{
    json_open_object(json, NULL);
    json_text(json, "id", entry->id);
    json_text(json, "level", rc_level_name(entry->level));
    json_text(json, "cause", entry->cause);
    json_text(json, "cure", entry->cure);
    json_close(json);
}

static void print_entry(FILE *out, const struct cli_catalogue_entry *entry)
{
    fprintf(out, "%s%s %s%s\n", paint_on(cli_report_level_paint(entry->level)), rc_level_name(entry->level), entry->id,
            paint_off());
    cli_report_detail(out, "cause", entry->cause);
    cli_report_detail(out, "cure", entry->cure);
}

struct question {
    char **words; /* ids or file names */
    size_t count; /* 0: list all ids */
    unsigned json;
};

static int print_logs(FILE *out, void *more)
{
    const struct question *question = more;
    struct json json = { .out = NULL };
    int status;

    if (question->json) {
        json = json_begin(out);
        json_open_array(&json, "found");
    }
    status = errorlog_explain(out, question->words, question->count, question->json ? &json : NULL);
    if (question->json && status == STATUS_RESOLVED)
        json_end(&json);
    return status;
}

static int print_entries(FILE *out, void *more)
{
    const struct question *question = more;
    char *const *ids = question->words;
    size_t count = question->count;
    bool is_json = question->json;
    struct json json = { .out = NULL };

    if (is_json) {
        json = json_begin(out);
        json_open_array(&json, "messages");
    }
    for (size_t i = 0; i < (count ? count : CLI_CATALOGUE_SIZE); i++) {
        const struct cli_catalogue_entry *entry = count ? find_entry(ids[i]) : &cli_catalogue[i];

        if (is_json) {
            write_entry(&json, entry);
        } else if (count) {
            fputs(i > 0 ? "\n" : "", out);
            print_entry(out, entry);
        } else {
            fprintf(out, "%-5s %-7s  %s\n", entry->id, rc_level_name(entry->level), entry->cause);
        }
    }
    if (is_json)
        json_end(&json);
    return STATUS_RESOLVED;
}

/* Return whether all words are files, or all are ids. */
static bool check_words(const struct question *question, bool is_of_logs)
{
    for (size_t i = 0; i < question->count; i++) {
        const char *word = question->words[i];

        if (is_of_logs ? is_log(word) : find_entry(word) != NULL)
            continue;
        if (is_of_logs || is_log(word))
            console_fail("explain: give ids or files, not both: '%.64s' is %s file", word, is_of_logs ? "no" : "a");
        else
            console_fail("explain: there is no message '%.64s', and no such file; ids are as RC602: see rollcall "
                         "explain --list",
                         word);
        return false;
    }
    return true;
}

/* Options and ids may come in any order. */
static int run_explain(char **argv)
{
    struct question question = { .words = argv + 1 }; /* operands overwrite words already read */
    struct cli_scope scope = { .rank = NULL };
    unsigned list = 0;
    const struct console_option options[] = { { "--json", .count = &question.json },
                                              { "--list", .count = &list },
                                              { NULL } };
    int at = console_options("explain", argv, 1, options);
    bool is_of_logs;

    while (at && argv[at]) {
        question.words[question.count++] = argv[at];
        at = console_options("explain", argv, at + 1, options);
    }
    if (!at)
        return STATUS_USAGE;
    if (list && question.count > 0)
        return console_fail("explain: '%.64s' does not go together with --list", question.words[0]);
    if (!list && question.count == 0)
        return console_fail(
            "explain: which message? use an id such as RC602, the file that a job has written, or --list; "
            "why values are what they are: rollcall show --why");
    is_of_logs = question.count && is_log(question.words[0]);
    if (!check_words(&question, is_of_logs))
        return STATUS_USAGE;
    paint_choose();
    scope.plain = question.json;
    return cli_report_own(&scope, is_of_logs ? print_logs : print_entries, &question);
}

const struct subcommand cli_explain = {
    .name = "explain",
    .summary = "what a message means, and what to do",
    .help = "usage: rollcall explain [--json] ID...\n"
            "       rollcall explain [--json] FILE...\n"
            "       rollcall explain [--json] --list\n"
            "\n"
            "With ID, such as RC602: the cause of a message, and what to do;\n"
            "with D403 the same of what rollcall doctor has found.\n"
            "With FILE, such as slurm-42.out: the same of each message in it, and of\n"
            "what torch, NCCL, Lightning and Slurm print; - is standard input.\n"
            "\n"
            "      --list        all ids, one line each\n"
            "      --json        one JSON object instead of text\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 printed, 2 wrong usage, no such id or no such file.\n",
    .run = run_explain,
};
