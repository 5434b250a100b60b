/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include <stdlib.h>

#include "roll/comparison.h"

#define NONE "none" /* what a node has whose files say that there is nothing */

static void read_node(struct fact *fact, const struct rc_roll *roll)
{
    struct rc_str lines = roll->items;
    struct rc_str text;
    enum rc_item item;

    fact[FACT_MODE].value = roll->mode;
    fact[FACT_MASTER].value = roll->addr;
    fact[FACT_VERSION].value = roll->version;
    while (rc_items_next(&lines, &item, &text))
        fact[FACT_ITEMS + item].value = text;
    for (unsigned i = 0; roll->items.p && i < RC_ITEMS; i++)
        if (!fact[FACT_ITEMS + i].value.p && rc_item_row((enum rc_item)i)->compared == RC_COMPARED_OR_NONE)
            fact[FACT_ITEMS + i].value = RC_STR(NONE);
}

static struct fact *fact_of(struct facts *facts, size_t node, unsigned fact)
{
    return &facts->fact[node * FACTS + fact];
}

/* Tells the sides of nodes that are compared with each other. */
static void find_sides(struct facts *facts, const struct rc_roll *roll, unsigned fact, struct rc_member *member,
                       size_t count)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t groups = rc_group_find(member, count, shown);
    bool most = groups > 0 && rc_group_is_most(shown, count);
    struct rc_str usual;

    if (groups < 2)
        return;
    usual = shown[0].member->text.p ? shown[0].member->text : RC_STR(NONE);
    facts->of[fact].differs = true;
    if (most)
        facts->of[fact].usual = usual;
    for (size_t i = 0; i < count; i++) {
        struct fact *of = fact_of(facts, (size_t)(member[i].roll - roll), fact);

        if (!most)
            of->side = SIDE_OF_SEVERAL;
        else if (rc_text_order(member[i].text, shown[0].member->text) != 0)
            *of = (struct fact){ of->value, usual, SIDE_ODD };
    }
}

/* What every node has is compared with all. */
static void compare_own(struct facts *facts, const struct rc_roll *roll, unsigned fact, struct rc_member *member)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->nodes; i++)
        if (fact_of(facts, i, fact)->value.p)
            member[count++] = (struct rc_member){ &roll[i], fact_of(facts, i, fact)->value, 0 };
    find_sides(facts, roll, fact, member, count);
}

/* Items as RC622 does. `member` has room for twice the nodes. */
static bool compare_items(struct facts *facts, const struct rc_roll *roll, struct rc_member *member)
{
    struct rc_member *part = member + facts->nodes;
    struct rc_comparison comparison;
    bool done;

    for (size_t i = 0; i < facts->nodes; i++)
        member[i] = (struct rc_member){ &roll[i], RC_ABSENT, 0 };
    done = rc_comparison_read(&comparison, member, facts->nodes);
    for (unsigned item = 0; done && item < RC_ITEMS; item++)
        for (size_t first = 0; first < comparison.count; first += rc_comparison_part(&comparison, first))
            find_sides(facts, roll, FACT_ITEMS + item, part,
                       rc_comparison_select(&comparison, first, (enum rc_item)item, part));
    rc_comparison_free(&comparison);
    return done;
}

static void sum_up(struct facts *facts, unsigned fact)
{
    struct rc_str all = RC_ABSENT;
    bool same = true;

    for (size_t i = 0; i < facts->nodes; i++) {
        struct rc_str value = fact_of(facts, i, fact)->value;

        if (!value.p)
            continue;
        facts->of[fact].known = facts->of[fact].known || !rc_str_is(value, NONE);
        same = same && (!all.p || rc_str_eq(all, value));
        all = value;
    }
    if (same && !facts->of[fact].differs)
        facts->of[fact].usual = all;
}

bool cli_facts_read(struct facts *facts, const struct rc_roll *roll, size_t count)
{
    struct rc_member *member = calloc(2 * count + 1, sizeof(*member));
    bool done = false;

    *facts = (struct facts){ .nodes = count, .fact = calloc(count * FACTS + 1, sizeof(*facts->fact)) };
    if (member && facts->fact) {
        for (size_t i = 0; i < count; i++)
            read_node(fact_of(facts, i, 0), &roll[i]);
        for (unsigned fact = 0; fact < FACT_ITEMS; fact++)
            compare_own(facts, roll, fact, member);
        done = compare_items(facts, roll, member);
        for (unsigned fact = 0; fact < FACTS; fact++)
            sum_up(facts, fact);
    }
    free(member);
    return done;
}

void cli_facts_free(struct facts *facts)
{
    free(facts->fact);
    *facts = (struct facts){ .nodes = 0 };
}

const struct fact *cli_facts_of(const struct facts *facts, size_t node, unsigned fact)
{
    return &facts->fact[node * FACTS + fact];
}

bool cli_facts_is_part(unsigned fact)
{
    return fact >= FACT_ITEMS && rc_item_row((enum rc_item)(fact - FACT_ITEMS))->compared == RC_COMPARED_WITHIN;
}

unsigned cli_facts_count_odd(const struct facts *facts, size_t node)
{
    unsigned count = 0;

    for (unsigned fact = 0; fact < FACTS; fact++)
        count += cli_facts_of(facts, node, fact)->side == SIDE_ODD;
    return count;
}

bool cli_facts_is_unlike(const struct facts *facts, size_t node)
{
    for (unsigned fact = 0; fact < FACTS; fact++)
        if (cli_facts_of(facts, node, fact)->side != SIDE_OF_MOST)
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
