/* SPDX-License-Identifier: BSD-3-Clause */
/* What the writer of JSON makes, read by jansson: integers, and printable ASCII. */
#include "fuzz.h"

#include <jansson.h>

static bool has_real(json_t *value)
{
    const char *name;
    json_t *part;
    size_t i;

    json_object_foreach (value, name, part)
        if (has_real(part))
            return true;
    json_array_foreach (value, i, part)
        if (has_real(part))
            return true;
    return json_is_real(value);
}

bool fuzz_is_json(struct rc_str text)
{
    json_t *value = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    bool is_right = json_is_object(value) && !has_real(value);

    json_decref(value);
    while (is_right && text.p)
        is_right = fuzz_is_printable(rc_str_split(text, '\n', &text));
    return is_right;
}
