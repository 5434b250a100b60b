/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddpoption.h"

#include <string.h>

#include "resolve/options.h"

enum { WORDS = 4096 };

void doctor_ddp_option(struct findings *findings, const char *text, const char *file, unsigned line)
{
    char words[WORDS];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };
    struct rc_messages wrong = { .count = 0 };
    struct rc_options options;

    if (strchr(text, '$') || rc_options_parse(rc_str(text), "--ddp", &options, &wrong, &arena) || wrong.count == 0)
        return;
    doctor_findings_add(findings, FINDING_D524, file, line, NULL, "%s", wrong.list[0].text);
}
