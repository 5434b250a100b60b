/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/message.h"

static const struct rc_message_entry catalogue[] = {
#define ROLLCALL_MESSAGE(id, level, said, cause, cure) [id] = { #id, RC_LEVEL_##level, RC_SAID_##said },
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
};

const struct rc_message_entry *rc_message_entry(enum rc_message_id id)
{
    return &catalogue[id];
}

bool rc_message_named(struct rc_str name, enum rc_message_id *id)
{
    for (unsigned i = 0; i < RC_MESSAGE_COUNT; i++)
        if (rc_str_is(name, catalogue[i].id)) {
            *id = (enum rc_message_id)i;
            return true;
        }
    return false;
}

const char *rc_level_name(enum rc_level level)
{
    static const char names[][8] = {
        [RC_LEVEL_NOTE] = "note",
        [RC_LEVEL_WARNING] = "warning",
        [RC_LEVEL_ERROR] = "error",
    };

    return names[level];
}

const char *rc_message_line(struct rc_arena *arena, enum rc_level level, enum rc_message_id id, const char *text)
{
    struct rc_arena before = *arena;
    const char *word = rc_level_name(level);
    const char *name = catalogue[id].id;
    bool ends = level == RC_LEVEL_ERROR;
    const char *line = rc_format(arena, "rollcall: %s %s: %s%s%s%s\n", word, name, text, ends ? RC_EXPLAIN_BEFORE : "",
                                 ends ? name : "", ends ? RC_EXPLAIN_BEHIND : "");

    if (!arena->full)
        return line;
    *arena = before;
    return rc_format(arena, "rollcall: %s %s: see rollcall explain %s\n", word, name, name);
}

uint32_t rc_debug_level(struct rc_str value)
{
    uint32_t level = 0;

    if (value.n && !rc_parse_u32(value, UINT32_MAX, &level))
        return 1;
    return level < RC_DEBUG_LEVEL_MAX ? level : RC_DEBUG_LEVEL_MAX;
}

const struct rc_message *rc_messages_error(const struct rc_messages *messages)
{
    for (unsigned i = 0; i < messages->count; i++)
        if (catalogue[messages->list[i].id].level == RC_LEVEL_ERROR)
            return &messages->list[i];
    return NULL;
}

bool rc_message_add(struct rc_messages *messages, enum rc_message_id id, const char *text)
{
    if (catalogue[id].level == RC_LEVEL_ERROR)
        messages->has_error = true;
    for (unsigned i = 0; i < messages->count; i++)
        if (messages->list[i].id == id && rc_str_is(rc_str(messages->list[i].text), text))
            return false;
    if (messages->count == RC_MESSAGES_MAX)
        return false;
    messages->list[messages->count].id = id;
    messages->list[messages->count].text = text;
    messages->count++;
    return false;
}

bool rc_say_list(struct rc_messages *messages, enum rc_message_id id, const char *format, va_list args)
{
    return rc_message_add(messages, id, rc_format_list(messages->arena, format, args));
}

bool rc_say(struct rc_messages *messages, enum rc_message_id id, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    rc_say_list(messages, id, format, args);
    va_end(args);
    return false;
}
