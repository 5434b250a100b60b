/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.h - what rollcall doctor looks at, and what it has found. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/message.h"
#include "base/text.h"
#include "cli/cli.h"
#include "resolve/resolve.h"

struct finding {
    const char *id;
    enum rc_level level;
    const char *why;
    char *file;    /* NULL: it is about the machine, the environment or the step */
    unsigned line; /* 0: it is not about one line */
    char *what;
    char *change; /* the line to change, or what to do */
    size_t order; /* of discovery */
};

/* Something that was looked at: name "script", text "train.py: Lightning". */
struct doctor_fact {
    char *name;
    char *text;
};

#define DOCTOR_TASK "task" /* the one with the rank */

/* Starts as zeros. Without memory an addition sets `failed`. */
struct findings {
    struct finding *list;
    size_t count;
    struct doctor_fact *facts;
    size_t fact_count;
    bool failed;
};

/* Adds a finding. file and change may be NULL; without a change the table's cure is shown. */
void doctor_findings_add(struct findings *findings, enum finding_id id, const char *file, unsigned line,
                         const char *change, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds one of rollcall's own messages as a finding, if it is an error or a warning. */
void doctor_findings_add_message(struct findings *findings, enum rc_message_id id, const char *text);

void doctor_findings_add_fact(struct findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sorts: errors first, then by file, in the order in which files were found, then by line. */
void doctor_findings_sort(struct findings *findings);

/* The exit status of the command. */
int doctor_findings_status(const struct findings *findings);

/* Prints all findings, 80 columns wide; the last line is the verdict. `titled`: a title says the rank. */
void doctor_print_text(FILE *out, const struct findings *findings, bool titled);

/* Prints one object, described in rollcall(1). */
void doctor_print_json(FILE *out, const struct findings *findings);

void doctor_findings_free(struct findings *findings);

/* The srun of this machine: whether it runs and has the plugin, and its types of --mpi. */

enum { DOCTOR_SERIES = 16, DOCTOR_TYPES = 512 };

struct doctor_slurm {
    char series[DOCTOR_SERIES]; /* "22.05"; empty where there is no srun */
    char types[DOCTOR_TYPES];   /* " none pmi2 pmix "; empty where that is not known */
    bool lacks_option;          /* srun does not know --ddp, or its plugin is switched off */
};

/* The series of the Slurm whose srun or slurmd is on PATH. */
bool doctor_slurm_series(char series[DOCTOR_SERIES]);

/* Rollcall's plugin, by files alone. */

enum { DOCTOR_PLUGIN_TEXT = 4 * PATH_MAX, DOCTOR_LINE = 4096, DOCTOR_RECORD = 4 * PATH_MAX + 2 * DOCTOR_LINE };

struct doctor_plugin {
    char conf[PATH_MAX]; /* the file that names it; plugstack.conf where none does; empty where there is none */
    unsigned line;
    char path[PATH_MAX];        /* as it is written there; empty where none names it */
    char words[DOCTOR_LINE];    /* behind it, with one blank between them */
    char twin[PATH_MAX + 16];   /* FILE:LINE of a second line that names it; empty where there is none */
    char series[DOCTOR_SERIES]; /* of the Slurm that it was built for; this and the next are empty if not known */
    char version[24];
};

void doctor_plugin_find(struct doctor_plugin *found);

/* Whether its line says off. */
bool doctor_plugin_is_off(const struct doctor_plugin *plugin);

/* Why a Slurm of that series ("": not known) does not load it; FINDING_COUNT, and what it is, if it does. */
enum finding_id doctor_plugin_judge(const struct doctor_plugin *plugin, const char *series,
                                    char text[DOCTOR_PLUGIN_TEXT]);

/* Adds what is wrong with one that is loaded: its programs, the words of its line, a second line. */
void doctor_plugin_check(const struct doctor_plugin *plugin, struct findings *findings);

/* Write what nodes compare: the release, `judged` (by doctor_plugin_judge), a sum of each file's content and, unless
 * the line says off, its words. */
#define DOCTOR_RIGHT   "rollcall "
#define DOCTOR_FILES   "; files "
#define DOCTOR_WORDS   "; words "
#define DOCTOR_MISSING "missing"
void doctor_plugin_record(const struct doctor_plugin *plugin, const char *judged, char text[DOCTOR_RECORD]);

/* The plugin on many nodes. */

/* Print this node's lines, in its first task, for doctor_read_nodes; the first nodes also print which nodes there
 * are. */
void doctor_print_here(void);

/* Reads the lines of all nodes from standard input. Returns 0, or -1 after one line on standard error. */
int doctor_read_nodes(struct findings *findings);

/* Asks srun. */
void doctor_slurm(struct findings *findings, struct doctor_slurm *slurm);

/* Adds D105 where srun has no such type. file and line may be NULL and 0. */
void doctor_slurm_type(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *file,
                       unsigned line);

/* Adds D524 where srun would refuse the text. One with variables in it is not looked at. */
void doctor_ddp_option(struct findings *findings, const char *text, const char *file, unsigned line);

/* True if the file has this text. Then `rest` has what follows up to the next zero byte, at most size - 1 bytes. */
bool doctor_text_in_file(const char *path, const char *text, char *rest, size_t size);

/* What Python finds in scripts. */

struct doctor_request {
    const char *script;      /* NULL: none */
    const char *job;         /* a job script, NULL: none */
    const char *const *line; /* srun, sbatch or the command itself; NULL: none */
    bool is_task;            /* and in none of these: the environment is a task's */
};

/* Adds what python/main.py finds; D421 for a file that it could not look at. Returns 0, or -1, after one line on
 * standard error, where a file cannot be read. */
int doctor_script(struct findings *findings, const struct doctor_request *request, const struct doctor_slurm *slurm);

/* What is found around this process. `result` is what it resolves to. */

/* Adds the messages of resolving, and, from rank 0 of a step of srun --ddp, those of the roll of all nodes. */
void doctor_step(struct findings *findings, const struct rc_result *result);

/* The GPUs, cores and limits of this task. */
void doctor_node(struct findings *findings, const struct rc_result *result);

/* Names, ports and interfaces of this node. */
void doctor_network(struct findings *findings, const struct rc_result *result);

/* Whether this node reaches the master port. Does nothing unless rollcall has set the port of a launch on several
 * nodes. Runs in one task a node. */
void doctor_reachability(struct findings *findings, const struct rc_result *result);
