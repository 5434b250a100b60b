#include "json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalogue.h"
#include "escape.h"
#include "report.h"

/* jansson refuses text that is not UTF-8, and environments may hold anything. */
static json_t *slice(struct rc_str text)
{
    char *clean;
    json_t *string;

    if (!text.p)
        return json_null();
    clean = escape_invalid_utf8(text);
    string = clean ? json_string(clean) : NULL;
    free(clean);
    return string;
}

static json_t *string(const char *text)
{
    return slice(rc_str(text));
}

/* jansson's setters take NULL for a failure and hand it on: so does this. */
static int put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value);
}

static json_t *number(uint32_t value)
{
    return value == RC_UNKNOWN ? json_null() : json_integer(value);
}

static json_t *identity(const struct rc_result *result)
{
    json_t *object = json_object();
    int failed = 0;

    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++)
        failed |= put(object, report_field_key(field), number(result->identity.field[field]));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *master(const struct rc_result *result)
{
    const struct rc_master *m = &result->master;

    return json_pack("{s:o, s:o, s:o}", "addr", string(m->addr), "port", m->port ? json_integer(m->port) : json_null(),
                     "source", string(m->addr ? m->addr_source : NULL));
}

/* {NAME: VALUE} of the plan's entries of one kind. */
static json_t *values(const struct rc_plan *plan, enum rc_action action)
{
    json_t *object = json_object();
    int failed = 0;

    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == action)
            failed |= put(object, plan->entry[i].name.p, string(plan->entry[i].value));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *names(const struct rc_plan *plan, enum rc_action action)
{
    json_t *array = json_array();
    int failed = 0;

    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == action)
            failed |= json_array_append_new(array, string(plan->entry[i].name.p));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *message(const struct rc_messages *list, unsigned i, bool explain)
{
    const struct rc_message_entry *entry = rc_message_entry(list->list[i].id);
    const struct catalogue_entry *words = catalogue_entry(list->list[i].id);
    json_t *object = json_pack("{s:s, s:s, s:o}", "id", entry->id, "level", rc_level_name(entry->level), "text",
                               string(list->list[i].text));

    if (explain && object && (put(object, "cause", string(words->cause)) || put(object, "cure", string(words->cure)))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *messages(const struct rc_messages *list, bool explain)
{
    json_t *array = json_array();
    int failed = 0;

    for (unsigned i = 0; i < list->count; i++)
        failed |= json_array_append_new(array, message(list, i, explain));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

/* Of each value, identity and variables alike, who says so. */
static json_t *sources(const struct rc_result *result)
{
    json_t *object = json_object();
    int failed = 0;

    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        const char *source = report_field_source(result, field);

        if (*source)
            failed |= put(object, report_field_key(field), string(source));
    }
    for (unsigned i = 0; i < result->plan.count; i++)
        if (result->plan.entry[i].source)
            failed |= put(object, result->plan.entry[i].name.p, string(result->plan.entry[i].source));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *reasons(const struct rc_result *result)
{
    json_t *object = json_object();
    int failed = put(object, "mode", string(result->mode_reason));

    for (unsigned i = 0; i < result->plan.count; i++)
        failed |= put(object, result->plan.entry[i].name.p, string(result->plan.entry[i].reason));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *rejected(const struct rc_plan *plan)
{
    json_t *array = json_array();
    int failed = 0;

    for (unsigned i = 0; i < plan->rejected_count; i++)
        failed |= json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "name", plan->rejected[i].name, "value",
                                                         slice(plan->rejected[i].value), "reason",
                                                         string(plan->rejected[i].reason)));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *build(const struct rc_result *result, bool explain)
{
    json_t *object = json_object();
    int failed = put(object, "schema", json_integer(JSON_SCHEMA)) |
                 put(object, "launcher", string(result->launcher ? result->launcher->id : NULL)) |
                 put(object, "mode", json_string(rc_mode_name(result->mode))) |
                 put(object, "identity", identity(result)) | put(object, "master", master(result)) |
                 put(object, "set", values(&result->plan, RC_SET)) |
                 put(object, "unset", names(&result->plan, RC_UNSET)) |
                 put(object, "messages", messages(&result->messages, explain));

    if (explain)
        failed |= put(object, "keep", values(&result->plan, RC_KEEP)) | put(object, "sources", sources(result)) |
                  put(object, "reasons", reasons(result)) | put(object, "rejected", rejected(&result->plan));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static int print(json_t *object)
{
    int status;

    if (!object)
        return -1;
    /* ASCII: a terminal may take C1 characters of a value for commands */
    status = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    json_decref(object);
    putchar('\n');
    /* a failed write shows in the stream's state, which main looks at */
    return status < 0 && !ferror(stdout) ? -1 : 0;
}

int json_print(const struct rc_result *result, bool explain)
{
    return print(build(result, explain));
}

int json_print_entries(const struct entry *entry, size_t count)
{
    json_t *array = json_array();
    int failed = 0;

    for (size_t i = 0; i < count; i++)
        failed |= json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", entry[i].id, "level",
                                                         rc_level_name(entry[i].level), "cause", entry[i].cause,
                                                         "example", entry[i].example, "cure", entry[i].cure));
    if (failed) {
        json_decref(array);
        return -1;
    }
    return print(json_pack("{s:i, s:o}", "schema", JSON_SCHEMA, "messages", array));
}
