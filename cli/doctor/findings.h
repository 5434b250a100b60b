/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - what rollcall doctor has found, and what it has looked at. */
#ifndef ROLLCALL_CLI_DOCTOR_FINDINGS_H
#define ROLLCALL_CLI_DOCTOR_FINDINGS_H

#include "base/message.h"
#include "cli/entries.h"

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

size_t doctor_findings_count(const struct findings *findings, enum rc_level level);

/* Prints all findings, 80 columns wide; the last line is the verdict. Returns 0, or -1 without memory. */
int doctor_print_text(const struct findings *findings);

/* Prints one object, described in rollcall(1). */
void doctor_print_json(const struct findings *findings);

void doctor_findings_free(struct findings *findings);

#endif
