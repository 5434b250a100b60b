/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h - the subcommands, and what they share: catalogues, programs, JSON. */
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
    const char *help;        /* `rollcall NAME --help`; options are completed from it */
    const char *more;        /* behind the modes and keys of --ddp; or NULL */
    int (*run)(char **argv); /* argv[0] is the subcommand; returns the exit status */
};

extern const struct subcommand cli_exec;
extern const struct subcommand cli_show;
extern const struct subcommand cli_explain;
extern const struct subcommand cli_check;
extern const struct subcommand cli_map;
extern const struct subcommand cli_doctor;

/* All of them, in the order of the help, and a NULL. */
extern const struct subcommand *const cli_subcommands[];

/* `rollcall complete`, which only the completions of shells call: no subcommand of the help. */
int cli_complete(int argc, char **argv);

/* For a resolved task. Under a launcher with a PMIx server the tasks of a node report to their first one (local rank
 * 0). If there are several nodes, those first tasks meet over PMIx. All get the port that RANK 0 holds, and are
 * resolved once more with it. Any failure leaves the port that each task computes by itself, with a warning (RC611);
 * *speaks says whether this process prints that, RC612 or RC613 for its node. Then looks up what result->master leaves
 * to the node (lib/effects/lookup.h), and holds the port in RANK 0's own process (lib/effects/rank0.h); it stays open
 * across exec. Return false, with an error in result->messages, if the command must not run. */
bool cli_meet(struct rc_context *context, struct rc_result *result, bool *speaks);

/* For a resolved task, before its command starts: add the error with which cli_meet would refuse it for the master's
 * address or port (RC407, RC405), and refuse the result. Do not meet, nor bind a free port. */
void cli_meet_try(const struct rc_context *context, struct rc_result *result);

/* Return what only the start of the command decides; NULL if nothing. */
const char *cli_meet_left(const struct rc_result *result);

/* With PMIx 4, sets PMIX_MCA_gds=hash in this process's environment, unless that is
 * set. Only this store also serves a second client of a task, and the program itself is
 * the second one after rollcall-pmix. All tasks of a node must have the same value. */
void cli_choose_store(struct rc_context *context, struct rc_result *result);

/* Prints a line on the plugin that Slurm loads on this machine, by what plugstack.conf and the plugin's file say. */
void cli_print_plugin(void);

/* Prints a line for each mode and each key to standard output, indented and 80 columns wide at most. */
void cli_print_ddp_help(void);

/* What people want to know of a message (base/messages.def) or a finding of the doctor (findings.def). */

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

/* The id of a name, "D403"; FINDING_COUNT where there is none. */
enum finding_id cli_catalogue_find_finding(const char *name);

/* The path of one of rollcall's own programs, installed with this very command wherever
 * it is installed. 0, or -1 with errno. */
int cli_own_program(const char *name, char path[PATH_MAX]);

/* Has rollcall-pmix ask the PMIx server of the launcher that started this process, which has not connected itself, nor
 * have its children: the server takes rollcall-pmix for the task. Returns lines as in lib/launcher/families.h, in
 * static storage that the next call overwrites: for one thread only. Takes some hundredths of a second, 12 seconds at
 * most.
 * Leaves no process, but the connection, which the program that this one becomes keeps open: the server must not see
 * its end while other ranks are in MPI_Init (libexec/pmix). */
struct rc_str cli_pmix_ask(void);

/* A result and a roll for programs: schema 1, described in rollcall(1). */

/* Prints one object. is_own: the result is of this very process. `why` adds where each value came from, what was
 * kept, what was not believed, and why. */
void cli_json_print(FILE *out, const struct rc_result *result, bool is_own, bool why);

/* Prints the roll of a live step as one object. Returns an exit status. */
int cli_roster_print_json(const struct roster *roster);
