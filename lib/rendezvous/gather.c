/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/gather.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

static const char *const verbs[] = { [RC_GATHERS] = "gather", [RC_ATTENDS] = "attend", [RC_LOOKS] = "look" };

enum { VERBS = sizeof(verbs) / sizeof(*verbs) };

bool rc_gather_is_name(struct rc_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!memchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._:/-", name.p[i], 67))
            return false;
    return name.n > 0 && name.n <= RC_GATHER_NAME_MAX;
}

static unsigned find_verb(struct rc_str text)
{
    struct rc_str rest;
    struct rc_str word = rc_str_split(text, ' ', &rest);
    unsigned verb = 0;

    while (verb < VERBS && !rc_str_is(word, verbs[verb]))
        verb++;
    return verb;
}

static bool read_number(struct rc_str *rest, uint32_t most, uint32_t *number)
{
    return rc_parse_u32(rc_str_split(*rest, ' ', rest), most, number);
}

static bool read_member(struct rc_str *rest, struct rc_gather_request *request)
{
    struct rc_str text = rc_str_split(*rest, ' ', rest);
    bool only_waits = request->verb == RC_GATHERS && rc_str_is(text, "-");

    request->member = RC_UNKNOWN;
    return (only_waits || rc_parse_u32(text, RC_MAX_TASKS - 1, &request->member)) &&
           read_number(rest, RC_MAX_TASKS, &request->of) && request->of > 0 &&
           (only_waits || request->of == 1 || request->member < request->of);
}

static bool read_times(struct rc_str *rest, struct rc_gather_request *request)
{
    struct rc_str to;

    if (!read_number(rest, INT32_MAX, &request->each) || !read_number(rest, INT32_MAX, &request->most))
        return false;
    to = rc_str_split(*rest, ' ', rest);
    request->to_first = rc_str_is(to, "first");
    return request->to_first || rc_str_is(to, "all");
}

bool rc_gather_request_read(struct rc_str text, struct rc_gather_request *request)
{
    struct rc_gather_request read = { .verb = RC_GATHERS };
    struct rc_str line = rc_str_split(text, '\n', &read.value);
    unsigned verb = find_verb(line);

    if (verb == VERBS || !read.value.p)
        return false;
    read.verb = verb;
    rc_str_split(line, ' ', &line);
    read.name = rc_str_split(line, ' ', &line);
    if (!rc_gather_is_name(read.name) || (verb != RC_LOOKS && !read_member(&line, &read)) ||
        (verb == RC_GATHERS && !read_times(&line, &read)) || (verb == RC_ATTENDS && read.member >= read.of) || line.p ||
        read.value.n > (verb == RC_GATHERS ? RC_GATHER_VALUE_MAX : 0))
        return false;
    *request = read;
    return true;
}

const char *rc_gather_request_write(const struct rc_gather_request *request, struct rc_arena *arena)
{
    const char *text = rc_format(arena, "%s %pS", verbs[request->verb], &request->name);

    rc_join(arena);
    if (request->verb == RC_GATHERS && request->member == RC_UNKNOWN)
        rc_format(arena, " - %u 0 0 all\n", request->of);
    else if (request->verb == RC_GATHERS)
        rc_format(arena, " %u %u %u %u %s\n", request->member, request->of, request->each, request->most,
                  request->to_first ? "first" : "all");
    else if (request->verb == RC_ATTENDS)
        rc_format(arena, " %u %u\n", request->member, request->of);
    else
        rc_format(arena, "\n");
    return text;
}

int rc_gathered_read(struct rc_str text, struct rc_gathered *gathered)
{
    struct rc_gathered read;
    struct rc_str line = rc_str_split(text, '\n', &read.list);
    struct rc_str word = rc_str_split(line, ' ', &line);

    if (rc_str_is(word, "full"))
        return -ENOSPC;
    if (!rc_str_is(word, "gathered") || !read.list.p || !read_number(&line, RC_MAX_TASKS, &read.count) ||
        !read_number(&line, RC_MAX_TASKS, &read.of))
        return -EPROTO;
    read.missing = line;
    *gathered = read;
    return 0;
}

bool rc_gathered_next(struct rc_str *list, uint32_t *member, struct rc_str *value)
{
    struct rc_str bytes;
    struct rc_str line = rc_str_split(*list, '\n', &bytes);
    uint32_t size;

    if (!bytes.p || !read_number(&line, RC_MAX_TASKS - 1, member) || !read_number(&line, RC_GATHER_VALUE_MAX, &size) ||
        size > bytes.n)
        return false;
    *value = (struct rc_str){ bytes.p, size };
    *list = (struct rc_str){ bytes.p + size, bytes.n - size };
    return true;
}

/* The server's side. */

enum { ROOM_FIRST = 8, LINE_MAX = 32 }; /* bytes of "MEMBER SIZE\n" */

static void free_values(struct rc_gathers *gathers, struct rc_gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++) {
        gathers->size -= gather->list[i].value.n;
        free((char *)(uintptr_t)gather->list[i].value.p);
    }
    free(gather->list);
    gather->list = NULL;
}

static void free_gather(struct rc_gathers *gathers, struct rc_gather *gather)
{
    rc_queue_leave(&gather->link);
    if (gather->list)
        free_values(gathers, gather);
    if (gather->reply)
        gathers->size -= gather->reply->size;
    rc_body_drop(gather->reply);
    free(gather->come);
    free(gather->name);
    free(gather);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct rc_gather *)a)->name, ((const struct rc_gather *)b)->name);
}

static void forget(struct rc_gathers *gathers, struct rc_gather *gather)
{
    tdelete(gather, &gathers->tree, by_name);
    free_gather(gathers, gather);
}

void rc_gathers_free(struct rc_gathers *gathers)
{
    while (gathers->tree)
        forget(gathers, *(struct rc_gather **)gathers->tree);
}

struct rc_gather *rc_gathers_look(const struct rc_gathers *gathers, const char *name)
{
    const struct rc_gather wanted = { .name = (char *)(uintptr_t)name };
    struct rc_gather *const *found = tfind(&wanted, &gathers->tree, by_name);

    return found ? *found : NULL;
}

struct rc_gather *rc_gathers_find(struct rc_gathers *gathers, struct rc_str name, uint32_t of)
{
    char text[RC_GATHER_NAME_MAX + 1];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_gather *gather = rc_gathers_look(gathers, rc_copy(&arena, name));

    if (gather || !(gather = calloc(1, sizeof(*gather))))
        return gather;
    gather->name = strdup(text);
    gather->of = of;
    gather->first = RC_UNKNOWN;
    gather->end = INT64_MAX;
    if (!gather->name || !tsearch(gather, &gathers->tree, by_name)) {
        free_gather(gathers, gather);
        return NULL;
    }
    rc_queue_join(&gathers->open, &gather->link);
    return gather;
}

void rc_gather_attend(struct rc_gather *gather, uint32_t member, int64_t now)
{
    if (member >= gather->room) {
        uint32_t room = member < gather->of ? gather->of : member + 1;
        bool *larger = realloc(gather->come, room * sizeof(*larger));

        if (!larger)
            return;
        memset(larger + gather->room, 0, (room - gather->room) * sizeof(*larger));
        gather->come = larger;
        gather->room = room;
    }
    if (gather->came == 0)
        gather->begun = now;
    gather->came += !gather->come[member];
    gather->come[member] = true;
}

/* Return false without memory. */
static bool keep(struct rc_gather *gather, const struct rc_gather_request *request, int64_t now)
{
    struct rc_arrival *list = gather->list;
    struct rc_str value = request->value;
    char *copy;

    if (gather->count == gather->list_room) {
        list = realloc(list, (2 * (size_t)gather->count + 1) * sizeof(*list));
        gather->list_room = list ? 2 * gather->count + 1 : gather->list_room;
    }
    if (list)
        gather->list = list;
    copy = list ? malloc(value.n + 1) : NULL;
    if (!copy)
        return false;
    memcpy(copy, value.p, value.n);
    copy[value.n] = '\0';
    list[gather->count++] = (struct rc_arrival){
        request->member, request->each, now + request->most, { copy, value.n }
    };
    return true;
}

static void count_in(struct rc_gather *gather, const struct rc_arrival *arrival)
{
    if (arrival->member < gather->first)
        gather->first = arrival->member;
    if (arrival->end >= gather->end)
        return;
    gather->each = arrival->each;
    gather->end = arrival->end;
}

void rc_gather_arrive(struct rc_gathers *gathers, struct rc_gather *gather, const struct rc_gather_request *request,
                      int64_t now)
{
    rc_gather_attend(gather, request->of > 1 ? request->member : 0, now);
    if (gather->over || rc_gather_is_whole(gather))
        return;
    if (gathers->size + request->value.n > RC_GATHER_SIZE_MAX || !keep(gather, request, now)) {
        gather->is_full = true;
        return;
    }
    gathers->size += request->value.n;
    if (request->of < gather->of)
        gather->of = request->of;
    gather->to_first = request->to_first;
    gather->last = now;
    count_in(gather, &gather->list[gather->count - 1]);
}

void rc_gather_depart(struct rc_gathers *gathers, struct rc_gather *gather, uint32_t member)
{
    bool is_twin = false;
    uint32_t i = 0;

    while (!gather->over && i < gather->count && gather->list[i].member != member)
        i++;
    if (gather->over || i == gather->count)
        return;
    gathers->size -= gather->list[i].value.n;
    free((char *)(uintptr_t)gather->list[i].value.p);
    gather->count--;
    memmove(&gather->list[i], &gather->list[i + 1], (gather->count - i) * sizeof(*gather->list));
    gather->first = RC_UNKNOWN;
    gather->end = INT64_MAX;
    for (i = 0; i < gather->count; i++) {
        count_in(gather, &gather->list[i]);
        is_twin |= gather->list[i].member == member;
    }
    if (is_twin || !rc_gather_has(gather, member))
        return;
    gather->come[member] = false;
    gather->came--;
}

bool rc_gather_is_whole(const struct rc_gather *gather)
{
    return gather->count >= gather->of;
}

int64_t rc_gather_due(const struct rc_gather *gather)
{
    int64_t due = gather->last + gather->each;

    return gather->end == INT64_MAX || gather->end < due ? gather->end : due;
}

int64_t rc_gathers_due(const struct rc_gathers *gathers)
{
    int64_t due = INT64_MAX;

    for (struct rc_link *link = gathers->open.first; link; link = link->next)
        if (rc_gather_due(rc_gather_of(link)) < due)
            due = rc_gather_due(rc_gather_of(link));
    return due;
}

void rc_gathers_postpone(struct rc_gathers *gathers, int64_t milliseconds)
{
    for (struct rc_link *link = gathers->open.first; link; link = link->next) {
        struct rc_gather *gather = rc_gather_of(link);

        gather->last += milliseconds;
        gather->end += gather->end == INT64_MAX ? 0 : milliseconds;
        for (uint32_t i = 0; i < gather->count; i++)
            gather->list[i].end += milliseconds;
    }
}

struct rc_body *rc_gather_write(const struct rc_gather *gather, const char *missing, size_t *head)
{
    struct rc_body *body;
    size_t size = RC_GATHER_HEAD_MAX + (missing ? strlen(missing) : 0);
    struct rc_arena arena;

    for (uint32_t i = 0; i < gather->count; i++)
        size += LINE_MAX + gather->list[i].value.n;
    body = rc_body_make((struct rc_str){ NULL, size });
    if (!body)
        return NULL;
    arena = (struct rc_arena){ .base = body->bytes, .size = size };
    rc_format(&arena, "gathered %u %u%s%s\n", gather->count, gather->of, missing ? " " : "", missing ? missing : "");
    rc_join(&arena);
    *head = arena.used;
    for (uint32_t i = 0; i < gather->count; i++) {
        const struct rc_arrival *arrival = &gather->list[i];

        rc_format(&arena, "%u %llu\n", arrival->member, (unsigned long long)arrival->value.n);
        rc_join(&arena);
        memcpy(arena.base + arena.used, arrival->value.p, arrival->value.n);
        arena.used += arrival->value.n;
    }
    body->size = arena.used;
    return body;
}

void rc_gather_end(struct rc_gathers *gathers, struct rc_gather *gather, struct rc_str text, const char *missing,
                   bool keeps)
{
    gather->over = true;
    rc_queue_leave(&gather->link);
    gather->reply = text.p ? rc_body_make(text) : rc_gather_write(gather, missing, &gather->head);
    if (gather->reply)
        gathers->size += gather->reply->size;
    if (text.p && gather->reply)
        gather->head = gather->reply->size;
    if (!keeps)
        free_values(gathers, gather);
    gather->keeps = keeps;
}

void rc_gather_serve(struct rc_gather *gather, struct rc_connection *connection)
{
    bool gets_all = gather->reply && (!gather->to_first || connection->member == gather->first);

    rc_connection_reply_with(connection, gather->reply, gets_all ? gather->reply->size : gather->head);
    gather->served += connection->member != RC_UNKNOWN;
    /* the gather may be freed before a connection whose reply failed without memory */
    connection->gather = NULL;
}

bool rc_gathers_show(const struct rc_gathers *gathers, struct rc_str name, struct rc_connection *connection)
{
    static const struct rc_gather none = { .of = 0 };
    char text[RC_GATHER_NAME_MAX + 1];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_gather *gather = rc_gathers_look(gathers, rc_copy(&arena, name));
    bool is_in_reply = gather && gather->over && !gather->keeps;
    size_t head;
    struct rc_body *written = is_in_reply ? NULL : rc_gather_write(gather ? gather : &none, NULL, &head);
    struct rc_body *body = is_in_reply ? gather->reply : written;

    rc_connection_reply_with(connection, body, body ? body->size : 0);
    rc_body_drop(written);
    return body != NULL;
}

void rc_gathers_tidy(struct rc_gathers *gathers, struct rc_gather *gather)
{
    if (gather->of > 1 && !gather->keeps && gather->came == gather->of && gather->served >= gather->of)
        forget(gathers, gather);
}
