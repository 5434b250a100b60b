#include "exchange/roll.h"

#define ROLL_HEAD   "roll=1\n"
#define ANSWER_HEAD "answer=1\n"

/* A value that is text, and where it is in struct rc_roll. */
struct text_field {
    char name[9];
    uint8_t at;
    uint16_t limit;
};

#define TEXT_FIELD(name, limit) { #name, offsetof(struct rc_roll, name), limit }

/* In the order in which they are written. */
static const struct text_field text_fields[] = {
    TEXT_FIELD(version, RC_ROLL_TEXT_MAX),  TEXT_FIELD(scope, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(launcher, RC_ROLL_TEXT_MAX), TEXT_FIELD(mode, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(host, RC_ROLL_TEXT_MAX),     TEXT_FIELD(boot, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(tasks, RC_ROLL_SIZE),        TEXT_FIELD(addr, RC_ROLL_TEXT_MAX),
    TEXT_FIELD(dead, RC_ROLL_TEXT_MAX),     TEXT_FIELD(visible, RC_ROLL_TEXT_MAX),
};

enum { TEXT_FIELDS = sizeof(text_fields) / sizeof(*text_fields) };

static bool printable(char c)
{
    return c >= ' ' && c < 0x7f;
}

/* The text's head is there and is taken off; what follows are lines. */
static bool begins(struct rc_str *text, const char *head, size_t limit)
{
    if (!text->p || text->n > limit || !rc_str_starts(*text, head) || text->p[text->n - 1] != '\n')
        return false;
    for (size_t i = 0; i < text->n; i++)
        if (!printable(text->p[i]) && text->p[i] != '\n')
            return false;
    text->p += rc_str(head).n;
    text->n -= rc_str(head).n;
    return true;
}

/* Takes a line off *rest, whose last one ends with a newline, too. */
static bool next_line(struct rc_str *rest, struct rc_str *name, struct rc_str *value)
{
    *name = rc_str_split(rc_str_split(*rest, '\n', rest), '=', value);
    for (size_t i = 0; i < name->n; i++) {
        char c = name->p[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_')
            return false;
    }
    return name->n > 0 && value->p && value->n > 0;
}

/* The name in NAME=VALUE; absent where it is none that can go into an entry. */
static struct rc_str user_name(struct rc_str user)
{
    struct rc_str value;
    struct rc_str name;

    if (!user.p)
        return RC_ABSENT;
    name = rc_str_split(user, '=', &value);
    for (size_t i = 0; i < name.n; i++)
        if (!printable(name.p[i]) || name.p[i] == ' ')
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

    if (!rc_parse_u32(rank, RC_MAX_TASKS - 1, &gpu.rank) || !gpu.id.p || gpu.id.n == 0 ||
        gpu.id.n > RC_ROLL_TEXT_MAX)
        return false;
    if (roll->gpu_count < RC_ROLL_GPUS_MAX)
        roll->gpu[roll->gpu_count++] = gpu;
    return true;
}

/* A number that was not there before. */
static bool take_number(struct rc_str value, uint32_t max, uint32_t *number)
{
    return *number == RC_UNKNOWN && rc_parse_u32(value, max, number);
}

/* One line of an entry. */
static bool take(struct rc_roll *roll, uint32_t *port, struct rc_str name, struct rc_str value)
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
        return take_number(value, RC_MAX_TASKS - 1, &roll->node);
    if (rc_str_is(name, "nodes"))
        return take_number(value, RC_MAX_TASKS, &roll->nodes);
    if (rc_str_is(name, "world"))
        return take_number(value, RC_MAX_TASKS, &roll->world);
    if (rc_str_is(name, "port"))
        return take_number(value, UINT16_MAX, port) && *port > 0;
    if (rc_str_is(name, "user"))
        return take_user(roll, value);
    if (rc_str_is(name, "gpu"))
        return take_gpu(roll, value);
    return !rc_str_is(name, "roll");
}

bool rc_roll_read(struct rc_str text, struct rc_roll *roll)
{
    struct rc_roll found = { .node = RC_UNKNOWN, .nodes = RC_UNKNOWN, .world = RC_UNKNOWN };
    uint32_t port = RC_UNKNOWN;
    struct rc_str name;
    struct rc_str value;

    if (!begins(&text, ROLL_HEAD, RC_ROLL_SIZE))
        return false;
    while (text.n > 0)
        if (!next_line(&text, &name, &value) || !take(&found, &port, name, value))
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

/* The end of a line: a value, cut and made printable. */
static void put_value(struct rc_arena *arena, struct rc_str value, size_t limit)
{
    size_t start = arena->used;

    if (value.n > limit)
        value.n = limit;
    rc_format(arena, "%S\n", &value);
    rc_join(arena);
    for (size_t i = start; i + 1 < arena->used; i++)
        if (!printable(arena->base[i]))
            arena->base[i] = '?';
}

static void put_text(struct rc_arena *arena, const char *name, struct rc_str value, size_t limit)
{
    if (!value.p || value.n == 0)
        return;
    rc_format(arena, "%s=", name);
    rc_join(arena);
    put_value(arena, value, limit);
}

static void put_number(struct rc_arena *arena, const char *name, uint32_t value)
{
    rc_format(arena, "%s=%u\n", name, value);
    rc_join(arena);
}

/* A text's first line, and where in the arena it is. */
static bool begin(struct rc_arena *arena, const char *head, size_t *start)
{
    const char *text = rc_format(arena, "%s", head);

    if (arena->full)
        return false;
    *start = (size_t)(text - arena->base);
    rc_join(arena);
    return true;
}

/* The whole text. NULL, and nothing left of it, where it did not fit. */
static const char *finish(struct rc_arena *arena, size_t start)
{
    rc_format(arena, "");
    if (arena->full) {
        arena->used = start;
        return NULL;
    }
    return arena->base + start;
}

const char *rc_roll_write(const struct rc_roll *roll, struct rc_arena *arena)
{
    struct rc_roll read;
    const char *text;
    size_t start;

    if (!begin(arena, ROLL_HEAD, &start))
        return NULL;
    for (unsigned i = 0; i < TEXT_FIELDS; i++)
        put_text(arena, text_fields[i].name,
                 *(const struct rc_str *)(const void *)((const char *)roll + text_fields[i].at),
                 text_fields[i].limit);
    put_number(arena, "node", roll->node);
    put_number(arena, "nodes", roll->nodes);
    put_number(arena, "world", roll->world);
    if (roll->port)
        put_number(arena, "port", roll->port);
    for (unsigned i = 0; i < roll->user_count && i < RC_ROLL_USER_MAX; i++) {
        struct rc_str name = user_name(roll->user[i]);

        if (name.p && !has_user(roll->user, i, name))
            put_text(arena, "user", roll->user[i], RC_ROLL_TEXT_MAX);
    }
    for (unsigned i = 0; i < roll->gpu_count && i < RC_ROLL_GPUS_MAX; i++) {
        if (!roll->gpu[i].id.p)
            continue;
        rc_format(arena, "gpu=%u ", roll->gpu[i].rank);
        rc_join(arena);
        put_value(arena, roll->gpu[i].id, RC_ROLL_TEXT_MAX);
    }
    text = finish(arena, start);
    if (text && !rc_roll_read((struct rc_str){ text, arena->used - start - 1 }, &read)) {
        arena->used = start;
        return NULL;
    }
    return text;
}

const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena)
{
    size_t start;

    if (!begin(arena, ANSWER_HEAD, &start))
        return NULL;
    if (answer->port)
        put_number(arena, "port", answer->port);
    if (answer->stop)
        put_number(arena, "stop", 1);
    if (answer->said)
        put_number(arena, "said", 1);
    for (unsigned i = 0; i < answer->findings.count && i < RC_FINDINGS_MAX; i++) {
        if (!answer->findings.list[i].text[0])
            continue;
        rc_format(arena, "finding=%s ", rc_message_entry(answer->findings.list[i].id)->id);
        rc_join(arena);
        put_value(arena, rc_str(answer->findings.list[i].text), RC_FINDING_MAX);
    }
    return finish(arena, start);
}

/* "RC601": three digits, the first of which is a hundred. */
static bool is_id(struct rc_str id)
{
    return id.n == 5 && rc_str_starts(id, "RC") && id.p[2] >= '1' && id.p[2] <= '9' && id.p[3] >= '0' &&
           id.p[3] <= '9' && id.p[4] >= '0' && id.p[4] <= '9';
}

static bool take_finding(struct rc_answer *answer, unsigned *count, struct rc_str value, struct rc_arena *arena)
{
    struct rc_str text;
    struct rc_str name = rc_str_split(value, ' ', &text);

    if (!is_id(name) || !text.p || text.n == 0 || text.n > RC_FINDING_MAX)
        return false;
    if (++*count > RC_FINDINGS_MAX)
        return true;
    for (unsigned id = 0; id < RC_MESSAGE_COUNT; id++)
        if (rc_str_is(name, rc_message_entry((enum rc_message_id)id)->id))
            rc_message_add(&answer->findings, (enum rc_message_id)id, rc_format(arena, "%S", &text));
    return !arena->full;
}

/* "1", and for the first time. */
static bool take_flag(struct rc_str value, bool *flag)
{
    if (*flag || !rc_str_is(value, "1"))
        return false;
    *flag = true;
    return true;
}

bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena)
{
    struct rc_answer found = { .port = 0 };
    size_t start = arena->used;
    uint32_t port = RC_UNKNOWN;
    unsigned count = 0;
    struct rc_str name;
    struct rc_str value;
    bool good = begins(&text, ANSWER_HEAD, RC_ANSWER_SIZE);

    while (good && text.n > 0) {
        good = next_line(&text, &name, &value);
        if (!good)
            break;
        if (rc_str_is(name, "port"))
            good = take_number(value, UINT16_MAX, &port) && port > 0;
        else if (rc_str_is(name, "stop"))
            good = take_flag(value, &found.stop);
        else if (rc_str_is(name, "said"))
            good = take_flag(value, &found.said);
        else if (rc_str_is(name, "finding"))
            good = take_finding(&found, &count, value, arena);
        else
            good = !rc_str_is(name, "answer");
    }
    if (!good) {
        arena->used = start;
        return false;
    }
    found.port = port == RC_UNKNOWN ? 0 : (uint16_t)port;
    *answer = found;
    return true;
}
