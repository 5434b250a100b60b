/* SPDX-License-Identifier: BSD-3-Clause */
/* inspect.h - what show and explain share: their options, one resolved result. */
#ifndef ROLLCALL_CLI_INSPECT_H
#define ROLLCALL_CLI_INSPECT_H

#include "cli.h"
#include "console/input.h"
#include "effects/here.h"
#include "resolve/resolve.h"

/* Messages about options, from before there is a result to hold them. */
struct said {
    struct rc_messages messages;
    struct rc_arena arena;
    char text[2048];
};

struct inspection {
    bool json;
    bool whole; /* --long */
    bool own;   /* of this process itself */
    struct input input;
    struct rc_here_storage here;
    struct said said;
    struct rc_result result;
};

/* For getopt_long, but for --help. */
#define INSPECT_OPTIONS                                                                \
    { "from", required_argument, NULL, 'f' }, { "pid", required_argument, NULL, 'p' }, \
        { "ddp", optional_argument, NULL, 'd' },                                       \
    {                                                                                  \
        "json", no_argument, NULL, 'j'                                                 \
    }

/* The help text of the options, for both commands. */
#define INSPECT_HELP                                                                   \
    "      --from FILE   a recorded environment: NUL-separated as in\n"                \
    "                    /proc/PID/environ, or lines KEY=VALUE; - is standard input\n" \
    "      --pid PID     the environment and the command of a process\n"               \
    "      --ddp[=MODE][,KEY=VALUE]...\n"                                              \
    "                    as srun --ddp and rollcall exec --ddp take it\n"              \
    "      --json        one JSON object instead of text\n"                            \
    "  -h, --help        this help\n"                                                  \
    "\n"                                                                               \
    "With -- CMD... the answer is for that command: torchrun and the like need\n"      \
    "another one than a script.\n"                                                     \
    "\n"                                                                               \
    "Exit status: 0 resolved, 1 the facts contradict each other, 2 wrong usage or\n"   \
    "unreadable input.\n"

/* The options of one resolution: those of --ddp (ddp, NULL where it was not
 * given) over those of the ROLLCALL variable in env. 0, or where one of the
 * two cannot be read, -1 with an error in said. */
int cli_read_options(struct said *said, const char *ddp, const char *const *env, struct rc_options *options);

/* Resolves this process's own environment. 0, or -1 after one line on standard error.
 * The caller calls input_free in both cases. */
int cli_inspect_own(struct inspection *inspection);

/* Reads options and input, resolves, and calls `print`, which returns 0, or -1 if it
 * failed. Returns the exit status. */
int cli_inspect(int argc, char **argv, const struct subcommand *self,
                int (*print)(const struct inspection *inspection));

#endif
