/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/value.h"

#include <stdio.h>
#include <stdlib.h>

#include "console/escape.h"

json_t *value_slice(struct rc_str text)
{
    char *clean;
    json_t *value;

    if (!text.p)
        return json_null();
    clean = console_escape_utf8(text);
    value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

json_t *value_text(const char *text)
{
    return value_slice(rc_str(text));
}

int value_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value);
}

json_t *value_whole(json_t *value, int failed)
{
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

json_t *value_message(enum rc_message_id id, const char *text)
{
    const struct rc_message_entry *entry = rc_message_entry(id);

    return json_pack("{s:s, s:s, s:o}", "id", entry->id, "level", rc_level_name(entry->level), "text",
                     value_text(text));
}

int value_print(json_t *object)
{
    int status;

    if (!object)
        return -1;
    /* ASCII only: a terminal may take C1 characters of a value for commands */
    status = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    json_decref(object);
    putchar('\n');
    return status < 0 && !ferror(stdout) ? -1 : 0;
}
