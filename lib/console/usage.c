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

const char *console_nearest(const char *mistyped, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t length = strlen(mistyped);
    /* a word at a larger distance is no mistyped one */
    unsigned best = length > RC_NEAREST_LONGEST ? 0 : (unsigned)(length + 1) / 2;

    for (size_t i = 0; i < count; i++) {
        unsigned d = rc_nearest_distance(rc_str(mistyped), rc_str(names[i]));

        if (d < best || (d == best && !nearest)) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}

enum { OPTIONS_MAX = 16 };

static void report_unknown(const char *subcommand, const char *given, const struct option *options)
{
    const char *names[OPTIONS_MAX];
    const char *nearest;
    char name[RC_NEAREST_LONGEST + 1];
    size_t n = 0;

    while (n < OPTIONS_MAX && options[n].name) {
        names[n] = options[n].name;
        n++;
    }
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + strspn(given, "-"), "="), given + strspn(given, "-"));
    nearest = console_nearest(name, names, n);
    if (nearest)
        console_fail("%s: unknown option '%.64s'; did you mean --%s?", subcommand, given, nearest);
    else
        console_fail("%s: unknown option '%.64s'; see rollcall %s --help", subcommand, given, subcommand);
}

int console_getopt(const char *subcommand, int argc, char **argv, const struct option *options)
{
    /* "+" stops at the first operand, which is exec's command; ":" tells a missing value from an unknown option */
    int c = getopt_long(argc, argv, "+:hv", options, NULL);
    const char *given = optind > 0 ? argv[optind - 1] : "";
    bool known = false;

    for (const struct option *o = options; o->name; o++)
        known = known || o->val == (c == '?' || c == ':' ? optopt : c);
    if (c == -1 || (c != '?' && c != ':' && known))
        return c;
    if (c == ':')
        console_fail("%s: %s needs a value; see rollcall %s --help", subcommand, given, subcommand);
    else if (known && given[0] == '-' && given[1] == '-')
        console_fail("%s: %.*s takes no value", subcommand, (int)strcspn(given, "="), given);
    else if (optopt > 0 && optopt < 256 && !(given[0] == '-' && given[1] == '-'))
        console_fail("%s: unknown option '-%c'; see rollcall %s --help", subcommand, optopt, subcommand);
    else if (c != '?')
        console_fail("%s: unknown option '-%c'; see rollcall %s --help", subcommand, c, subcommand);
    else
        report_unknown(subcommand, given, options);
    return '?';
}

void console_say(enum rc_message_id id, const char *text)
{
    char line[1024];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };

    fputs(rc_message_line(&arena, rc_message_entry(id)->level, id, text), stderr);
}

void console_remark(const char *text)
{
    char line[1024];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };

    fputs(rc_format(&arena, "rollcall: %s\n", text), stderr);
}
