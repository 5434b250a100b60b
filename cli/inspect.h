/* SPDX-License-Identifier: BSD-3-Clause */
/* inspect.h - one resolved result, and its words. */
#pragma once

#include "cli.h"
#include "console/input.h"
#include "console/output.h"
#include "effects/look.h"
#include "resolve/resolve.h"
#include "tasks.h"

/* Messages about options, from before there is a result to hold them. */
struct said {
    struct rc_messages messages;
    struct rc_arena arena;
    char text[2048];
};

struct inspection {
    bool json;
    bool whole; /* --long */
    bool why;
    bool own; /* of this process itself */
    struct cli_scope scope;
    struct input input;
    struct rc_here_storage here;
    struct rc_context context;
    struct said said;
    struct rc_result result;
};

/* The options of one resolution: those of --ddp (ddp, NULL where it was not
 * given) over those of the ROLLCALL variable in env. 0, or where one of the
 * two cannot be read, -1 with an error in said. */
int cli_read_options(struct said *said, const char *ddp, const char *const *env, struct rc_options *options);

/* Resolves this process's own environment. 0, or -1 after one line on standard error.
 * The caller calls input_free in both cases. */
int cli_inspect_own(struct inspection *inspection);

/* Reads options and input, resolves, and calls `print`, which returns an exit status. Returns that. */
int cli_inspect(int argc, char **argv, const struct subcommand *self, int (*print)(struct inspection *inspection));

/* The same as cli_report, of this process: for what does not depend on a result. */
int cli_report_own(struct cli_scope *scope, int (*print)(void *more), void *more);

/* Words for a result. */

enum { REPORT_CUT = 64 }; /* bytes that are shown of a value that is not rollcall's own */

struct cli_field {
    const char *name;
    const char *key; /* in JSON */
    const char *meaning;
};

extern const struct cli_field cli_fields[RC_FIELD_COUNT];

/* The variable that a number comes from; "" where the number is not known or not meant. */
const char *cli_report_field_source(const struct rc_result *result, enum rc_field field);

/* "set", "same" (set, but right already), "unset", "keep" */
const char *cli_report_verb(const struct rc_plan_entry *entry);

enum paint cli_report_level_paint(enum rc_level level);

/* "    from    SLURM_PROCID": one fact about the line above it; nothing
 * without a text. -1 without memory. */
int cli_report_detail(const char *label, const char *text);

/* Prints launcher, mode and master: the first lines. -1 without memory. */
int cli_report_head(const struct rc_result *result);
