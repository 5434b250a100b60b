/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.h - the checks of rollcall doctor, and its findings. */
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
    char *file;    /* NULL: about the machine, the environment or the step */
    unsigned line; /* 0: not about a line */
    char *what;
    char *change; /* the replacement for the line, or advice */
    size_t order; /* of discovery */
};

/* An observation: name "script", text "train.py: Lightning". */
struct doctor_fact {
    char *name;
    char *text;
};

#define DOCTOR_TASK "task" /* the fact with the rank */

/* Zero it to begin. An addition without memory sets `failed`. */
struct findings {
    struct finding *list;
    size_t count;
    struct doctor_fact *facts;
    size_t fact_count;
    bool failed;
};

/* Add a finding. file and change may be NULL; the default change is the table's cure. */
void doctor_findings_add(struct findings *findings, enum finding_id id, const char *file, unsigned line,
                         const char *change, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Add a message of rollcall as a finding, if it is an error or a warning. */
void doctor_findings_add_message(struct findings *findings, enum rc_message_id id, const char *text);

void doctor_findings_add_fact(struct findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sort: errors first, then files in order of discovery, then lines. */
void doctor_findings_sort(struct findings *findings);

/* Return the exit status of the command. */
int doctor_findings_status(const struct findings *findings);

/* Print all findings, 80 columns wide, then the verdict. `titled`: a title has the rank. */
void doctor_print_text(FILE *out, const struct findings *findings, bool titled);

/* Print one object, described in rollcall(1). */
void doctor_print_json(FILE *out, const struct findings *findings);

void doctor_findings_free(struct findings *findings);

/* The srun of this machine. */

enum { DOCTOR_SERIES = 16, DOCTOR_TYPES = 512 };

struct doctor_slurm {
    char series[DOCTOR_SERIES]; /* "22.05"; empty: no srun */
    char types[DOCTOR_TYPES];   /* types of --mpi, " none pmi2 pmix "; empty: unknown */
    bool lacks_option;          /* srun lacks --ddp, or its plugin is disabled */
};

/* Find the series of the Slurm whose srun or slurmd is on PATH. */
bool doctor_slurm_series(char series[DOCTOR_SERIES]);

/* Rollcall's plugin, as its files describe it. */

enum { DOCTOR_PLUGIN_TEXT = 4 * PATH_MAX, DOCTOR_LINE = 4096, DOCTOR_RECORD = 4 * PATH_MAX + 2 * DOCTOR_LINE };

struct doctor_plugin {
    char conf[PATH_MAX]; /* the file that names it; else plugstack.conf; empty: none */
    unsigned line;
    char path[PATH_MAX];        /* as written there; empty: not named */
    char words[DOCTOR_LINE];    /* the words after it, separated by one blank */
    char twin[PATH_MAX + 16];   /* FILE:LINE of a second line that names it; empty: none */
    char series[DOCTOR_SERIES]; /* of its Slurm; this and the next are empty if unknown */
    char version[24];
};

void doctor_plugin_find(struct doctor_plugin *found);

/* Return whether its line has off. */
bool doctor_plugin_is_off(const struct doctor_plugin *plugin);

/* Return the reason that a Slurm of that series ("": unknown) does not load it; or FINDING_COUNT, and describe it. */
enum finding_id doctor_plugin_judge(const struct doctor_plugin *plugin, const char *series,
                                    char text[DOCTOR_PLUGIN_TEXT]);

/* Add errors of a loaded plugin: its programs, the words of its line, a second line. */
void doctor_plugin_check(const struct doctor_plugin *plugin, struct findings *findings);

/* Write a record to compare nodes: the release, `judged` (by doctor_plugin_judge), a checksum of each file and, unless
 * the line has off, its words. */
#define DOCTOR_RIGHT   "rollcall "
#define DOCTOR_FILES   "; files "
#define DOCTOR_WORDS   "; words "
#define DOCTOR_MISSING "missing"
void doctor_plugin_record(const struct doctor_plugin *plugin, const char *judged, char text[DOCTOR_RECORD]);

/* The plugin on many nodes. */

/* In a node's first task: print its lines for doctor_read_nodes, and on the first nodes the list of nodes. */
void doctor_print_here(void);

/* Read the lines of all nodes from standard input. Return 0, or -1 after one line on standard error. */
int doctor_read_nodes(struct findings *findings);

/* Query srun. */
void doctor_slurm(struct findings *findings, struct doctor_slurm *slurm);

/* Add D105 if srun lacks this type. file and line may be NULL and 0. */
void doctor_slurm_type(struct findings *findings, const struct doctor_slurm *slurm, const char *type, const char *file,
                       unsigned line);

/* Add D524 if srun would refuse the text. Skip a text with variables. */
void doctor_ddp_option(struct findings *findings, const char *text, const char *file, unsigned line);

/* Return whether the file contains `text`. Copy up to size - 1 bytes after it, until a zero byte, to `rest`. */
bool doctor_text_in_file(const char *path, const char *text, char *rest, size_t size);

/* Input of the Python checks. */

struct doctor_request {
    const char *script;      /* or NULL */
    const char *job;         /* a job script, or NULL */
    const char *const *line; /* srun, sbatch or the command; or NULL */
    bool is_task;            /* otherwise: the environment is a task's */
};

/* Add the findings of python/main.py; D421 for an unreadable file. Return 0, or -1 after one line on standard error if
 * a given file cannot be read. */
int doctor_script(struct findings *findings, const struct doctor_request *request, const struct doctor_slurm *slurm);

/* Checks around this process, which resolves to `result`. */

/* Add the messages of resolving and, from rank 0 of a step of srun --ddp, those of the roll. */
void doctor_step(struct findings *findings, const struct rc_result *result);

/* Check GPUs, cores and limits of this task. */
void doctor_node(struct findings *findings, const struct rc_result *result);

/* Check names, ports and interfaces of this node. */
void doctor_network(struct findings *findings, const struct rc_result *result);

/* Check that this node reaches the master port, in one task per node, if rollcall set the port of a launch on several
 * nodes. */
void doctor_reachability(struct findings *findings, const struct rc_result *result);
