/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h - what commands print: text for people, escaped, in columns as wide as the terminal; and what is wrong. */
#pragma once

#include <stdio.h>

#include "base/message.h"
#include "base/text.h"

/* Exit statuses. exec adds 126 and 127, as a shell does. */
enum {
    STATUS_RESOLVED = 0,
    STATUS_CONTRADICTION = 1, /* the facts contradict each other: nothing was set */
    STATUS_USAGE = 2,         /* wrong usage, unreadable input, output that cannot be written */
};

/* Prints one line on standard error, "rollcall: TEXT", escaped. Returns STATUS_USAGE. */
int console_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends a command with this status; output that was not written (a full disk) is an error instead. A reader that closes
 * the pipe early (head) looks the same. */
int console_finish(int status);

/* Prints a message on standard error in one write, so that lines of many tasks do not mix. */
void console_say(enum rc_message_id id, const char *text);

/* An option, "--json" or "-v". A table of options ends with a row without a name. */
struct console_option {
    const char *name;
    unsigned *count;    /* of an option without a value: how often it was given */
    const char **value; /* the value of the last one */
    bool may_be_empty;  /* "--ddp" is the same as "--ddp=" */
};

/* Read the options that begin at argv[at]. Return the place of the first operand, behind "--" if there is one; or 0
 * after one line on standard error. */
int console_options(const char *subcommand, char **argv, int at, const struct console_option *options);

/* Copies a text; everything but printable ASCII becomes \xNN. Values come from hostile environments (terminal escapes,
 * newlines, megabytes of digits). The copy ends after `limit` bytes with "..."; 0: no limit. Returns memory to free, or
 * NULL without memory. */
char *console_escape(struct rc_str text, size_t limit);

/* Prints a text so. */
void console_print(FILE *out, struct rc_str text, size_t limit);

enum { TABLE_COLUMNS = 8 };

enum paint { PAINT_NONE, PAINT_STRONG, PAINT_FAINT, PAINT_GOOD, PAINT_WARN, PAINT_BAD, PAINT_COUNT };

/* Columns of a line: COLUMNS, else the terminal's, else 80. */
unsigned console_width(void);

/* Chooses colour only on a terminal, and not where NO_COLOR is set or TERM is dumb; nor in a launcher's task, which
 * Open MPI gives a terminal whatever it writes to itself. */
void paint_choose(void);

/* Whether a launcher has started this process, and not for a person's terminal, which is standard input then, too, as
 * srun --pty gives it. */
bool console_is_task(void);

/* The escape sequences around a piece of text, or "". */
const char *paint_on(enum paint paint);
const char *paint_off(void);

struct cell {
    char *text;
    enum paint paint;
};

/* A table is zeroed, given its number of columns, filled cell by cell, then
 * printed and freed by table_print, which returns -1 if memory was short. */
struct table {
    unsigned columns;
    bool headed; /* the first row is a head: a column that says nothing below it is left out, and no line is broken */
    bool failed; /* no memory */
    struct cell *cell;
    size_t count;
};

void table_cell(struct table *table, enum paint paint, struct rc_str text, size_t limit);
void table_text(struct table *table, enum paint paint, const char *text);
int table_print(FILE *out, struct table *table);

/* A heading, with an empty line before it. */
void console_title(FILE *out, const char *text);

/* Prints a table below its heading; nothing if the table is empty. */
int table_print_titled(FILE *out, const char *title, struct table *table);

/* Prints words, escaped, starting at a column. Breaks lines at the width, indents the further lines, and ends the last
 * one. */
void console_print_wrapped(FILE *out, unsigned column, unsigned indent, enum paint paint, const char *text);
