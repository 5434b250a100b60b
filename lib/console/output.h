/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h - output of commands: escaped text, tables that fit the terminal, and errors. */
#pragma once

#include <stdio.h>

#include "base/message.h"
#include "base/text.h"

/* Exit statuses. exec adds 126 and 127, as a shell does. */
enum {
    STATUS_RESOLVED = 0,
    STATUS_CONTRADICTION = 1, /* nothing was set */
    STATUS_USAGE = 2,         /* wrong usage, unreadable input, failed output */
};

/* Print "rollcall: TEXT", escaped, on standard error. Return STATUS_USAGE. */
int console_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return `status`, or STATUS_USAGE after an error if output was not written (full disk, or a reader that closed the
 * pipe). */
int console_finish(int status);

/* Print a message on standard error in one write, so that lines of many tasks do not mix. */
void console_say(enum rc_message_id id, const char *text);

/* An option, "--json" or "-v". A row without a name ends a table of options. */
struct console_option {
    const char *name;
    unsigned *count;    /* of an option without a value: how often it was given */
    const char **value; /* the last value given */
    bool may_be_empty;  /* "--ddp" is the same as "--ddp=" */
};

/* Read the options from argv[at]. Return the index of the first operand, after "--" if present, or 0 after one line on
 * standard error. */
int console_options(const char *subcommand, char **argv, int at, const struct console_option *options);

/* Return a copy with all but printable ASCII as \xNN, to be freed, or NULL if memory is exhausted. The input may be
 * hostile (terminal escapes, newlines, megabytes of digits). The copy ends after `limit` bytes with "..."; 0: no
 * limit. */
char *console_escape(struct rc_str text, size_t limit);

/* Print a text escaped like this. */
void console_print(FILE *out, struct rc_str text, size_t limit);

enum { TABLE_COLUMNS = 8 };

enum paint { PAINT_NONE, PAINT_STRONG, PAINT_FAINT, PAINT_GOOD, PAINT_WARN, PAINT_BAD, PAINT_COUNT };

/* Return COLUMNS, else the terminal's width, else 80. */
unsigned console_width(void);

/* Enable colour on a terminal unless NO_COLOR is set, TERM is dumb, or this is a launcher's task: Open MPI gives tasks
 * a terminal. */
void paint_choose(void);

/* Return true if a launcher started this process without a terminal as standard input, as srun --pty sets it. */
bool console_is_task(void);

/* Return escape sequences, or "". */
const char *paint_on(enum paint paint);
const char *paint_off(void);

struct cell {
    char *text;
    enum paint paint;
};

/* Zero it, set `columns`, add cells, then call table_print(), which frees it. table_print() returns -1 if memory was
 * exhausted. */
struct table {
    unsigned columns;
    bool headed; /* the first row is a header: columns empty below it are left out, and no line is wrapped */
    bool failed; /* out of memory */
    struct cell *cell;
    size_t count;
};

void table_cell(struct table *table, enum paint paint, struct rc_str text, size_t limit);
void table_text(struct table *table, enum paint paint, const char *text);
int table_print(FILE *out, struct table *table);

/* Print a heading after an empty line. */
void console_title(FILE *out, const char *text);

/* Print a table under its heading, or nothing if it is empty. */
int table_print_titled(FILE *out, const char *title, struct table *table);

/* Print escaped words from `column`, wrapped at the width, further lines indented, and a newline. */
void console_print_wrapped(FILE *out, unsigned column, unsigned indent, enum paint paint, const char *text);
