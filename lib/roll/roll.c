/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/roll.h"

#include <string.h>

#include "base/netaddr.h"
#include "base/pairs.h"

static const struct rc_item_row item_rows[] = {
#define ROLLCALL_ITEM(name, compared, words) { #name, RC_COMPARED_##compared, words },
#include "roll/items.def"
#undef ROLLCALL_ITEM
};

const struct rc_item_row *rc_item_row(enum rc_item item)
{
    return &item_rows[item];
}

void rc_item_put(struct rc_arena *arena, enum rc_item item, struct rc_str value)
{
    if (value.n == 0)
        return;
    rc_format(arena, "has=%s ", item_rows[item].name);
    rc_join(arena);
    rc_pairs_put_value(arena, value, RC_ROLL_TEXT_MAX);
}

struct rc_str rc_roll_variable(const struct rc_roll *roll, struct rc_str name)
{
    struct rc_str value;

    for (unsigned i = 0; i < roll->user_count; i++)
        if (rc_str_eq(rc_str_split(roll->user[i], '=', &value), name))
            return value;
    return RC_ABSENT;
}

int rc_roll_by_node(const void *a, const void *b)
{
    uint32_t left = ((const struct rc_roll *)a)->node;
    uint32_t right = ((const struct rc_roll *)b)->node;

    return (left > right) - (left < right);
}

bool rc_roll_next_range(struct rc_str *rest, uint32_t *first, uint32_t *last)
{
    struct rc_str after;
    struct rc_str high;
    struct rc_str low;
    uint32_t from;
    uint32_t to;

    if (!rest->p)
        return false;
    low = rc_str_split(rc_str_split(*rest, ',', &after), '-', &high);
    if (!rc_parse_u32(low, RC_MAX_TASKS - 1, &from))
        return false;
    to = from;
    if (high.p && (!rc_parse_u32(high, RC_MAX_TASKS - 1, &to) || to < from))
        return false;
    *rest = after;
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

static bool take_user(struct rc_str value, void *to)
{
    struct rc_roll *roll = to;
    struct rc_str set;
    struct rc_str name = rc_str_split(value, '=', &set);

    if (!set.p || name.n == 0 || value.n > RC_ROLL_TEXT_MAX || rc_roll_variable(roll, name).p)
        return false;
    if (roll->user_count < RC_ROLL_USER_MAX)
        roll->user[roll->user_count++] = value;
    return true;
}

static bool take_gpu(struct rc_str value, void *to)
{
    struct rc_roll *roll = to;
    struct rc_roll_gpu gpu;
    struct rc_str rank = rc_str_split(value, ' ', &gpu.id);

    if (!rc_parse_u32(rank, RC_MAX_TASKS - 1, &gpu.rank) || !gpu.id.p || gpu.id.n == 0 || gpu.id.n > RC_ROLL_TEXT_MAX)
        return false;
    if (roll->gpu_count < RC_ROLL_GPUS_MAX)
        roll->gpu[roll->gpu_count++] = gpu;
    return true;
}

static bool take_item(struct rc_str value, void *to)
{
    struct rc_roll *roll = to;
    struct rc_str text;
    struct rc_str name = rc_str_split(value, ' ', &text);
    unsigned item = 0;

    while (item < RC_ITEMS && !rc_str_is(name, item_rows[item].name))
        item++;
    if (name.n == 0 || text.n == 0 || text.n > RC_ROLL_TEXT_MAX || (item < RC_ITEMS && roll->item[item].p))
        return false;
    roll->has_items = true;
    if (item < RC_ITEMS)
        roll->item[item] = text;
    return true;
}

static void put_users(struct rc_arena *arena, const void *from)
{
    const struct rc_roll *roll = from;

    for (unsigned i = 0; i < roll->user_count; i++) {
        rc_format(arena, "user=");
        rc_join(arena);
        rc_pairs_put_value(arena, roll->user[i], RC_ROLL_TEXT_MAX);
    }
}

static void put_gpus(struct rc_arena *arena, const void *from)
{
    const struct rc_roll *roll = from;

    for (unsigned i = 0; i < roll->gpu_count; i++) {
        rc_format(arena, "gpu=%u ", roll->gpu[i].rank);
        rc_join(arena);
        rc_pairs_put_value(arena, roll->gpu[i].id, RC_ROLL_TEXT_MAX);
    }
}

static void put_items(struct rc_arena *arena, const void *from)
{
    for (unsigned item = 0; item < RC_ITEMS; item++)
        rc_item_put(arena, (enum rc_item)item, ((const struct rc_roll *)from)->item[item]);
}

static const struct rc_row rows[] = {
    RC_ROW_TEXT(struct rc_roll, version, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, scope, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, host, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, tasks, RC_ROLL_SIZE),
    RC_ROW_TEXT(struct rc_roll, dead, RC_ROLL_TEXT_MAX),
    RC_ROW_NUMBER(struct rc_roll, node, 0, RC_MAX_TASKS - 1),
    RC_ROW_NUMBER(struct rc_roll, nodes, 0, RC_MAX_TASKS),
    RC_ROW_NUMBER(struct rc_roll, world, 0, RC_MAX_TASKS),
    RC_ROW_TEXT(struct rc_roll, launcher, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, mode, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, boot, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, addr, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, visible, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, place, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, busy, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, hosts, RC_ROLL_HOSTS_MAX),
    RC_ROW_TEXT(struct rc_roll, own, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, via, RC_ROLL_TEXT_MAX),
    RC_ROW_TEXT(struct rc_roll, leads, RC_ROLL_TEXT_MAX),
    RC_ROW_NUMBER(struct rc_roll, port, 1, UINT16_MAX),
    RC_ROW_MANY("user", take_user, put_users),
    RC_ROW_MANY("gpu", take_gpu, put_gpus),
    RC_ROW_MANY("has", take_item, put_items),
};

static const struct rc_form form = { .head = "roll", .most = RC_ROLL_SIZE, RC_FORM_ROWS(rows) };

bool rc_roll_read(struct rc_str text, struct rc_roll *roll)
{
    struct rc_roll found = { .node = RC_UNKNOWN, .nodes = RC_UNKNOWN, .world = RC_UNKNOWN };

    if (!rc_pairs_read(text, '\n', &form, &found))
        return false;
    /* RC_UNKNOWN is larger than any number */
    if (!found.scope.p || !found.host.p || found.world == RC_UNKNOWN || found.nodes > found.world ||
        found.node >= found.nodes || !are_ranks(found.tasks, found.world))
        return false;
    for (unsigned i = 0; i < found.gpu_count; i++)
        if (!has_task(found.tasks, found.gpu[i].rank))
            return false;
    *roll = found;
    return true;
}

const char *rc_roll_write(const struct rc_roll *roll, struct rc_arena *arena)
{
    size_t start = arena->used;
    const char *text = rc_pairs_write(&form, roll, arena);
    struct rc_roll read;

    if (text && !rc_roll_read((struct rc_str){ text, arena->used - start - 1 }, &read)) {
        arena->used = start;
        return NULL;
    }
    return text;
}

/* Skips findings beyond RC_FINDINGS_MAX and unknown ids. */
static bool take_finding(struct rc_str value, void *to)
{
    struct rc_messages *findings = &((struct rc_answer *)to)->findings;
    size_t start = findings->arena->used;
    unsigned count = findings->count;
    enum rc_message_id id;
    struct rc_str text;
    struct rc_str name = rc_str_split(value, ' ', &text);

    if (text.n == 0 || text.n > RC_FINDING_MAX)
        return false;
    if (count < RC_FINDINGS_MAX && rc_message_named(name, &id))
        rc_message_add(findings, id, rc_copy(findings->arena, text));
    if (findings->count == count)
        findings->arena->used = start; /* a duplicate, or skipped */
    return !findings->arena->full;
}

static void put_findings(struct rc_arena *arena, const void *from)
{
    const struct rc_messages *findings = &((const struct rc_answer *)from)->findings;

    for (unsigned i = 0; i < findings->count && i < RC_FINDINGS_MAX; i++) {
        rc_format(arena, "finding=%s ", rc_message_entry(findings->list[i].id)->id);
        rc_join(arena);
        rc_pairs_put_value(arena, rc_str(findings->list[i].text), RC_FINDING_MAX);
    }
}

static const struct rc_row answer_rows[] = {
    RC_ROW_NUMBER(struct rc_answer, port, 1, UINT16_MAX),
    RC_ROW_FLAG(struct rc_answer, stop, "1"),
    RC_ROW_FLAG(struct rc_answer, said, "1"),
    RC_ROW_TEXT(struct rc_answer, order, RC_ROLL_ORDER_MAX),
    RC_ROW_TEXT(struct rc_answer, first, RC_FINDING_MAX),
    RC_ROW_TEXT(struct rc_answer, unordered, RC_FINDING_MAX),
    RC_ROW_TEXT(struct rc_answer, own, RC_FINDING_MAX),
    RC_ROW_TEXT(struct rc_answer, addr, RC_NETADDR_TEXT - 1),
    RC_ROW_MANY("finding", take_finding, put_findings),
};

static const struct rc_form answer_form = { .head = "answer", .most = RC_ANSWER_SIZE, RC_FORM_ROWS(answer_rows) };

const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena)
{
    return rc_pairs_write(&answer_form, answer, arena);
}

bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena)
{
    struct rc_answer found = { .findings = { .arena = arena } };
    size_t start = arena->used;

    if (!rc_pairs_read(text, '\n', &answer_form, &found)) {
        arena->used = start;
        return false;
    }
    *answer = found;
    return true;
}
