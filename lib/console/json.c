/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/json.h"

#include <inttypes.h>

enum { SCHEMA = 1, INDENT = 2 };

static void write_character(FILE *out, uint32_t character)
{
    static const char escape[] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['"'] = '"', ['\\'] = '\\',
    };
    const uint32_t beyond = character - 0x10000;

    if (character < sizeof(escape) && escape[character])
        fprintf(out, "\\%c", escape[character]);
    else if (character >= ' ' && character < 0x7f)
        putc((int)character, out);
    else if (character < 0x10000)
        fprintf(out, "\\u%04" PRIX32, character);
    else
        fprintf(out, "\\u%04" PRIX32 "\\u%04" PRIX32, 0xd800 + (beyond >> 10), 0xdc00 + (beyond & 0x3ff));
}

static void write_string(FILE *out, struct rc_str text)
{
    putc('"', out);
    while (text.n > 0) {
        uint32_t character;
        size_t length = rc_utf8_read(text, &character);

        if (length > 0) {
            write_character(out, character);
        } else {
            fprintf(out, "\\\\x%02x", (unsigned)(unsigned char)text.p[0]);
            length = 1;
        }
        text.p += length;
        text.n -= length;
    }
    putc('"', out);
}

static bool is_in_array(const struct json *json)
{
    return json->arrays & 1;
}

static void begin_value(struct json *json, const char *name)
{
    fprintf(json->out, "%s\n%*s", json->is_empty ? "" : ",", (int)(INDENT * json->depth), "");
    json->is_empty = false;
    if (is_in_array(json))
        return;
    write_string(json->out, rc_str(name));
    fputs(": ", json->out);
}

static void open_bracket(struct json *json, bool is_array)
{
    putc(is_array ? '[' : '{', json->out);
    json->arrays = json->arrays << 1 | is_array;
    json->depth++;
    json->is_empty = true;
}

static void close_bracket(struct json *json)
{
    json->depth--;
    if (!json->is_empty)
        fprintf(json->out, "\n%*s", (int)(INDENT * json->depth), "");
    putc(is_in_array(json) ? ']' : '}', json->out);
    json->arrays >>= 1;
    json->is_empty = false;
}

struct json json_begin(FILE *out)
{
    struct json json = { .out = out };

    open_bracket(&json, false);
    json_number(&json, "schema", SCHEMA);
    return json;
}

void json_end(struct json *json)
{
    while (json->depth > 0)
        close_bracket(json);
    putc('\n', json->out);
}

void json_open_object(struct json *json, const char *name)
{
    begin_value(json, name);
    open_bracket(json, false);
}

void json_open_array(struct json *json, const char *name)
{
    begin_value(json, name);
    open_bracket(json, true);
}

void json_close(struct json *json)
{
    if (json->depth > 1)
        close_bracket(json);
}

void json_text(struct json *json, const char *name, const char *text)
{
    json_slice(json, name, rc_str(text));
}

void json_slice(struct json *json, const char *name, struct rc_str text)
{
    begin_value(json, name);
    if (text.p)
        write_string(json->out, text);
    else
        fputs("null", json->out);
}

void json_number(struct json *json, const char *name, int64_t number)
{
    json_number_if(json, name, true, number);
}

void json_number_if(struct json *json, const char *name, bool is_known, int64_t number)
{
    begin_value(json, name);
    if (is_known)
        fprintf(json->out, "%" PRId64, number);
    else
        fputs("null", json->out);
}

void json_bool(struct json *json, const char *name, bool value)
{
    begin_value(json, name);
    fputs(value ? "true" : "false", json->out);
}

void json_message(struct json *json, enum rc_message_id id, const char *text)
{
    json_text(json, "id", rc_message_entry(id)->id);
    json_text(json, "level", rc_level_name(rc_message_entry(id)->level));
    json_text(json, "text", text);
}
