/* SPDX-License-Identifier: BSD-3-Clause */
/* json_stream - lib/console/json.h as a filter: values in, documents out.
 *
 * A value is three NUL-ended fields: its kind, its name (empty in an array) and its text. Kinds: string, number, bool,
 * null, and { and [ to open, ] to close; `.` ends a document and begins the next one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/json.h"

enum { KIND, NAME, TEXT, FIELDS };

static bool read_field(char **buffer)
{
    size_t room = 0;

    free(*buffer);
    *buffer = NULL;
    return getdelim(buffer, &room, '\0', stdin) > 0;
}

static void write_value(struct json *json, const char *kind, const char *name, const char *text)
{
    if (strcmp(kind, "string") == 0)
        json_slice(json, name, rc_str(text));
    else if (strcmp(kind, "number") == 0)
        json_number(json, name, strtoll(text, NULL, 10));
    else if (strcmp(kind, "bool") == 0)
        json_bool(json, name, strcmp(text, "true") == 0);
    else if (strcmp(kind, "null") == 0)
        json_text(json, name, NULL);
    else if (strcmp(kind, "{") == 0)
        json_open_object(json, name);
    else if (strcmp(kind, "[") == 0)
        json_open_array(json, name);
    else
        json_close(json);
}

int main(void)
{
    char *field[FIELDS] = { NULL };
    struct json json = json_begin(stdout);

    while (read_field(&field[KIND]) && read_field(&field[NAME]) && read_field(&field[TEXT])) {
        if (strcmp(field[KIND], ".") != 0) {
            write_value(&json, field[KIND], *field[NAME] ? field[NAME] : NULL, field[TEXT]);
            continue;
        }
        json_end(&json);
        json = json_begin(stdout);
    }
    json_end(&json);
    for (unsigned i = 0; i < FIELDS; i++)
        free(field[i]);
    return ferror(stdout) || fflush(stdout) != 0 ? 2 : 0;
}
