/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.h - exit statuses, and messages about wrong usage. */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/message.h"

/* Exit statuses. exec adds 126 and 127, as a shell does. */
enum {
    STATUS_RESOLVED = 0,
    STATUS_CONTRADICTION = 1, /* the facts contradict each other: nothing was set */
    STATUS_USAGE = 2,         /* wrong usage, unreadable input, output that cannot be written */
};

/* Prints one line on standard error, "rollcall: TEXT", escaped. Returns STATUS_USAGE. */
int console_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message on standard error in one write, so that lines of many tasks do not mix. */
void console_say(enum rc_message_id id, const char *text);

/* Prints "rollcall: TEXT" so, for --verbose; the format is rc_format's. */
void console_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* getopt_long that stops at the first operand. For a wrong option it prints
 * one line, and returns '?'. */
int console_getopt(const char *subcommand, int argc, char **argv, const struct option *options);
