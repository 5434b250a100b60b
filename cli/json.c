/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include "catalogue.h"
#include "console/value.h"
#include "report.h"

static json_t *number_json(uint32_t value)
{
    return value == RC_UNKNOWN ? json_null() : json_integer(value);
}

static json_t *identity_json(const struct rc_result *result)
{
    json_t *object = json_object();
    int failed = 0;

    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++)
        failed |= value_put(object, cli_report_field_key(field), number_json(result->identity.field[field]));
    return value_whole(object, failed);
}

static json_t *master_json(const struct rc_result *result)
{
    const struct rc_master *m = &result->master;

    return json_pack("{s:o, s:o, s:o}", "addr", value_text(m->addr), "port",
                     m->port ? json_integer(m->port) : json_null(), "source",
                     value_text(m->addr ? m->addr_source : NULL));
}

/* {NAME: VALUE} of the plan's entries of one kind. */
static json_t *values_json(const struct rc_plan *plan, enum rc_action action)
{
    json_t *object = json_object();
    int failed = 0;

    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == action)
            failed |= value_put(object, plan->entry[i].name.p, value_text(plan->entry[i].value));
    return value_whole(object, failed);
}

static json_t *names_json(const struct rc_plan *plan, enum rc_action action)
{
    json_t *array = json_array();
    int failed = 0;

    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == action)
            failed |= json_array_append_new(array, value_text(plan->entry[i].name.p));
    return value_whole(array, failed);
}

static json_t *message_json(enum rc_message_id id, const char *text, bool explain)
{
    const struct cli_catalogue_entry *words = cli_catalogue_message(id);
    json_t *object = value_message(id, text);

    if (!explain || !object)
        return object;
    return value_whole(object, value_put(object, "cause", value_text(words->cause)) |
                                   value_put(object, "cure", value_text(words->cure)));
}

static json_t *messages_json(const struct rc_messages *list, bool explain)
{
    json_t *array = json_array();
    int failed = 0;

    for (unsigned i = 0; i < list->count; i++)
        failed |= json_array_append_new(array, message_json(list->list[i].id, list->list[i].text, explain));
    return value_whole(array, failed);
}

/* Where each value comes from, in the identity and in the variables. */
static json_t *sources_json(const struct rc_result *result)
{
    json_t *object = json_object();
    int failed = 0;

    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        const char *source = cli_report_field_source(result, field);

        if (*source)
            failed |= value_put(object, cli_report_field_key(field), value_text(source));
    }
    for (unsigned i = 0; i < result->plan.count; i++)
        if (result->plan.entry[i].source)
            failed |= value_put(object, result->plan.entry[i].name.p, value_text(result->plan.entry[i].source));
    return value_whole(object, failed);
}

static json_t *reasons_json(const struct rc_result *result)
{
    json_t *object = json_object();
    int failed = value_put(object, "mode", value_text(result->mode_reason));

    for (unsigned i = 0; i < result->plan.count; i++)
        failed |= value_put(object, result->plan.entry[i].name.p, value_text(result->plan.entry[i].reason));
    return value_whole(object, failed);
}

static json_t *rejected_json(const struct rc_plan *plan)
{
    json_t *array = json_array();
    int failed = 0;

    for (unsigned i = 0; i < plan->rejected_count; i++)
        failed |= json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "name", plan->rejected[i].name, "value",
                                                         value_slice(plan->rejected[i].value), "reason",
                                                         value_text(plan->rejected[i].reason)));
    return value_whole(array, failed);
}

static json_t *build_result(const struct rc_result *result, bool explain)
{
    json_t *object = json_object();
    int failed = value_put(object, "schema", json_integer(JSON_SCHEMA)) |
                 value_put(object, "launcher", value_text(result->launcher ? result->launcher->id : NULL)) |
                 value_put(object, "mode", json_string(rc_mode_name(result->mode))) |
                 value_put(object, "identity", identity_json(result)) |
                 value_put(object, "master", master_json(result)) |
                 value_put(object, "set", values_json(&result->plan, RC_SET)) |
                 value_put(object, "unset", names_json(&result->plan, RC_UNSET)) |
                 value_put(object, "messages", messages_json(&result->messages, explain));

    if (explain)
        failed |= value_put(object, "keep", values_json(&result->plan, RC_KEEP)) |
                  value_put(object, "sources", sources_json(result)) |
                  value_put(object, "reasons", reasons_json(result)) |
                  value_put(object, "rejected", rejected_json(&result->plan));
    return value_whole(object, failed);
}

int cli_json_print(const struct rc_result *result, bool explain)
{
    return value_print(build_result(result, explain));
}

int cli_json_print_entries(const struct cli_catalogue_entry *entry, size_t count)
{
    json_t *array = json_array();
    int failed = 0;

    for (size_t i = 0; i < count; i++)
        failed |= json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", entry[i].id, "level",
                                                         rc_level_name(entry[i].level), "cause", entry[i].cause,
                                                         "example", entry[i].example, "cure", entry[i].cure));
    return value_print(json_pack("{s:i, s:o}", "schema", JSON_SCHEMA, "messages", value_whole(array, failed)));
}
