/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of JSON: its form and its escapes. */
#include "console/json.h"
#include "unit.h"

struct document {
    char *text;
    size_t size;
    struct json json;
};

static void begin(struct document *document)
{
    document->json = json_begin(open_memstream(&document->text, &document->size));
}

static void end(struct document *document, const char *expected)
{
    json_end(&document->json);
    fclose(document->json.out);
    assert_string_equal(document->text, expected);
    free(document->text);
}

UNIT_TEST(writes_all_kinds, "all kinds of values")
{
    struct document document;
    struct json *json = &document.json;

    begin(&document);
    json_text(json, "text", "one");
    json_text(json, "nothing", NULL);
    json_slice(json, "slice", (struct rc_str){ "twofold", 3 });
    json_slice(json, "absent", RC_ABSENT);
    json_slice(json, "empty", RC_STR(""));
    json_number(json, "least", INT64_MIN);
    json_number(json, "most", INT64_MAX);
    json_number_if(json, "known", true, 0);
    json_number_if(json, "unknown", false, 7);
    json_bool(json, "yes", true);
    json_bool(json, "no", false);
    end(&document, "{\n"
                   "  \"schema\": 1,\n"
                   "  \"text\": \"one\",\n"
                   "  \"nothing\": null,\n"
                   "  \"slice\": \"two\",\n"
                   "  \"absent\": null,\n"
                   "  \"empty\": \"\",\n"
                   "  \"least\": -9223372036854775808,\n"
                   "  \"most\": 9223372036854775807,\n"
                   "  \"known\": 0,\n"
                   "  \"unknown\": null,\n"
                   "  \"yes\": true,\n"
                   "  \"no\": false\n"
                   "}\n");
}

UNIT_TEST(writes_what_is_nested, "objects and arrays within each other")
{
    struct document document;
    struct json *json = &document.json;

    begin(&document);
    json_open_array(json, "list");
    json_number(json, NULL, 1);
    json_open_object(json, NULL);
    json_close(json);
    json_open_object(json, NULL);
    json_open_array(json, "empty");
    json_close(json);
    json_close(json);
    json_close(json);
    json_text(json, "after", "x");
    end(&document, "{\n"
                   "  \"schema\": 1,\n"
                   "  \"list\": [\n"
                   "    1,\n"
                   "    {},\n"
                   "    {\n"
                   "      \"empty\": []\n"
                   "    }\n"
                   "  ],\n"
                   "  \"after\": \"x\"\n"
                   "}\n");
}

UNIT_TEST(writes_a_message, "a message")
{
    struct document document;

    begin(&document);
    json_message(&document.json, RC602, "x");
    end(&document, "{\n"
                   "  \"schema\": 1,\n"
                   "  \"id\": \"RC602\",\n"
                   "  \"level\": \"error\",\n"
                   "  \"text\": \"x\"\n"
                   "}\n");
}

static const struct {
    struct rc_str input;
    const char *expected;
    const char *why;
} escapes[] = {
    { TEXT("\"\\/"), "\\\"\\\\/", "quote and backslash" },
    { TEXT("\b\f\n\r\t"), "\\b\\f\\n\\r\\t", "those with a letter" },
    { TEXT("\0\v\x1f\x7f"), "\\u0000\\u000B\\u001F\\u007F", "other control characters" },
    { TEXT(" ~"), " ~", "the first and the last that are as they were" },
    { TEXT("\xc2\x80\xc3\xa9\xe0\xa0\x80\xef\xbf\xbf"), "\\u0080\\u00E9\\u0800\\uFFFF", "two and three bytes" },
    { TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), "\\uD800\\uDC00\\uDBFF\\uDFFF", "four bytes are a pair of surrogates" },
    { TEXT("\xed\xa0\x80\xed\xbf\xbf"), "\\\\xed\\\\xa0\\\\x80\\\\xed\\\\xbf\\\\xbf", "a surrogate is no character" },
    { TEXT("\xc0\xaf\xc1\xbf"), "\\\\xc0\\\\xaf\\\\xc1\\\\xbf", "overlong, two bytes" },
    { TEXT("\xe0\x9f\xbf"), "\\\\xe0\\\\x9f\\\\xbf", "overlong, three bytes" },
    { TEXT("\xf0\x8f\xbf\xbf"), "\\\\xf0\\\\x8f\\\\xbf\\\\xbf", "overlong, four bytes" },
    { TEXT("\xf4\x90\x80\x80"), "\\\\xf4\\\\x90\\\\x80\\\\x80", "above the last character" },
    { TEXT("\xf5\x80\x80\x80\xff"), "\\\\xf5\\\\x80\\\\x80\\\\x80\\\\xff", "bytes that no character has" },
    { TEXT("\x80\xbf"), "\\\\x80\\\\xbf", "nothing that they follow" },
    { TEXT("\xc3"), "\\\\xc3", "cut off after one" },
    { TEXT("\xf0\x9f\x98"), "\\\\xf0\\\\x9f\\\\x98", "cut off after three" },
    { TEXT("\xe2\x82\xc3\xa9"), "\\\\xe2\\\\x82\\u00E9", "another one follows too early" },
};

UNIT_ROWS(escapes_strings, "json escapes", escapes)
{
    char expected[256];
    struct document document;

    snprintf(expected, sizeof(expected), "{\n  \"schema\": 1,\n  \"x\": \"%s\"\n}\n", row->expected);
    begin(&document);
    json_slice(&document.json, "x", unit_guard(row->input));
    end(&document, expected);
}

UNIT_TEST(escapes_names, "names, too")
{
    struct document document;

    begin(&document);
    json_number(&document.json, "\"\xff", 1);
    end(&document, "{\n"
                   "  \"schema\": 1,\n"
                   "  \"\\\"\\\\xff\": 1\n"
                   "}\n");
}

UNIT_TEST(stays_json, "wrong calls give JSON, too")
{
    struct document document;
    struct json *json = &document.json;

    begin(&document);
    json_close(json);
    json_number(json, NULL, 1);
    json_open_array(json, "list");
    json_number(json, "element", 2);
    json_open_object(json, NULL);
    end(&document, "{\n"
                   "  \"schema\": 1,\n"
                   "  \"\": 1,\n"
                   "  \"list\": [\n"
                   "    2,\n"
                   "    {}\n"
                   "  ]\n"
                   "}\n");
}

UNIT_TEST(closes_what_is_open, "64 brackets of both kinds")
{
    enum { DEEP = 64 };
    struct document document;
    const char *closing;

    begin(&document);
    for (unsigned i = 1; i < DEEP; i++) {
        if (i % 3 == 0)
            json_open_object(&document.json, "x");
        else
            json_open_array(&document.json, "x");
    }
    json_end(&document.json);
    fclose(document.json.out);
    closing = document.text + strcspn(document.text, "]}");
    for (unsigned i = DEEP; i-- > 0; closing += strspn(closing, " \n")) {
        assert_int_equal(*closing, i % 3 == 0 ? '}' : ']');
        closing++;
    }
    assert_string_equal(closing, "");
    free(document.text);
}
