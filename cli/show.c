/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/output.h"
#include "inspect.h"
#include "resolve/options.h"
#include "tasks.h"

struct showing {
    unsigned json;
    unsigned whole; /* --long */
    unsigned why;
    const char *file;
    const char *pid;
    const char *ddp;
    const char *const *argv;
    struct cli_scope scope;
    struct inspection inspection;
};

enum { REPORT_CUT = 64 }; /* bytes shown of a value that is not rollcall's */

static void detail_value(FILE *out, const char *label, struct rc_str value)
{
    char text[REPORT_CUT + sizeof("...")];
    bool whole = value.n <= REPORT_CUT;

    snprintf(text, sizeof(text), "%.*s%s", whole ? (int)value.n : REPORT_CUT, value.p, whole ? "" : "...");
    cli_report_detail(out, label, *text ? text : "(empty)");
}

static bool has_identity(const struct rc_result *result)
{
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++)
        if (result->identity.field[field] != RC_UNKNOWN)
            return true;
    return false;
}

/* For RC_SET, distinguish values that are right already. */
static const char *verb_of(const struct rc_plan_entry *entry)
{
    switch (entry->action) {
    case RC_UNSET:
        return "unset";
    case RC_KEEP:
        return "keep";
    case RC_SET:
        break;
    }
    return entry->changes ? "set" : "same";
}

static void explain_variable(FILE *out, const struct rc_result *result, const struct rc_plan_entry *entry)
{
    struct rc_str now = rc_env_find(&result->env, entry->name);

    fprintf(out, "  %s%s %s%s", paint_on(PAINT_STRONG), verb_of(entry), entry->name.p, paint_off());
    if (entry->value) {
        fputs(" = ", out);
        console_print(out, rc_str(entry->value), 0);
    }
    putc('\n', out);
    if (entry->changes && now.p)
        detail_value(out, "was", now);
    if (entry->action == RC_SET)
        cli_report_detail(out, "from", entry->source);
    cli_report_detail(out, "why", entry->reason);
}

static void explain_environment(FILE *out, const struct rc_result *result)
{
    console_title(out, "environment");
    if (result->plan.count == 0)
        fputs("  nothing is set or removed\n", out);
    for (unsigned i = 0; i < result->plan.count; i++)
        explain_variable(out, result, &result->plan.entry[i]);
}

static void explain_rejected(FILE *out, const struct rc_plan *plan)
{
    if (plan->rejected_count > 0)
        console_title(out, "not believed");
    for (unsigned i = 0; i < plan->rejected_count; i++) {
        fprintf(out, "  %s%s%s\n", paint_on(PAINT_STRONG), plan->rejected[i].name, paint_off());
        detail_value(out, "value", plan->rejected[i].value);
        cli_report_detail(out, "why", plan->rejected[i].reason);
    }
}

static int print_identity(FILE *out, const struct rc_result *result)
{
    const char *unknown = result->mode == RC_MODE_LAUNCHER ? "given by the command to the workers that it starts"
                                                           : "not known";
    struct table table = { .columns = 3 };

    if (!has_identity(result))
        return 0;
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        uint32_t value = result->identity.field[field];
        char number[16] = "-";

        if (value != RC_UNKNOWN)
            snprintf(number, sizeof(number), "%u", value);
        table_text(&table, PAINT_STRONG, cli_fields[field].name);
        table_text(&table, PAINT_NONE, number);
        table_text(&table, PAINT_FAINT, value == RC_UNKNOWN ? unknown : rc_identity_source(result, field));
    }
    return table_print_titled(out, "identity", &table);
}

static int print_environment(FILE *out, const struct rc_result *result)
{
    struct table table = { .columns = 4 };

    for (unsigned i = 0; i < result->plan.count; i++) {
        const struct rc_plan_entry *entry = &result->plan.entry[i];

        table_text(&table, entry->changes ? PAINT_GOOD : PAINT_FAINT, verb_of(entry));
        table_text(&table, PAINT_STRONG, entry->name.p);
        table_cell(&table, PAINT_NONE, rc_str(entry->value), entry->action == RC_SET ? 0 : REPORT_CUT);
        table_text(&table, PAINT_FAINT, entry->action == RC_SET ? entry->source : entry->reason);
    }
    return table_print_titled(out, "environment", &table);
}

/* Print notes only with --why. */
static void print_messages(FILE *out, const struct rc_messages *list, bool why)
{
    bool any = false;

    for (unsigned i = 0; i < list->count; i++) {
        const char *text = list->list[i].text;
        const struct rc_message_entry *entry = rc_message_entry(list->list[i].id);
        const struct cli_catalogue_entry *words = cli_catalogue_message(list->list[i].id);

        if (entry->level == RC_LEVEL_NOTE && !why)
            continue;
        if (!any)
            console_title(out, "messages");
        any = true;
        fprintf(out, "  %s%s %s%s%s", paint_on(cli_report_level_paint(entry->level)), rc_level_name(entry->level),
                entry->id, paint_off(), why ? "\n" : ": ");
        if (why) {
            cli_report_detail(out, "what", text);
            cli_report_detail(out, "cause", words->cause);
            cli_report_detail(out, "cure", words->cure);
        } else {
            console_print_wrapped(out, (unsigned)strlen(rc_level_name(entry->level)) + 10, 4, PAINT_NONE, text);
        }
    }
}

static void head_line(FILE *out, const char *name, enum paint paint, const char *value, const char *more)
{
    char line[1024];

    snprintf(line, sizeof(line), "%s%s%s", value, more && *more ? ": " : "", more ? more : "");
    fprintf(out, "%s%-10s%s", paint_on(PAINT_STRONG), name, paint_off());
    console_print_wrapped(out, 10, 10, paint, line);
}

static void print_head(FILE *out, const struct rc_result *result, const char *left)
{
    bool bad = result->status == RC_CONTRADICTION;
    const struct rc_master *master = &result->master;
    char value[512];

    snprintf(value, sizeof(value), "%s%s%s", result->launcher ? result->launcher->title : "none",
             result->facts.run_id ? ", " : "", result->facts.run_id ? result->facts.run_id : "");
    head_line(out, "launcher", PAINT_NONE, value, NULL);
    head_line(out, "mode", bad ? PAINT_BAD : PAINT_NONE, rc_mode_name(result->mode), result->mode_reason);
    if (!master->addr)
        return;
    snprintf(value, sizeof(value), "%s port %u", master->addr, (unsigned)master->port);
    head_line(out, "master", PAINT_NONE, value, master->addr_source);
    if (left)
        head_line(out, "note", PAINT_NONE, left, NULL);
}

/* Returns -1 without memory. */
static int print_text(FILE *out, const struct rc_result *result, bool why, const char *left)
{
    print_head(out, result, left);
    if (print_identity(out, result) < 0 || (!why && print_environment(out, result) < 0))
        return -1;
    if (why) {
        explain_environment(out, result);
        explain_rejected(out, &result->plan);
    }
    print_messages(out, &result->messages, why);
    return 0;
}

static int print_result(FILE *out, void *more)
{
    const struct showing *showing = more;
    const struct rc_result *result = &showing->inspection.result;

    if (showing->json)
        cli_json_print(out, result, !showing->file && !showing->pid, showing->why);
    else if (print_text(out, result, showing->why, showing->inspection.called ? cli_meet_left(result) : NULL) < 0)
        return console_fail("out of memory");
    return result->status == RC_RESOLVED ? STATUS_RESOLVED : STATUS_CONTRADICTION;
}

static int print_task(FILE *out, void *more)
{
    const struct showing *showing = more;

    return cli_task_print(out, &showing->inspection.result);
}

/* This process, as a task of its launch. */
static int show_own(struct showing *showing)
{
    const struct rc_result *result = &showing->inspection.result;
    struct cli_scope *scope = &showing->scope;

    scope->plain = showing->json;
    scope->table = cli_together_is_possible(result) && !scope->plain && !showing->whole && !showing->why &&
                   !scope->all && !scope->rank;
    scope->by_node = !scope->table;
    return cli_report(result, scope, scope->table ? print_task : print_result, showing);
}

/* Return 0, or a status to exit with after one line on standard error. */
static int read_arguments(char **argv, struct showing *showing)
{
    const struct console_option options[] = {
        { "--from", .value = &showing->file },
        { "--pid", .value = &showing->pid },
        { "--ddp", .value = &showing->ddp, .may_be_empty = true },
        { "--json", .count = &showing->json },
        { "--why", .count = &showing->why },
        { "--long", .count = &showing->whole },
        { "--rank", .value = &showing->scope.rank },
        { "--all", .count = &showing->scope.all },
        { NULL },
    };
    int at = console_options("show", argv, 1, options);
    struct rc_options ignored;
    struct said said;

    if (!at || !cli_scope_read(&showing->scope))
        return STATUS_USAGE;
    if (argv[at] && strcmp(argv[at - 1], "--") != 0)
        return console_fail("show: what is '%.64s'? a file goes after --from, a command after --", argv[at]);
    if (argv[at])
        showing->argv = (const char *const *)argv + at;
    if (showing->file && showing->pid)
        return console_fail("show: --from and --pid do not go together");
    if (showing->ddp && cli_read_options(&said, showing->ddp, NULL, &ignored) < 0)
        return console_fail("%s", said.messages.list[0].text);
    return 0;
}

static int run_show(char **argv)
{
    static struct showing showing;
    struct input *input = &showing.inspection.input;
    int status = read_arguments(argv, &showing);
    bool is_own = !showing.file && !showing.pid;

    if (status)
        return status;
    input_own(input);
    status = STATUS_USAGE;
    if (is_own || (showing.file ? input_file(input, showing.file) : input_process(input, showing.pid)) == 0) {
        showing.inspection.called = is_own;
        cli_inspect(&showing.inspection, showing.ddp, showing.argv);
        paint_choose();
        status = is_own ? show_own(&showing) : print_result(stdout, &showing);
    }
    input_free(input);
    return status;
}

const struct subcommand cli_show = {
    .name = "show",
    .summary = "who this process is, and what would be set; changes nothing",
    .help = "usage: rollcall show [OPTION]... [-- CMD...]\n"
            "\n"
            "Shows this process's identity (rank, sizes, master), where each value comes\n"
            "from, and what rollcall exec would set. Changes nothing. In a launch of\n"
            "several tasks it prints one line a task: rank, node, GPU, cores, master,\n"
            "and whether something is wrong. \"1 of 8: 0\" is core 0, where the job promised\n"
            "the task 8; of GPUs, the step has 1 of the job's 8.\n"
            "\n"
            "With --why it prints the source of each variable and the reason for its value,\n"
            "the variables that it ignored, and what each message means.\n"
            "\n"
            "      --why         where each value comes from, and why; what messages mean\n"
            "      --long        all values and sources, also in a launch of several tasks:\n"
            "                    one task of each node; equal values are printed once\n"
            "      --rank N      the same, only for rank N\n"
            "      --all         the same for each task, in order\n"
            "      --from FILE   a recorded environment: NUL-separated as in\n"
            "                    /proc/PID/environ, or lines KEY=VALUE; - is standard input\n"
            "      --pid PID     the environment and the command of a process\n"
            "      --ddp[=MODE][,KEY=VALUE]...\n"
            "                    as srun --ddp and rollcall exec --ddp take it\n"
            "      --json        one JSON object instead of text\n"
            "  -h, --help        this help\n"
            "\n"
            "With -- CMD... the answer is for that command: torchrun and the like need\n"
            "another one than a script.\n"
            "\n"
            "Exit status: 0 resolved, 1 the facts contradict each other, 2 wrong usage or\n"
            "unreadable input.\n",
    .run = run_show,
};
