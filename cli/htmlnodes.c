/* SPDX-License-Identifier: BSD-3-Clause */
#include "htmlnodes.h"

#include "page.h"

/* Further kinds of nodes are folded, as are further nodes of a start-up. */
enum { GROUPS_SHOWN = 40, WORDS_SIZE = 1024, GPUS_SIZE = 8192 };

static void put_cell(const struct fold *fold, size_t node, unsigned fact)
{
    const struct fact *of = cli_facts_of(fold->facts, node, fact);

    if (of->side == SIDE_ODD)
        page_put(PAGE_cell_odd, { "value", of->value }, { "usual", of->usual });
    else
        page_put(PAGE_cell, { "value", of->value.p ? of->value : RC_STR("-") });
}

static void put_facts(const struct fold *fold, size_t node)
{
    for (unsigned fact = 0; fact < FACTS; fact++) {
        const struct fact *of = cli_facts_of(fold->facts, node, fact);

        if (!fold->facts->of[fact].known || !of->value.p)
            continue;
        if (of->side == SIDE_ODD)
            page_put(PAGE_fact_odd, { "label", cli_facts_label(fact) }, { "value", of->value }, { "usual", of->usual });
        else
            page_put(PAGE_fact, { "label", cli_facts_label(fact) }, { "value", of->value });
    }
}

/* "0: GPU-1c6f, 1: GPU-22aa" */
static struct rc_str write_gpus(const struct rc_roll *roll, struct rc_arena *arena)
{
    struct rc_str text = rc_str(rc_format(arena, ""));

    for (unsigned k = 0; k < roll->gpu_count; k++) {
        rc_join(arena);
        rc_format(arena, "%s%u: %S", k ? ", " : "", roll->gpu[k].rank, &roll->gpu[k].id);
    }
    text.n = arena->full ? 0 : rc_str(text.p).n;
    return text.n ? text : RC_STR("-");
}

static struct rc_str write_remark(const struct rc_roll *roll, struct rc_arena *arena)
{
    if (roll->dead.p)
        return rc_str(rc_format(arena, "its tasks do not start: %S", &roll->dead));
    if (roll->absent.p)
        return rc_str(rc_format(arena, "took no part: %S", &roll->absent));
    if (roll->port)
        return rc_str(rc_format(arena, "holds port %u", (uint32_t)roll->port));
    return roll->visible.p ? roll->visible : RC_STR("");
}

static void put_member(const struct rc_roll *roll)
{
    char words[GPUS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };

    page_put(PAGE_member, { "node", rc_str(rc_format(&arena, "%u", roll->node)) }, { "name", roll->host },
             { "ranks", roll->tasks }, { "gpus", write_gpus(roll, &arena) }, { "remark", write_remark(roll, &arena) });
}

static void put_group(const struct fold *fold, const struct fold_group *group)
{
    const size_t *node = &fold->node[group->first];
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };
    const char *summary = "All that this node says";

    if (group->count > 1)
        summary = rc_format(&arena, "All that these %U nodes say, and each of them", (uint64_t)group->count);
    page_put(PAGE_group, { "names", rc_str(cli_fold_names(fold, node, group->count, &arena)) },
             { "count", rc_str(rc_format(&arena, "%U", (uint64_t)group->count)) },
             { "ranks", rc_str(cli_fold_ranks(fold, node, group->count, &arena)) });
    put_cell(fold, node[0], FACT_ITEMS + RC_ITEM_gpus);
    put_cell(fold, node[0], FACT_ITEMS + RC_ITEM_nics);
    put_cell(fold, node[0], FACT_ITEMS + RC_ITEM_cores);
    page_put(PAGE_group_more, { "summary", rc_str(summary) });
    put_facts(fold, node[0]);
    page_put_plain(PAGE_members);
    for (size_t i = 0; i < group->count; i++)
        put_member(&fold->roll[node[i]]);
    page_put_plain(PAGE_group_end);
}

static void put_table(const struct fold *fold, size_t first, size_t last, const char *caption)
{
    page_put(PAGE_nodes_table, { "caption", rc_str(caption) });
    for (size_t i = first; i < last; i++)
        put_group(fold, &fold->group[i]);
    page_put_plain(PAGE_table_end);
}

void cli_html_nodes(const struct fold *fold)
{
    size_t shown = fold->groups < GROUPS_SHOWN ? fold->groups : GROUPS_SHOWN;
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };

    page_put_plain(PAGE_nodes);
    put_table(fold, 0, shown, "Nodes that are alike stand in one row, those that differ from most first.");
    if (fold->groups > shown) {
        const char *more = rc_format(&arena, "%U more kinds of nodes", (uint64_t)(fold->groups - shown));

        page_put(PAGE_fold, { "summary", rc_str(more) });
        put_table(fold, shown, fold->groups, more);
        page_put_plain(PAGE_fold_end);
    }
    page_put_plain(PAGE_section_end);
}
