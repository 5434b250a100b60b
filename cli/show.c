/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/output.h"
#include "entries.h"
#include "inspect.h"
#include "tasks.h"

static int detail_value(const char *label, struct rc_str value)
{
    char *clean = console_escape(value, REPORT_CUT);
    int status = clean ? cli_report_detail(label, *clean ? clean : "(empty)") : -1;

    free(clean);
    return status;
}

static void print_title(const char *text)
{
    printf("\n%s%s%s\n", paint_on(PAINT_STRONG), text, paint_off());
}

static int explain_identity(const struct rc_result *result)
{
    print_title("identity");
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        uint32_t value = result->identity.field[field];

        if (value == RC_UNKNOWN)
            printf("  %s: %s\n", cli_report_field_name(field),
                   result->mode == RC_MODE_LAUNCHER ? "given by the command to the workers that it starts"
                                                    : "not known");
        else
            printf("  %s%s = %u%s\n", paint_on(PAINT_STRONG), cli_report_field_name(field), value, paint_off());
        if (value != RC_UNKNOWN && (cli_report_detail("what", cli_report_field_meaning(field)) < 0 ||
                                    cli_report_detail("from", cli_report_field_source(result, field)) < 0))
            return -1;
    }
    return 0;
}

static int print_variable(const struct rc_result *result, const struct rc_plan_entry *entry)
{
    struct rc_str now = rc_env_find(&result->env, entry->name);
    char *value = console_escape(rc_str(entry->value ? entry->value : ""), 0);

    if (!value)
        return -1;
    printf("  %s%s %s%s", paint_on(PAINT_STRONG), cli_report_verb(entry), entry->name.p, paint_off());
    if (entry->value)
        printf(" = %s", value);
    putchar('\n');
    free(value);
    if (entry->changes && now.p && detail_value("was", now) < 0)
        return -1;
    if (entry->action == RC_SET && cli_report_detail("from", entry->source) < 0)
        return -1;
    return cli_report_detail("why", entry->reason);
}

static int print_environment(const struct rc_result *result)
{
    print_title("environment");
    if (result->plan.count == 0)
        puts("  nothing is set or removed");
    for (unsigned i = 0; i < result->plan.count; i++)
        if (print_variable(result, &result->plan.entry[i]) < 0)
            return -1;
    return 0;
}

static int print_rejected(const struct rc_plan *plan)
{
    if (plan->rejected_count > 0)
        print_title("not believed");
    for (unsigned i = 0; i < plan->rejected_count; i++) {
        printf("  %s%s%s\n", paint_on(PAINT_STRONG), plan->rejected[i].name, paint_off());
        if (detail_value("value", plan->rejected[i].value) < 0 ||
            cli_report_detail("why", plan->rejected[i].reason) < 0)
            return -1;
    }
    return 0;
}

static int explain_messages(const struct rc_messages *list)
{
    if (list->count > 0)
        print_title("messages");
    for (unsigned i = 0; i < list->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(list->list[i].id);
        const struct cli_catalogue_entry *words = cli_catalogue_message(list->list[i].id);

        printf("  %s%s %s%s\n", paint_on(cli_report_level_paint(entry->level)), rc_level_name(entry->level), entry->id,
               paint_off());
        if (cli_report_detail("what", list->list[i].text) < 0 || cli_report_detail("cause", words->cause) < 0 ||
            cli_report_detail("cure", words->cure) < 0)
            return -1;
    }
    return 0;
}

static int explain_inspection(const struct inspection *inspection)
{
    const struct rc_result *result = &inspection->result;

    if (inspection->json) {
        cli_json_print(result, true);
        return 0;
    }
    paint_choose();
    if (cli_report_head(result) < 0 || (cli_report_has_identity(result) && explain_identity(result) < 0) ||
        print_environment(result) < 0 || print_rejected(&result->plan) < 0)
        return -1;
    return explain_messages(&result->messages);
}

/* The options of inspect, and those for ids of messages. */
static const struct option options[] = {
    INSPECT_OPTIONS,
    { "list", no_argument, NULL, 'l' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

/* An operand or --list asks for the catalogue. No option about an environment may come with it. */
static int run_explain(int argc, char **argv)
{
    const char *other = NULL;
    bool json = false;
    bool list = false;
    size_t ids = 0;

    for (;;) {
        int c = console_getopt("explain", argc, argv, options);

        if (c == '?')
            return STATUS_USAGE;
        if (c == 'h') {
            fputs(cli_explain.help, stdout);
            return STATUS_RESOLVED;
        }
        if (c == 'l')
            list = true;
        else if (c == 'j')
            json = true;
        else if (c != -1)
            other = c == 'f' ? "--from" : c == 'p' ? "--pid" : "--ddp";
        else if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
            argv[++ids] = argv[optind++]; /* getopt has read the options up to here */
        else
            break;
    }
    if (!list && ids == 0) {
        optind = 0;
        return cli_inspect(argc, argv, &cli_explain, explain_inspection);
    }
    if (optind < argc)
        other = argv[optind];
    if (list && ids > 0)
        other = argv[1];
    if (other)
        return console_fail("explain: '%.64s' does not go together with %s", other, list ? "--list" : argv[1]);
    return list ? cli_entries_list(json) : cli_entries_print(argv + 1, ids, json);
}

const struct subcommand cli_explain = {
    .name = "explain",
    .summary = "why each value is what it is; ID: what a message means",
    .help = "usage: rollcall explain [OPTION]... [-- CMD...]\n"
            "       rollcall explain [--json] ID...\n"
            "       rollcall explain [--json] --list\n"
            "\n"
            "Says of every value what it is, where it comes from and why; what was found\n"
            "and not believed; what is kept; and what every message means. No side effect.\n"
            "\n"
            "With ID, such as RC602: the cause of a message, and what to do;\n"
            "with D403 the same of what rollcall doctor has found.\n"
            "\n"
            "      --list        all ids, one line each\n" INSPECT_HELP,
    .operands = OPERANDS_IDS,
    .has_line = true,
    .run = run_explain,
};

static void identity_table(const struct rc_result *result, struct table *table)
{
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        uint32_t value = result->identity.field[field];
        char number[16] = "-";

        if (value != RC_UNKNOWN)
            snprintf(number, sizeof(number), "%u", value);
        table_text(table, PAINT_STRONG, cli_report_field_name(field));
        table_text(table, PAINT_NONE, number);
        table_text(table, PAINT_FAINT, cli_report_field_source(result, field));
    }
}

static void environment_table(const struct rc_plan *plan, struct table *table)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *entry = &plan->entry[i];

        if (entry->action == RC_UNSET)
            continue;
        table_text(table, entry->changes ? PAINT_GOOD : PAINT_FAINT, cli_report_verb(entry));
        table_text(table, PAINT_STRONG, entry->name.p);
        table_cell(table, PAINT_NONE, rc_str(entry->value), entry->action == RC_SET ? 0 : REPORT_CUT);
        table_text(table, PAINT_FAINT, entry->action == RC_SET ? entry->source : entry->reason);
    }
}

static void removed_table(const struct rc_plan *plan, struct table *table)
{
    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->entry[i].action != RC_UNSET)
            continue;
        table_text(table, PAINT_STRONG, plan->entry[i].name.p);
        table_text(table, PAINT_FAINT, plan->entry[i].reason);
    }
}

static void rejected_table(const struct rc_plan *plan, struct table *table)
{
    for (unsigned i = 0; i < plan->rejected_count; i++) {
        table_text(table, PAINT_STRONG, plan->rejected[i].name);
        table_cell(table, PAINT_NONE, plan->rejected[i].value, REPORT_CUT);
        table_text(table, PAINT_FAINT, plan->rejected[i].reason);
    }
}

static int print_messages(const struct rc_messages *list)
{
    bool any = false;

    for (unsigned i = 0; i < list->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(list->list[i].id);

        if (entry->level == RC_LEVEL_NOTE)
            continue;
        if (!any)
            printf("\n%smessages%s\n", paint_on(PAINT_STRONG), paint_off());
        any = true;
        printf("  %s%s %s:%s ", paint_on(cli_report_level_paint(entry->level)), rc_level_name(entry->level), entry->id,
               paint_off());
        if (console_print_wrapped((unsigned)(2 + rc_str(rc_level_name(entry->level)).n + 8), 4, PAINT_NONE,
                                  list->list[i].text) < 0)
            return -1;
    }
    return 0;
}

/* Prints a table with its title; nothing if the table is empty. */
static int print_section(const char *title, unsigned columns,
                         void (*fill)(const struct rc_plan *plan, struct table *table), const struct rc_plan *plan)
{
    struct table table = { .columns = columns };

    fill(plan, &table);
    if (table.rows > 0)
        printf("\n%s%s%s\n", paint_on(PAINT_STRONG), title, paint_off());
    return table_print(&table);
}

static int print_identity(const struct rc_result *result)
{
    struct table table = { .columns = 3 };

    if (!cli_report_has_identity(result))
        return 0;
    identity_table(result, &table);
    printf("\n%sidentity%s\n", paint_on(PAINT_STRONG), paint_off());
    return table_print(&table);
}

static int print_text(const struct rc_result *result)
{
    if (cli_report_head(result) < 0 || print_identity(result) < 0 ||
        print_section("environment", 4, environment_table, &result->plan) < 0 ||
        print_section("removed", 2, removed_table, &result->plan) < 0 ||
        print_section("not believed", 3, rejected_table, &result->plan) < 0)
        return -1;
    return print_messages(&result->messages);
}

/* A task among several has one line. A person at a terminal looks at one process, be it a task's shell (srun --pty). */
static bool is_one_line(const struct inspection *inspection)
{
    return inspection->own && !inspection->whole &&
           (inspection->result.mode == RC_MODE_TORCHRUN || !isatty(STDIN_FILENO)) &&
           cli_together_is_possible(&inspection->result);
}

static int print_line(const struct rc_result *result)
{
    static char own[CLI_TASKLINE_SIZE];
    char *all = NULL;
    int status = 0;

    if (!cli_taskline_write(result, own))
        return -1;
    switch (cli_together(result, own, &all)) {
    case CLI_PART_SPEAKS:
        status = cli_tasktable_print(result, all);
        break;
    case CLI_PART_ALONE:
        status = cli_tasktable_print_alone(result, own);
        break;
    case CLI_PART_SILENT:
        break;
    }
    free(all);
    return status;
}

static int print_inspection(const struct inspection *inspection)
{
    if (inspection->json) {
        cli_json_print(&inspection->result, false);
        return 0;
    }
    paint_choose();
    return is_one_line(inspection) ? print_line(&inspection->result) : print_text(&inspection->result);
}

static int run_show(int argc, char **argv)
{
    return cli_inspect(argc, argv, &cli_show, print_inspection);
}

const struct subcommand cli_show = {
    .name = "show",
    .summary = "who this process is, and what would be set; changes nothing",
    .help = "usage: rollcall show [OPTION]... [-- CMD...]\n"
            "\n"
            "Shows this process's identity (rank, sizes, master), where each value comes\n"
            "from, and what rollcall exec would set. Has no side effect. In a launch of\n"
            "several tasks it prints one line a task: rank, node, GPU, cores, master,\n"
            "and whether something is wrong.\n"
            "\n"
            "      --long        all values and sources in a launch of several tasks, too\n" INSPECT_HELP,
    .has_line = true,
    .run = run_show,
};
