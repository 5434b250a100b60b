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
    struct input input; /* the caller's */
    bool called;        /* the caller's: resolve as exec would for a command of this process */
    struct rc_here_storage here;
    struct rc_context context;
    struct said said;
    struct rc_result result;
};

/* The options of one resolution: those of --ddp (ddp, NULL where it was not
 * given) over those of the ROLLCALL variable in env. 0, or where one of the
 * two cannot be read, -1 with an error in said. */
int cli_read_options(struct said *said, const char *ddp, const char *const *env, struct rc_options *options);

/* Add RC425 if a variable names an interface that this node does not have. */
void cli_say_interfaces(struct rc_result *result);

/* Add RC916 if the workers share too few cores. */
void cli_say_crowded(const struct rc_context *context, struct rc_result *result);

/* Resolve a process of this node, with what there is to learn of it. here->file is never freed. */
void cli_resolve(struct rc_context *context, struct rc_here_storage *here, struct rc_result *result);

/* Resolves the input's environment. ddp and argv, those of --ddp and of its command, may be NULL. */
void cli_inspect(struct inspection *inspection, const char *ddp, const char *const *argv);

/* The same of this process's own environment: there is no input to free. */
void cli_inspect_own(struct inspection *inspection);

/* The same as cli_report, of this process: for what does not depend on a result. */
int cli_report_own(struct cli_scope *scope, cli_print *print, void *more);

/* Words for a result. */

struct cli_field {
    const char *name;
    const char *key; /* in JSON */
};

extern const struct cli_field cli_fields[RC_FIELD_COUNT];

enum paint cli_report_level_paint(enum rc_level level);

/* "    from    SLURM_PROCID": one fact about the line above it; nothing without a text. */
void cli_report_detail(FILE *out, const char *label, const char *text);
