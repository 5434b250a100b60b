/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h - subcommands, catalogues, helper programs, JSON. */
#pragma once

#include <limits.h>

#include "base/text.h"
#include "console/output.h"

struct rc_context;
struct rc_result;
struct roster;

struct subcommand {
    const char *name;
    const char *summary;     /* one line of `rollcall --help` */
    const char *help;        /* `rollcall NAME --help`; source of completions for options */
    const char *more;        /* text after the modes and keys of --ddp; or NULL */
    int (*run)(char **argv); /* argv[0] is the subcommand; returns the exit status */
};

extern const struct subcommand cli_exec;
extern const struct subcommand cli_show;
extern const struct subcommand cli_explain;
extern const struct subcommand cli_check;
extern const struct subcommand cli_map;
extern const struct subcommand cli_doctor;
extern const struct subcommand cli_rehearse;

/* NULL-terminated, in the order of the help. */
extern const struct subcommand *const cli_subcommands[];

/* `rollcall complete`, for completions of shells; not in the help. */
int cli_complete(int argc, char **argv);

/* Meet the other tasks for a resolved task. With a PMIx server the tasks of a node report to local rank 0, and those of
 * several nodes meet over PMIx. All get the port that RANK 0 holds, and are resolved again. A failure leaves the
 * computed port, with RC611; *speaks: print RC611, RC612 or RC613 for this node. Then look up the master
 * (lib/effects/lookup.h), and hold the port in RANK 0 (lib/effects/rank0.h), across exec. Return false, with an error
 * in result->messages, if the command must not run. */
bool cli_meet(struct rc_context *context, struct rc_result *result, bool *speaks);

/* Add the error of the master's address or port (RC407, RC405) with which cli_meet would refuse a resolved task, and
 * refuse the result. Do not meet, nor hold a free port. */
void cli_meet_try(const struct rc_context *context, struct rc_result *result);

/* Return the values that are only decided at the start of the command; or NULL. */
const char *cli_meet_left(const struct rc_result *result);

/* With PMIx 4 set PMIX_MCA_gds=hash in this process, unless set: other stores do not serve a second client of a task,
 * as the program is after rollcall-pmix. All tasks of a node need the same value. */
void cli_choose_store(struct rc_context *context, struct rc_result *result);

/* Print a line about the plugin that Slurm loads here, from plugstack.conf and the plugin's file. */
void cli_print_plugin(void);

/* Print a line for each mode and key, indented, at most 80 columns. */
void cli_print_ddp_help(void);

/* The catalogue entry of a message (base/messages.def) or a finding (findings.def). */

enum finding_id {
#define ROLLCALL_FINDING(id, level, cause, cure) FINDING_##id,
#include "cli/findings.def"
#undef ROLLCALL_FINDING
    FINDING_COUNT
};

struct cli_catalogue_entry {
    const char *id;
    enum rc_level level;
    const char *cause;
    const char *cure;
};

enum { CLI_CATALOGUE_SIZE = RC_MESSAGE_COUNT + FINDING_COUNT };

/* All messages, then all findings. */
extern const struct cli_catalogue_entry cli_catalogue[CLI_CATALOGUE_SIZE];

static inline const struct cli_catalogue_entry *cli_catalogue_message(enum rc_message_id id)
{
    return &cli_catalogue[id];
}

static inline const struct cli_catalogue_entry *cli_catalogue_finding(enum finding_id id)
{
    return &cli_catalogue[RC_MESSAGE_COUNT + id];
}

/* Return the id of "D403"; FINDING_COUNT if unknown. */
enum finding_id cli_catalogue_find_finding(const char *name);

/* Find a program of rollcall, relative to this command. Return 0, or -1 with errno set. */
int cli_own_program(const char *name, char path[PATH_MAX]);

/* Query the PMIx server through rollcall-pmix, which the server takes for this task: neither this process nor its
 * children may have connected. Return lines of lib/launcher/families.h in static storage; not thread safe. Usually
 * ~0.03 s, at most 12 s.
 * Leave no process, but the connection, across exec: the server must not see its end while other ranks are in MPI_Init
 * (libexec/pmix). */
struct rc_str cli_pmix_ask(void);

/* JSON for programs: schema 1, described in rollcall(1). */

/* Print one object. is_own: the result is of this process. `why`: add sources, and kept and rejected values with
 * reasons. */
void cli_json_print(FILE *out, const struct rc_result *result, bool is_own, bool why);

/* Print the roll of a live step as one object. Return the exit status. */
int cli_roster_print_json(const struct roster *roster);
