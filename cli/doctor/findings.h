/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - what rollcall doctor has found, and what it has looked at. */
#ifndef ROLLCALL_CLI_DOCTOR_FINDINGS_H
#define ROLLCALL_CLI_DOCTOR_FINDINGS_H

#include "base/message.h"
#include "cli/catalogue.h"

struct finding {
    const char *id;
    enum rc_level level;
    const char *why;
    char *file;    /* NULL: the machine, the environment or the step */
    unsigned line; /* 0: not of one line */
    char *what;
    char *change; /* the line to change, or what to do */
    size_t order; /* in which it was found */
};

/* Something that was looked at: "script", "train.py: Lightning". */
struct fact {
    char *name;
    char *text;
};

/* Zeroed to begin with. Additions fail by setting `failed`: no memory. */
struct findings {
    struct finding *list;
    size_t count;
    struct fact *facts;
    size_t fact_count;
    bool failed;
};

/* file and change may be NULL; without a change the table's cure stands there. */
void doctor_findings_add(struct findings *findings, enum finding_id id, const char *file, unsigned line,
                         const char *change, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A message of rollcall's own, with its id, if it is an error or a warning. */
void doctor_findings_add_message(struct findings *findings, enum rc_message_id id, const char *text);

void doctor_findings_add_fact(struct findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Errors first, then in the order of files as they were found, and of lines. */
void doctor_findings_sort(struct findings *findings);

size_t doctor_findings_count(const struct findings *findings, enum rc_level level);
void doctor_findings_free(struct findings *findings);

#endif
