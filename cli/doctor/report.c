/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/report.h"
#include "console/escape.h"
#include "console/table.h"

enum { NAME = 10, PLACE = 512 };

static const char *plural_s(size_t count)
{
    return count == 1 ? "" : "s";
}

static void format_place(const struct finding *finding, char *text, size_t size)
{
    if (finding->file && finding->line)
        snprintf(text, size, "%s:%u", finding->file, finding->line);
    else
        snprintf(text, size, "%s", finding->file ? finding->file : "");
}

void doctor_verdict(const struct findings *findings, char text[DOCTOR_VERDICT])
{
    const size_t size = DOCTOR_VERDICT;
    size_t errors = doctor_findings_count(findings, RC_LEVEL_ERROR);
    size_t warnings = doctor_findings_count(findings, RC_LEVEL_WARNING);
    char where[PLACE];
    int n;

    if (findings->count == 0) {
        snprintf(text, size, "nothing found");
        return;
    }
    format_place(&findings->list[0], where, sizeof(where));
    if (!errors && !warnings) {
        snprintf(text, size, "nothing found, but not all was looked at; see %s%s%s", findings->list[0].id,
                 *where ? ", " : "", where);
        return;
    }
    if (errors && warnings)
        n = snprintf(text, size, "%zu error%s, %zu warning%s", errors, plural_s(errors), warnings, plural_s(warnings));
    else
        n = snprintf(text, size, "%zu %s%s", errors + warnings, errors ? "error" : "warning",
                     plural_s(errors + warnings));
    if (n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "; begin with %s%s%s", findings->list[0].id, *where ? ", " : "", where);
}

static int print_finding(const struct finding *finding)
{
    char where[PLACE];
    char *clean;

    format_place(finding, where, sizeof(where));
    clean = console_escape(rc_str(where), 0);
    if (!clean)
        return -1;
    printf("\n%s%s %s%s%s%s\n", paint_on(cli_report_level_paint(finding->level)), rc_level_name(finding->level),
           finding->id, paint_off(), *clean ? "  " : "", clean);
    free(clean);
    return cli_report_detail("what", finding->what) < 0 || cli_report_detail("why", finding->why) < 0 ||
                   cli_report_detail("change", finding->change) < 0
               ? -1
               : 0;
}

/* Always one line, so that scripts can look for it. */
static int print_verdict(const struct findings *findings)
{
    enum paint paint = findings->count ? cli_report_level_paint(findings->list[0].level) : PAINT_GOOD;
    char text[DOCTOR_VERDICT];
    char *clean;

    doctor_verdict(findings, text);
    clean = console_escape(rc_str(text), 0);
    if (!clean)
        return -1;
    printf("%s%s%-*s%s%s%s%s\n", findings->count ? "\n" : "", paint_on(PAINT_STRONG), (int)NAME, "verdict", paint_off(),
           paint_on(paint), clean, paint_off());
    free(clean);
    return 0;
}

int doctor_print_text(const struct findings *findings)
{
    for (size_t i = 0; i < findings->fact_count; i++) {
        printf("%s%-*s%s", paint_on(PAINT_STRONG), (int)NAME, findings->facts[i].name, paint_off());
        if (console_print_wrapped(NAME, NAME, PAINT_NONE, findings->facts[i].text) < 0)
            return -1;
    }
    for (size_t i = 0; i < findings->count; i++)
        if (print_finding(&findings->list[i]) < 0)
            return -1;
    return print_verdict(findings);
}
