/* SPDX-License-Identifier: BSD-3-Clause */
/* inspect.h - resolve a process, and print results. */
#pragma once

#include "cli.h"
#include "console/input.h"
#include "console/output.h"
#include "effects/look.h"
#include "resolve/resolve.h"
#include "tasks.h"

/* Messages about options, before there is a result. */
struct said {
    struct rc_messages messages;
    struct rc_arena arena;
    char text[2048];
};

struct inspection {
    struct input input; /* set by the caller */
    bool called;        /* set by the caller: resolve as exec would for a command of this process */
    struct rc_here_storage here;
    struct rc_context context;
    struct said said;
    struct rc_result result;
};

/* Read the options: --ddp (ddp, or NULL) overrides the ROLLCALL variable in env. Return 0, or -1 with an error in
 * `said`. */
int cli_read_options(struct said *said, const char *ddp, const char *const *env, struct rc_options *options);

/* Add RC425 if a variable names an interface that this node lacks. */
void cli_say_interfaces(struct rc_result *result);

/* Add RC916 if the workers share too few cores. */
void cli_say_crowded(const struct rc_context *context, struct rc_result *result);

/* Resolve a process of this node, with the node's data. here->file is never freed. */
void cli_resolve(struct rc_context *context, struct rc_here_storage *here, struct rc_result *result);

/* Resolve the input's environment. ddp (--ddp) and argv (its command) may be NULL. */
void cli_inspect(struct inspection *inspection, const char *ddp, const char *const *argv);

/* The same for this process, without an input to free. */
void cli_inspect_own(struct inspection *inspection);

/* cli_report for this process, for output that needs no result. */
int cli_report_own(struct cli_scope *scope, cli_print *print, void *more);

struct cli_field {
    const char *name;
    const char *key; /* in JSON */
};

extern const struct cli_field cli_fields[RC_FIELD_COUNT];

enum paint cli_report_level_paint(enum rc_level level);

/* Print "    from    SLURM_PROCID", a detail of the line above; nothing if text is NULL. */
void cli_report_detail(FILE *out, const char *label, const char *text);
