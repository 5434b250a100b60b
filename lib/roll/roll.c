/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/roll.h"

#include "base/pairs.h"
#include "roll/items.h"

#define HEAD "roll=1\n"

/* A value that is text, and where it is in struct rc_roll. */
struct text_field {
    char name[9];
    uint8_t at;
    uint16_t limit;
};

#define TEXT_FIELD(name, limit)                      \
    {                                                \
#name, offsetof(struct rc_roll, name), limit \
    }

/* In the order in which they are written. */
static const struct text_field text_fields[] = {
    TEXT_FIELD(version, RC_ROLL_TEXT_MAX), TEXT_FIELD(scope, RC_ROLL_TEXT_MAX),  TEXT_FIELD(launcher, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(mode, RC_ROLL_TEXT_MAX),    TEXT_FIELD(host, RC_ROLL_TEXT_MAX),   TEXT_FIELD(boot, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(tasks, RC_ROLL_SIZE),       TEXT_FIELD(addr, RC_ROLL_TEXT_MAX),   TEXT_FIELD(dead, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(visible, RC_ROLL_TEXT_MAX), TEXT_FIELD(place, RC_ROLL_TEXT_MAX),  TEXT_FIELD(busy, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(hosts, RC_ROLL_HOSTS_MAX),  TEXT_FIELD(absent, RC_ROLL_TEXT_MAX), TEXT_FIELD(own, RC_ROLL_TEXT_MAX),
};

enum { TEXT_FIELDS = sizeof(text_fields) / sizeof(*text_fields) };

/* The name in NAME=VALUE; absent where it is none that can go into an entry. */
static struct rc_str user_name(struct rc_str user)
{
    struct rc_str value;
    struct rc_str name;

    if (!user.p)
        return RC_ABSENT;
    name = rc_str_split(user, '=', &value);
    for (size_t i = 0; i < name.n; i++)
        if (!rc_lines_printable(name.p[i]) || name.p[i] == ' ')
            return RC_ABSENT;
    return value.p && name.n > 0 && name.n < RC_ROLL_TEXT_MAX ? name : RC_ABSENT;
}

static bool has_user(const struct rc_str *user, unsigned count, struct rc_str name)
{
    for (unsigned i = 0; i < count; i++)
        if (rc_str_eq(user_name(user[i]), name))
            return true;
    return false;
}

bool rc_roll_next_range(struct rc_str *rest, uint32_t *first, uint32_t *last)
{
    struct rc_str behind;
    struct rc_str high;
    struct rc_str low;
    uint32_t from;
    uint32_t to;

    if (!rest->p)
        return false;
    low = rc_str_split(rc_str_split(*rest, ',', &behind), '-', &high);
    if (!rc_parse_u32(low, RC_MAX_TASKS - 1, &from))
        return false;
    to = from;
    if (high.p && (!rc_parse_u32(high, RC_MAX_TASKS - 1, &to) || to < from))
        return false;
    *rest = behind;
    *first = from;
    *last = to;
    return true;
}

static bool are_ranks(struct rc_str tasks, uint32_t world)
{
    uint32_t next = 0; /* the lowest rank that may follow */
    uint32_t first;
    uint32_t last;

    if (!tasks.p)
        return false;
    while (rc_roll_next_range(&tasks, &first, &last)) {
        if (first < next || last >= world)
            return false;
        next = last + 1;
    }
    return !tasks.p;
}

static bool has_task(struct rc_str tasks, uint32_t rank)
{
    uint32_t first;
    uint32_t last;

    while (rc_roll_next_range(&tasks, &first, &last))
        if (rank >= first && rank <= last)
            return true;
    return false;
}

static bool take_user(struct rc_roll *roll, struct rc_str value)
{
    struct rc_str name = user_name(value);

    if (!name.p || value.n > RC_ROLL_TEXT_MAX || has_user(roll->user, roll->user_count, name))
        return false;
    if (roll->user_count < RC_ROLL_USER_MAX)
        roll->user[roll->user_count++] = value;
    return true;
}

static bool take_gpu(struct rc_roll *roll, struct rc_str value)
{
    struct rc_roll_gpu gpu;
    struct rc_str rank = rc_str_split(value, ' ', &gpu.id);

    if (!rc_parse_u32(rank, RC_MAX_TASKS - 1, &gpu.rank) || !gpu.id.p || gpu.id.n == 0 || gpu.id.n > RC_ROLL_TEXT_MAX)
        return false;
    if (roll->gpu_count < RC_ROLL_GPUS_MAX)
        roll->gpu[roll->gpu_count++] = gpu;
    return true;
}

/* One line of an entry. */
static bool take_line(struct rc_roll *roll, uint32_t *port, struct rc_str name, struct rc_str value)
{
    for (unsigned i = 0; i < TEXT_FIELDS; i++) {
        struct rc_str *field = (struct rc_str *)(void *)((char *)roll + text_fields[i].at);

        if (!rc_str_is(name, text_fields[i].name))
            continue;
        if (field->p || value.n > text_fields[i].limit)
            return false;
        *field = value;
        return true;
    }
    if (rc_str_is(name, "node"))
        return rc_lines_read_number(value, RC_MAX_TASKS - 1, &roll->node);
    if (rc_str_is(name, "nodes"))
        return rc_lines_read_number(value, RC_MAX_TASKS, &roll->nodes);
    if (rc_str_is(name, "world"))
        return rc_lines_read_number(value, RC_MAX_TASKS, &roll->world);
    if (rc_str_is(name, "port"))
        return rc_lines_read_number(value, UINT16_MAX, port) && *port > 0;
    if (rc_str_is(name, "user"))
        return take_user(roll, value);
    if (rc_str_is(name, "gpu"))
        return take_gpu(roll, value);
    if (rc_str_is(name, "has"))
        return rc_items_take(&roll->items, value);
    return !rc_str_is(name, "roll");
}

bool rc_roll_read(struct rc_str text, struct rc_roll *roll)
{
    struct rc_roll found = { .node = RC_UNKNOWN, .nodes = RC_UNKNOWN, .world = RC_UNKNOWN };
    uint32_t port = RC_UNKNOWN;
    struct rc_str name;
    struct rc_str value;

    if (!rc_lines_read_head(&text, HEAD, RC_ROLL_SIZE))
        return false;
    while (text.n > 0)
        if (!rc_lines_next(&text, &name, &value) || !take_line(&found, &port, name, value))
            return false;
    /* a number that is not there is larger than any */
    if (!found.scope.p || !found.host.p || found.world == RC_UNKNOWN || found.nodes > found.world ||
        found.node >= found.nodes || !are_ranks(found.tasks, found.world))
        return false;
    for (unsigned i = 0; i < found.gpu_count; i++)
        if (!has_task(found.tasks, found.gpu[i].rank))
            return false;
    found.port = port == RC_UNKNOWN ? 0 : (uint16_t)port;
    *roll = found;
    return true;
}

static void put_items(struct rc_arena *arena, struct rc_str lines)
{
    struct rc_str value;
    enum rc_item item;

    while (rc_items_next(&lines, &item, &value))
        rc_item_put(arena, item, value);
}

const char *rc_roll_write(const struct rc_roll *roll, struct rc_arena *arena)
{
    struct rc_roll read;
    const char *text;
    size_t start;

    if (!rc_lines_begin(arena, HEAD, &start))
        return NULL;
    for (unsigned i = 0; i < TEXT_FIELDS; i++)
        rc_lines_put(arena, text_fields[i].name,
                     *(const struct rc_str *)(const void *)((const char *)roll + text_fields[i].at),
                     text_fields[i].limit);
    rc_lines_put_number(arena, "node", roll->node);
    rc_lines_put_number(arena, "nodes", roll->nodes);
    rc_lines_put_number(arena, "world", roll->world);
    if (roll->port)
        rc_lines_put_number(arena, "port", roll->port);
    for (unsigned i = 0; i < roll->user_count && i < RC_ROLL_USER_MAX; i++) {
        struct rc_str name = user_name(roll->user[i]);

        if (name.p && !has_user(roll->user, i, name))
            rc_lines_put(arena, "user", roll->user[i], RC_ROLL_TEXT_MAX);
    }
    for (unsigned i = 0; i < roll->gpu_count && i < RC_ROLL_GPUS_MAX; i++) {
        if (!roll->gpu[i].id.p)
            continue;
        rc_format(arena, "gpu=%u ", roll->gpu[i].rank);
        rc_join(arena);
        rc_lines_put_value(arena, roll->gpu[i].id, RC_ROLL_TEXT_MAX);
    }
    put_items(arena, roll->items);
    text = rc_lines_end(arena, start);
    if (text && !rc_roll_read((struct rc_str){ text, arena->used - start - 1 }, &read)) {
        arena->used = start;
        return NULL;
    }
    return text;
}
