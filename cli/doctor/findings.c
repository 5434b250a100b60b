/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect.h"
#include "console/json.h"
#include "console/output.h"

enum { LONGEST = 1024, NAME = 10, PLACE = 512, VERDICT = PLACE + 64 };

static char *copy_text(struct findings *findings, const char *text)
{
    char *new = text ? strdup(text) : NULL;

    findings->failed = findings->failed || (text && !new);
    return new;
}

/* Add a finding from a row of the catalogue. */
static void append_finding(struct findings *findings, const struct cli_catalogue_entry *row, const char *file,
                           unsigned line, const char *what, const char *change)
{
    struct finding *list = realloc(findings->list, (findings->count + 1) * sizeof(*list));

    if (!list) {
        findings->failed = true;
        return;
    }
    findings->list = list;
    list[findings->count] = (struct finding){
        .id = row->id,
        .level = row->level,
        .why = row->cause,
        .file = copy_text(findings, file),
        .line = line,
        .what = copy_text(findings, what),
        .change = copy_text(findings, change && *change ? change : row->cure),
        .order = findings->count,
    };
    findings->count++;
}

void doctor_findings_add(struct findings *findings, enum finding_id id, const char *file, unsigned line,
                         const char *change, const char *format, ...)
{
    char *what;
    va_list args;

    va_start(args, format);
    if (vasprintf(&what, format, args) < 0)
        what = NULL;
    va_end(args);
    findings->failed = findings->failed || !what;
    append_finding(findings, cli_catalogue_finding(id), file, line, what, change);
    free(what);
}

void doctor_findings_add_message(struct findings *findings, enum rc_message_id id, const char *text)
{
    if (cli_catalogue_message(id)->level != RC_LEVEL_NOTE)
        append_finding(findings, cli_catalogue_message(id), NULL, 0, text, NULL);
}

void doctor_findings_add_fact(struct findings *findings, const char *name, const char *format, ...)
{
    struct doctor_fact *facts = realloc(findings->facts, (findings->fact_count + 1) * sizeof(*facts));
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

static bool is_unread(const struct finding *finding)
{
    return finding->level == RC_LEVEL_NOTE && strncmp(finding->id, "D42", 3) == 0;
}

/* Sort all findings of a file by its first one. */
static bool is_before(const struct finding *a, const struct finding *b)
{
    if (a->level != b->level)
        return a->level > b->level;
    if (is_unread(a) != is_unread(b))
        return is_unread(a);
    if (a->order != b->order)
        return a->order < b->order;
    return a->line < b->line;
}

void doctor_findings_sort(struct findings *findings)
{
    struct finding *list = findings->list;

    for (size_t i = 0; i < findings->count; i++)
        for (size_t j = 0; j < i; j++)
            if (list[i].file && list[j].file && strcmp(list[i].file, list[j].file) == 0)
                list[i].order = list[j].order;
    /* a stable sort; there are few */
    for (size_t i = 1; i < findings->count; i++) {
        struct finding finding = list[i];
        size_t j = i;

        for (; j > 0 && is_before(&finding, &list[j - 1]); j--)
            list[j] = list[j - 1];
        list[j] = finding;
    }
}

/* Count only notes about skipped checks. */
static unsigned count_of(const struct findings *findings, enum rc_level level)
{
    unsigned count = 0;

    for (size_t i = 0; i < findings->count; i++)
        count += findings->list[i].level == level && (level != RC_LEVEL_NOTE || is_unread(&findings->list[i]));
    return count;
}

int doctor_findings_status(const struct findings *findings)
{
    if (count_of(findings, RC_LEVEL_ERROR))
        return 3;
    return count_of(findings, RC_LEVEL_WARNING) ? 1 : count_of(findings, RC_LEVEL_NOTE) ? 4 : STATUS_RESOLVED;
}

static void format_place(const struct finding *finding, char *text, size_t size)
{
    if (finding->file && finding->line)
        snprintf(text, size, "%s:%u", finding->file, finding->line);
    else
        snprintf(text, size, "%s", finding->file ? finding->file : "");
}

/* Write the number of findings, and the first place to look. */
static void format_verdict(const struct findings *findings, char text[VERDICT])
{
    unsigned errors = count_of(findings, RC_LEVEL_ERROR);
    unsigned warnings = count_of(findings, RC_LEVEL_WARNING);
    struct rc_arena arena = { .base = text, .size = VERDICT };
    char where[PLACE];

    if (findings->count == 0) {
        rc_format(&arena, "nothing found");
        return;
    }
    if (errors)
        rc_format(&arena, "%u error%s", errors, errors == 1 ? "" : "s");
    if (errors && warnings)
        rc_join(&arena);
    if (warnings)
        rc_format(&arena, "%s%u warning%s", errors ? ", " : "", warnings, warnings == 1 ? "" : "s");
    if (errors || warnings)
        rc_join(&arena);
    format_place(&findings->list[0], where, sizeof(where));
    rc_format(&arena, "%s %s%s%s%s",
              errors || warnings                  ? "; begin with"
              : count_of(findings, RC_LEVEL_NOTE) ? "nothing found, but not all was looked at; see"
                                                  : "nothing found, but see the note",
              findings->list[0].id, *where ? ", " : "", where,
              (errors || warnings) && count_of(findings, RC_LEVEL_NOTE) ? "; not all was looked at" : "");
}

static void print_finding(FILE *out, const struct finding *finding)
{
    char where[PLACE];

    format_place(finding, where, sizeof(where));
    fprintf(out, "\n%s%s %s%s%s", paint_on(cli_report_level_paint(finding->level)), rc_level_name(finding->level),
            finding->id, paint_off(), *where ? "  " : "");
    console_print(out, rc_str(where), 0);
    putc('\n', out);
    cli_report_detail(out, "what", finding->what);
    cli_report_detail(out, "why", finding->why);
    cli_report_detail(out, "change", finding->change);
}

/* Always one line, so that scripts can find it. */
static void print_verdict(FILE *out, const struct findings *findings)
{
    enum paint paint = findings->count ? cli_report_level_paint(findings->list[0].level) : PAINT_GOOD;
    char text[VERDICT];

    format_verdict(findings, text);
    fprintf(out, "%s%s%-*s%s%s", findings->count ? "\n" : "", paint_on(PAINT_STRONG), (int)NAME, "verdict", paint_off(),
            paint_on(paint));
    console_print(out, rc_str(text), 0);
    fprintf(out, "%s\n", paint_off());
}

void doctor_print_text(FILE *out, const struct findings *findings, bool titled)
{
    for (size_t i = 0; i < findings->fact_count; i++) {
        if (titled && strcmp(findings->facts[i].name, DOCTOR_TASK) == 0)
            continue;
        fprintf(out, "%s%-*s%s", paint_on(PAINT_STRONG), (int)NAME, findings->facts[i].name, paint_off());
        console_print_wrapped(out, NAME, NAME, PAINT_NONE, findings->facts[i].text);
    }
    for (size_t i = 0; i < findings->count; i++)
        print_finding(out, &findings->list[i]);
    print_verdict(out, findings);
}

static void write_facts(struct json *json, const struct findings *findings)
{
    json_open_array(json, "looked_at");
    for (size_t i = 0; i < findings->fact_count; i++) {
        json_open_object(json, NULL);
        json_text(json, "name", findings->facts[i].name);
        json_text(json, "text", findings->facts[i].text);
        json_close(json);
    }
    json_close(json);
}

static void write_finding(struct json *json, const struct finding *finding)
{
    json_open_object(json, NULL);
    json_text(json, "id", finding->id);
    json_text(json, "level", rc_level_name(finding->level));
    json_text(json, "file", finding->file);
    json_number_if(json, "line", finding->line != 0, finding->line);
    json_text(json, "what", finding->what);
    json_text(json, "why", finding->why);
    json_text(json, "change", finding->change);
    json_close(json);
}

void doctor_print_json(FILE *out, const struct findings *findings)
{
    char verdict[VERDICT];
    struct json json = json_begin(out);

    write_facts(&json, findings);
    json_open_array(&json, "findings");
    for (size_t i = 0; i < findings->count; i++)
        write_finding(&json, &findings->list[i]);
    json_close(&json);
    format_verdict(findings, verdict);
    json_text(&json, "verdict", verdict);
    json_end(&json);
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
