/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include "console/json.h"
#include "report.h"

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

void doctor_print_json(const struct findings *findings)
{
    char verdict[DOCTOR_VERDICT];
    struct json json = json_begin(stdout);

    write_facts(&json, findings);
    json_open_array(&json, "findings");
    for (size_t i = 0; i < findings->count; i++)
        write_finding(&json, &findings->list[i]);
    json_close(&json);
    doctor_verdict(findings, verdict);
    json_text(&json, "verdict", verdict);
    json_end(&json);
}
