/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/usage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "console/output.h"

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

int console_getopt(const char *subcommand, int argc, char **argv, const struct option *options)
{
    /* "+" stops at the first operand, which is exec's command; ":" tells a missing value from an unknown option */
    int c = getopt_long(argc, argv, "+:hv", options, NULL);
    int value = c == '?' || c == ':' ? optopt : c;
    char letter[] = { '-', (char)value, '\0' };
    const char *given;
    bool known = false;
    bool is_long;

    for (const struct option *o = options; o->name; o++)
        known = known || o->val == value;
    if (c == -1 || (known && c == value))
        return c;
    is_long = (known || value == 0) && strncmp(argv[optind - 1], "--", 2) == 0;
    given = is_long ? argv[optind - 1] : letter;
    if (c == ':')
        console_fail("%s: %s needs a value; see rollcall %s --help", subcommand, given, subcommand);
    else if (known && is_long)
        console_fail("%s: %.*s takes no value", subcommand, (int)strcspn(given, "="), given);
    else if (strcmp(subcommand, "exec") == 0)
        console_fail("exec: unknown option '%.64s'; rollcall's options come first, then the program with its own: "
                     "rollcall exec -- CMD %.64s",
                     given, given);
    else
        console_fail("%s: unknown option '%.64s'; see rollcall %s --help", subcommand, given, subcommand);
    return '?';
}

void console_say(enum rc_message_id id, const char *text)
{
    char line[1024];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };

    fputs(rc_message_line(&arena, rc_message_entry(id)->level, id, text), stderr);
}

void console_remark(const char *format, ...)
{
    char line[1024];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    va_list args;

    va_start(args, format);
    fprintf(stderr, "rollcall: %s\n", rc_format_list(&arena, format, args));
    va_end(args);
}
