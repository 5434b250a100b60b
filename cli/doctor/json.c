/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include "cli/json.h"
#include "console/value.h"
#include "report.h"

static json_t *facts_json(const struct findings *findings)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < findings->fact_count; i++)
        failed |= json_array_append_new(list, json_pack("{s:o, s:o}", "name", value_text(findings->facts[i].name),
                                                        "text", value_text(findings->facts[i].text)));
    return value_whole(list, failed);
}

static json_t *findings_json(const struct findings *findings)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->list[i];

        failed |= json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "id", f->id, "level", rc_level_name(f->level),
                            "file", value_text(f->file), "line", f->line ? json_integer(f->line) : json_null(), "what",
                            value_text(f->what), "why", f->why, "change", value_text(f->change)));
    }
    return value_whole(list, failed);
}

int doctor_print_json(const struct findings *findings)
{
    char verdict[DOCTOR_VERDICT];

    doctor_verdict(findings, verdict);
    return value_print(json_pack("{s:i, s:o, s:o, s:o}", "schema", JSON_SCHEMA, "looked_at", facts_json(findings),
                                 "findings", findings_json(findings), "verdict", value_text(verdict)));
}
