/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include <stdlib.h>

#include "roll/amount.h"
#include "roll/group.h"
#include "roll/netorder.h"

#define NONE "none" /* what a node has whose files say that there is nothing */

static enum rc_compared compared(unsigned fact)
{
    return fact < FACT_ITEMS ? RC_COMPARED_EXACTLY : rc_item_row((enum rc_item)(fact - FACT_ITEMS))->compared;
}

static void read_node(struct rc_str *value, const struct rc_roll *roll)
{
    struct rc_str lines = roll->items;
    struct rc_str text;
    enum rc_item item;

    value[FACT_MODE] = roll->mode;
    value[FACT_MASTER] = roll->addr;
    value[FACT_VERSION] = roll->version;
    while (rc_items_next(&lines, &item, &text))
        value[FACT_ITEMS + item] = text;
    for (unsigned fact = FACT_ITEMS; fact < FACTS; fact++)
        if (roll->items.p && !value[fact].p && compared(fact) == RC_COMPARED_OR_NONE)
            value[fact] = RC_STR(NONE);
}

static bool are_alike(unsigned fact, struct rc_str a, struct rc_str b)
{
    return compared(fact) == RC_COMPARED_ROUGHLY ? rc_amount_is_almost(a, b) : rc_str_eq(a, b);
}

/* The nodes that take part in the comparison of a fact: those that say it, and of what depends on the number of tasks
 * those that have as many as most. */
static size_t select_nodes(const struct facts *facts, const struct rc_roll *roll, unsigned fact,
                           struct rc_member *member)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = 0;
    size_t kept = 0;

    for (size_t i = 0; i < facts->nodes; i++)
        if (cli_facts_value(facts, i, fact).p)
            member[count++] = (struct rc_member){ &roll[i], RC_ABSENT, 0 };
    if (compared(fact) == RC_COMPARED_PER_TASKS && count > 0) {
        for (size_t i = 0; i < count; i++)
            member[i].number = rc_netorder_tasks(member[i].roll);
        rc_group_find(member, count, shown);
        count = shown[0].count;
        for (const struct rc_member *m = shown[0].member; kept < count; m++)
            member[kept++] = *m;
    }
    for (size_t i = 0; i < count; i++) {
        member[i].text = cli_facts_value(facts, (size_t)(member[i].roll - roll), fact);
        member[i].number = 0;
    }
    return count;
}

static void find_usual(struct facts *facts, const struct rc_roll *roll, unsigned fact, struct rc_member *member)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = select_nodes(facts, roll, fact, member);
    size_t groups = rc_group_find(member, count, shown);
    size_t alike = 0;

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        facts->of[fact].known = facts->of[fact].known || !rc_str_is(member[i].text, NONE);
        alike += are_alike(fact, member[i].text, shown[0].member->text);
    }
    if (compared(fact) == RC_COMPARED_WITHIN)
        return;
    facts->of[fact].differs = groups > 1 && alike < count;
    if (alike > count / 2)
        facts->of[fact].usual = shown[0].member->text;
}

bool cli_facts_read(struct facts *facts, const struct rc_roll *roll, size_t count)
{
    struct rc_member *member = calloc(count + 1, sizeof(*member));

    *facts = (struct facts){ .nodes = count, .value = calloc(count * FACTS + 1, sizeof(*facts->value)) };
    if (member && facts->value) {
        for (size_t i = 0; i < count; i++)
            read_node(&facts->value[i * FACTS], &roll[i]);
        for (unsigned fact = 0; fact < FACTS; fact++)
            find_usual(facts, roll, fact, member);
    }
    free(member);
    return member && facts->value;
}

void cli_facts_free(struct facts *facts)
{
    free(facts->value);
    *facts = (struct facts){ .nodes = 0 };
}

struct rc_str cli_facts_value(const struct facts *facts, size_t node, unsigned fact)
{
    return facts->value[node * FACTS + fact];
}

bool cli_facts_is_odd(const struct facts *facts, size_t node, unsigned fact)
{
    struct rc_str value = cli_facts_value(facts, node, fact);

    return facts->of[fact].differs && facts->of[fact].usual.p && value.p &&
           !are_alike(fact, value, facts->of[fact].usual);
}

unsigned cli_facts_count_odd(const struct facts *facts, size_t node)
{
    unsigned count = 0;

    for (unsigned fact = 0; fact < FACTS; fact++)
        count += cli_facts_is_odd(facts, node, fact);
    return count;
}

bool cli_facts_is_unlike(const struct facts *facts, size_t node)
{
    for (unsigned fact = 0; fact < FACTS; fact++)
        if (cli_facts_is_odd(facts, node, fact) ||
            (facts->of[fact].differs && !facts->of[fact].usual.p && cli_facts_value(facts, node, fact).p))
            return true;
    return false;
}

/* "the limit of locked memory is", without what a line needs of it */
static struct rc_str shorten(struct rc_str words)
{
    struct rc_str verb;
    struct rc_str label = rc_str_split_last(words, ' ', &verb);

    if (rc_str_starts(label, "the "))
        label = (struct rc_str){ label.p + 4, label.n - 4 };
    return label;
}

struct rc_str cli_facts_label(unsigned fact)
{
    static const char *const own[FACT_ITEMS] = {
        [FACT_MODE] = "mode", [FACT_MASTER] = "MASTER_ADDR", [FACT_VERSION] = "rollcall"
    };

    return fact < FACT_ITEMS ? rc_str(own[fact])
                             : shorten(rc_str(rc_item_row((enum rc_item)(fact - FACT_ITEMS))->words));
}
