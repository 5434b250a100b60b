/* SPDX-License-Identifier: BSD-3-Clause */
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1024 };

static char *copy_text(struct findings *findings, const char *text)
{
    char *new = text ? strdup(text) : NULL;

    findings->failed = findings->failed || (text && !new);
    return new;
}

static struct finding *append_finding(struct findings *findings)
{
    struct finding *list = realloc(findings->list, (findings->count + 1) * sizeof(*list));

    if (!list) {
        findings->failed = true;
        return NULL;
    }
    findings->list = list;
    list[findings->count] = (struct finding){ .order = findings->count };
    return &list[findings->count++];
}

void doctor_findings_add(struct findings *findings, enum finding_id id, const char *file, unsigned line,
                         const char *change, const char *format, ...)
{
    const struct cli_catalogue_entry *row = cli_catalogue_finding(id);
    struct finding *finding = append_finding(findings);
    char what[LONGEST];
    va_list args;

    if (!finding)
        return;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    finding->id = row->id;
    finding->level = row->level;
    finding->why = row->cause;
    finding->file = copy_text(findings, file);
    finding->line = line;
    finding->what = copy_text(findings, what);
    finding->change = copy_text(findings, change && *change ? change : row->cure);
}

void doctor_findings_add_message(struct findings *findings, enum rc_message_id id, const char *text)
{
    const struct rc_message_entry *entry = rc_message_entry(id);
    struct finding *finding;

    if (entry->level == RC_LEVEL_NOTE)
        return;
    finding = append_finding(findings);
    if (!finding)
        return;
    finding->id = entry->id;
    finding->level = entry->level;
    finding->why = cli_catalogue_message(id)->cause;
    finding->what = copy_text(findings, text);
    finding->change = copy_text(findings, cli_catalogue_message(id)->cure);
}

void doctor_findings_add_fact(struct findings *findings, const char *name, const char *format, ...)
{
    struct fact *facts = realloc(findings->facts, (findings->fact_count + 1) * sizeof(*facts));
    char text[LONGEST];
    va_list args;

    if (!facts) {
        findings->failed = true;
        return;
    }
    findings->facts = facts;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    facts[findings->fact_count].name = copy_text(findings, name);
    facts[findings->fact_count].text = copy_text(findings, text);
    findings->fact_count++;
}

static bool same_file(const struct finding *a, const struct finding *b)
{
    return a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* Whether a comes before b. All findings of a file have the order of its first one. */
static bool is_before(const struct finding *a, const struct finding *b)
{
    if (a->level != b->level)
        return a->level > b->level;
    if (a->order != b->order)
        return a->order < b->order;
    return a->line < b->line;
}

void doctor_findings_sort(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        for (size_t j = 0; j < i; j++)
            if (same_file(&findings->list[i], &findings->list[j]))
                findings->list[i].order = findings->list[j].order;
    /* a stable sort; there are few */
    for (size_t i = 1; i < findings->count; i++) {
        struct finding finding = findings->list[i];
        size_t j = i;

        for (; j > 0 && is_before(&finding, &findings->list[j - 1]); j--)
            findings->list[j] = findings->list[j - 1];
        findings->list[j] = finding;
    }
}

size_t doctor_findings_count(const struct findings *findings, enum rc_level level)
{
    size_t count = 0;

    for (size_t i = 0; i < findings->count; i++)
        count += findings->list[i].level == level;
    return count;
}

void doctor_findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->list[i].file);
        free(findings->list[i].what);
        free(findings->list[i].change);
    }
    for (size_t i = 0; i < findings->fact_count; i++) {
        free(findings->facts[i].name);
        free(findings->facts[i].text);
    }
    free(findings->list);
    free(findings->facts);
    *findings = (struct findings){ .count = 0 };
}
