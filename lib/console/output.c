/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "launcher/launcher.h"

enum { ESCAPED = sizeof("\\xff") };

/* Return the number of characters that show a byte. */
static size_t escape_byte(char byte, char out[ESCAPED])
{
    out[0] = byte;
    return rc_is_printable(byte) ? 1 : (size_t)snprintf(out, ESCAPED, "\\x%02x", (unsigned)(unsigned char)byte);
}

char *console_escape(struct rc_str text, size_t limit)
{
    size_t shown = limit && text.n > limit ? limit : text.n;
    char *copy = malloc(4 * shown + sizeof("..."));
    char *out = copy;

    if (!copy)
        return NULL;
    for (size_t i = 0; i < shown; i++)
        out += escape_byte(text.p[i], out);
    snprintf(out, sizeof("..."), "%s", shown < text.n ? "..." : "");
    return copy;
}

void console_print(FILE *out, struct rc_str text, size_t limit)
{
    char shown[ESCAPED];

    for (size_t i = 0; i < text.n && (limit == 0 || i < limit); i++)
        fwrite(shown, 1, escape_byte(text.p[i], shown), out);
    fputs(limit && text.n > limit ? "..." : "", out);
}

enum { GAP = 2, MARGIN = 2, NARROWEST = 24, USUAL_WIDTH = 80, LEAST_WIDTH = 20, WIDEST = 1000 };

/* A wider cell does not widen its column: the next cell of its row moves right, or to a new line. */
static const size_t widest_cell[TABLE_COLUMNS] = { 28, 24, 16 };

static bool coloured;

extern char **environ;

static unsigned find_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    uint32_t width;

    if (columns && rc_parse_u32(rc_str(columns), WIDEST, &width))
        return width < LEAST_WIDTH ? LEAST_WIDTH : width;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_WIDTH)
        return size.ws_col;
    return USUAL_WIDTH;
}

unsigned console_width(void)
{
    static unsigned width;

    if (!width)
        width = find_width();
    return width;
}

bool console_is_task(void)
{
    return rc_launcher_marked((const char *const *)environ) && !isatty(STDIN_FILENO);
}

void paint_choose(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    coloured = isatty(STDOUT_FILENO) && !console_is_task() && !(no_color && *no_color) && term && *term &&
               strcmp(term, "dumb") != 0;
}

const char *paint_on(enum paint paint)
{
    static const char *const sequences[PAINT_COUNT] = {
        [PAINT_NONE] = "",         [PAINT_STRONG] = "\033[1m", [PAINT_FAINT] = "\033[2m",
        [PAINT_GOOD] = "\033[32m", [PAINT_WARN] = "\033[33m",  [PAINT_BAD] = "\033[31m",
    };

    return coloured ? sequences[paint] : "";
}

const char *paint_off(void)
{
    return coloured ? "\033[0m" : "";
}

void table_cell(struct table *table, enum paint paint, struct rc_str text, size_t limit)
{
    struct cell *larger = realloc(table->cell, (table->count + 1) * sizeof(*larger));
    char *clean = larger ? console_escape(text.n || !table->headed ? text : RC_STR("-"), limit) : NULL;

    if (larger)
        table->cell = larger;
    if (clean)
        larger[table->count++] = (struct cell){ clean, paint };
    table->failed = table->failed || !clean;
}

void table_text(struct table *table, enum paint paint, const char *text)
{
    table_cell(table, paint, rc_str(text ? text : ""), 0);
}

static void put_text(FILE *out, enum paint paint, struct rc_str text)
{
    fputs(paint_on(paint), out);
    console_print(out, text, 0);
    fputs(paint == PAINT_NONE ? "" : paint_off(), out);
}

/* Return the printed width of the first word. */
static unsigned word_width(const char *text)
{
    unsigned width = 0;

    for (; *text && *text != ' '; text++)
        width += rc_is_printable(*text) ? 1 : (unsigned)strlen("\\xff");
    return width;
}

void console_print_wrapped(FILE *out, unsigned column, unsigned indent, enum paint paint, const char *text)
{
    unsigned at = column;

    while (*text) {
        size_t word = strcspn(text, " ");
        unsigned blanks = (unsigned)strspn(text + word, " ");

        if (at > indent && at + word_width(text) > console_width()) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        put_text(out, paint, (struct rc_str){ text, word });
        at += word_width(text);
        text += word + blanks;
        if (*text && at + blanks + word_width(text) <= console_width()) {
            fprintf(out, "%*s", (int)blanks, "");
            at += blanks;
        } else if (*text) {
            at = console_width() + 1;
        }
    }
    putc('\n', out);
}

static bool has_room(unsigned column, const char *text)
{
    return column + strlen(text) <= console_width();
}

/* Return the start of cell i of a row after text that ends at `at`: in its column of this line or the next. On a narrow
 * terminal the last cell moves to the second column, to avoid one word a line. */
static unsigned find_start(const struct table *table, unsigned i, const unsigned *start, unsigned at, const char *text)
{
    unsigned to = i > 0 && at + GAP > start[i] ? at + GAP : start[i];

    if (!has_room(to, text))
        to = start[i];
    if (i > 1 && i == table->columns - 1 && !has_room(to, text) && to + NARROWEST > console_width())
        to = start[1];
    return to;
}

static void print_row(FILE *out, const struct table *table, const struct cell *row, const unsigned *start)
{
    unsigned last = table->columns - 1;
    unsigned at = 0;

    while (last > 0 && !row[last].text[0])
        last--;
    for (unsigned i = 0; i <= last; i++) {
        const char *text = row[i].text;
        unsigned to = table->headed ? start[i] : find_start(table, i, start, at, text);

        if (start[i] == start[i + 1])
            continue;
        if (at > 0 && to < at + GAP) {
            putc('\n', out);
            at = 0;
        }
        fprintf(out, "%*s", (int)(to - at), "");
        if (i == table->columns - 1 && !table->headed) {
            console_print_wrapped(out, to, to, row[i].paint, text);
            return;
        }
        put_text(out, row[i].paint, rc_str(text));
        at = to + (unsigned)strlen(text);
    }
    putc('\n', out);
}

/* Return the width of a column and its gap; 0 if it is left out. */
static unsigned find_room(const struct table *table, unsigned column)
{
    bool says = !table->headed;
    size_t widest = 0;

    for (size_t i = column; i < table->count; i += table->columns) {
        size_t width = strlen(table->cell[i].text);

        says = says || (i > column && strcmp(table->cell[i].text, "-") != 0);
        if (width > widest && (table->headed || width <= widest_cell[column]))
            widest = width;
    }
    return says ? (unsigned)widest + GAP : 0;
}

int table_print(FILE *out, struct table *table)
{
    unsigned start[TABLE_COLUMNS + 1] = { table->headed ? 0 : MARGIN };
    int status = table->failed ? -1 : 0;

    for (unsigned i = 0; i < table->columns && status == 0; i++)
        start[i + 1] = start[i] + find_room(table, i);
    for (size_t i = 0; i < table->count && status == 0; i += table->columns)
        print_row(out, table, &table->cell[i], start);
    for (size_t i = 0; i < table->count; i++)
        free(table->cell[i].text);
    free(table->cell);
    *table = (struct table){ .columns = table->columns };
    return status;
}

void console_title(FILE *out, const char *text)
{
    fprintf(out, "\n%s%s%s\n", paint_on(PAINT_STRONG), text, paint_off());
}

int table_print_titled(FILE *out, const char *title, struct table *table)
{
    if (table->count > 0)
        console_title(out, title);
    return table_print(out, table);
}

int console_fail(const char *format, ...)
{
    char line[1024];
    char *clean;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    clean = console_escape(rc_str(line), 0);
    fprintf(stderr, "rollcall: %s\n", clean ? clean : "out of memory");
    free(clean);
    return STATUS_USAGE;
}

int console_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return console_fail("cannot write to standard output: %s", strerror(errno));
}

/* Return 0, so that console_options() ends. */
static int fail_unknown(const char *subcommand, const char *word)
{
    if (strcmp(subcommand, "exec") == 0)
        console_fail("exec: unknown option '%.64s'; rollcall's options come first, then the program with its own: "
                     "rollcall exec -- CMD %.64s",
                     word, word);
    else
        console_fail("%s: unknown option '%.64s'; see rollcall %s --help", subcommand, word, subcommand);
    return 0;
}

int console_options(const char *subcommand, char **argv, int at, const struct console_option *options)
{
    for (; argv[at] && argv[at][0] == '-' && strcmp(argv[at], "-") != 0; at++) {
        const struct console_option *option = options;
        struct rc_str value;
        struct rc_str name = rc_str_split(rc_str(argv[at]), '=', &value);

        if (strcmp(argv[at], "--") == 0)
            return at + 1;
        while (option->name && !rc_str_is(name, option->name))
            option++;
        if (!option->name)
            return fail_unknown(subcommand, argv[at]);
        if (option->count && !value.p) {
            ++*option->count;
        } else if (option->count) {
            console_fail("%s: %s takes no value", subcommand, option->name);
            return 0;
        } else if (value.p || option->may_be_empty) {
            *option->value = value.p ? value.p : "";
        } else if (argv[at + 1]) {
            *option->value = argv[++at];
        } else {
            console_fail("%s: %s needs a value; see rollcall %s --help", subcommand, option->name, subcommand);
            return 0;
        }
    }
    return at;
}

enum { SAID_MAX = 2048 }; /* as in the plugin and rollcall-exchange: findings may be long */

void console_say(enum rc_message_id id, const char *text)
{
    char line[SAID_MAX];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };

    fputs(rc_message_line(&arena, rc_message_entry(id)->level, id, text), stderr);
}
