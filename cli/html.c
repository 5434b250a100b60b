/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "html.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "catalogue.h"
#include "exclude.h"
#include "htmlnodes.h"
#include "page.h"
#include "roll/group.h"

enum { WORDS_SIZE = 512, VALUES_SHOWN = 8 };

static void put_sum(const char *name, struct rc_str value)
{
    if (value.n)
        page_put(PAGE_sum, { "name", rc_str(name) }, { "value", value });
}

/* "1 error, 2 warnings" */
static const char *count_messages(const struct rc_messages *findings, struct rc_arena *arena)
{
    static const enum rc_level levels[] = { RC_LEVEL_ERROR, RC_LEVEL_WARNING, RC_LEVEL_NOTE };
    const char *text = "";

    for (unsigned k = 0; k < sizeof(levels) / sizeof(*levels); k++) {
        uint32_t count = 0;

        for (unsigned i = 0; i < findings->count; i++)
            count += rc_message_entry(findings->list[i].id)->level == levels[k];
        if (count)
            text = rc_format(arena, "%s%s%u %s%s", text, *text ? ", " : "", count, rc_level_name(levels[k]),
                             count > 1 ? "s" : "");
    }
    return text;
}

static enum rc_level gravest(const struct rc_messages *findings)
{
    enum rc_level level = RC_LEVEL_NOTE;

    for (unsigned i = 0; i < findings->count; i++)
        if (rc_message_entry(findings->list[i].id)->level > level)
            level = rc_message_entry(findings->list[i].id)->level;
    return level;
}

static void put_head(const struct roster *roster, const struct facts *facts)
{
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };
    const struct rc_roll *first = roster->count ? &roster->roll[0] : NULL;
    enum rc_level level = gravest(&roster->findings);
    const char *verdict = "all nodes agree";

    if (roster->findings.count)
        verdict = count_messages(&roster->findings, &arena);
    page_put(PAGE_head, { "version", rc_str(PACKAGE_VERSION) }, { "step", rc_str(roster->step) },
             { "verdict", rc_str(verdict) }, { "level", rc_str(level > RC_LEVEL_NOTE ? rc_level_name(level) : "good") },
             { "nodes", rc_str(rc_format(&arena, "%U of %u", (uint64_t)roster->count, roster->nodes)) });
    put_sum("Tasks", roster->world ? rc_str(rc_format(&arena, "%u", roster->world)) : RC_ABSENT);
    put_sum("Mode", facts->of[FACT_MODE].usual);
    if (first && first->port)
        put_sum("Master", rc_str(rc_format(&arena, "%S:%u", &first->addr, (uint32_t)first->port)));
    else if (first)
        put_sum("Master", first->addr);
    put_sum("GPUs of most nodes", facts->of[FACT_ITEMS + RC_ITEM_gpus].usual);
    page_put_plain(PAGE_sums_end);
}

/* False without memory, as all that print a part. */
static bool put_message(const struct roster *roster, unsigned i)
{
    const struct cli_catalogue_entry *entry = cli_catalogue_message(roster->findings.list[i].id);
    char *nodes = cli_exclude_of(&roster->blame, i);

    if (!nodes)
        return false;
    page_put(PAGE_message, { "level", rc_str(rc_level_name(entry->level)) }, { "id", rc_str(entry->id) },
             { "text", rc_str(roster->findings.list[i].text) });
    if (*nodes)
        page_put(PAGE_message_nodes, { "nodes", rc_str(nodes) });
    page_put(PAGE_message_end, { "cause", rc_str(entry->cause) }, { "cure", rc_str(entry->cure) });
    free(nodes);
    return true;
}

static bool put_exclude(const struct roster *roster)
{
    char *list = cli_exclude_list(&roster->blame);
    size_t size;
    char *line = NULL;
    FILE *file = list && *list ? open_memstream(&line, &size) : NULL;

    if (file) {
        fprintf(file, CLI_EXCLUDE "%s", list);
        if (fclose(file) == 0)
            page_put(PAGE_exclude, { "exclude", rc_str(line) });
        free(line);
    }
    free(list);
    return list;
}

static bool put_messages(const struct roster *roster)
{
    page_put_plain(PAGE_messages);
    for (unsigned i = 0; i < roster->findings.count; i++)
        if (!put_message(roster, i))
            return false;
    if (roster->findings.count == 0)
        page_put_plain(PAGE_no_messages);
    if (!put_exclude(roster))
        return false;
    page_put_plain(PAGE_section_end);
    return true;
}

/* The values of a fact that are not as with most nodes, each with its nodes. */
static bool put_odd_values(const struct fold *fold, unsigned fact)
{
    struct rc_member *member = calloc(fold->nodes + 1, sizeof(*member));
    size_t *node = calloc(fold->nodes + 1, sizeof(*node));
    size_t count = 0;
    size_t shown = 0;
    size_t n;

    for (size_t i = 0; member && i < fold->nodes; i++) {
        const struct fact *of = cli_facts_of(fold->facts, i, fact);

        if (of->side != SIDE_OF_MOST)
            member[count++] = (struct rc_member){ &fold->roll[i], of->value, 0 };
    }
    if (member)
        rc_member_sort(member, count);
    for (size_t i = 0; node && i < count && shown < VALUES_SHOWN; i += n, shown++) {
        char words[WORDS_SIZE];
        struct rc_arena arena = { .base = words, .size = sizeof(words) };

        n = rc_member_run(&member[i], count - i);
        for (size_t k = 0; k < n; k++)
            node[k] = (size_t)(member[i + k].roll - fold->roll);
        page_put(PAGE_odd_value, { "value", member[i].text },
                 { "class", rc_str(fold->facts->of[fact].usual.p ? "odd" : "") },
                 { "names", rc_str(cli_fold_names(fold, node, n, &arena)) });
    }
    free(member);
    free(node);
    return member && node;
}

static bool put_differences(const struct fold *fold)
{
    bool begun = false;

    for (unsigned fact = 0; fact < FACTS; fact++) {
        struct rc_str usual = fold->facts->of[fact].usual;

        if (!fold->facts->of[fact].differs)
            continue;
        if (!begun)
            page_put_plain(PAGE_differences);
        begun = true;
        page_put(PAGE_difference, { "label", cli_facts_label(fact) },
                 { "usual", usual.p ? usual : RC_STR("(no value of more than half)") });
        if (!put_odd_values(fold, fact))
            return false;
        page_put_plain(PAGE_row_end);
    }
    if (begun) {
        page_put_plain(PAGE_table_end);
        page_put_plain(PAGE_section_end);
    }
    return true;
}

static void put_foot(void)
{
    char date[WORDS_SIZE];
    time_t now = time(NULL);
    struct tm parts;

    if (!gmtime_r(&now, &parts) || strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &parts) == 0)
        date[0] = '\0';
    page_put(PAGE_foot, { "version", rc_str(PACKAGE_VERSION) }, { "date", rc_str(date) });
}

static bool put_page(const struct roster *roster, const struct facts *facts, const struct fold *fold)
{
    put_head(roster, facts);
    if (!put_messages(roster) || !put_differences(fold) || !cli_html_glance(roster, facts))
        return false;
    cli_html_nodes(fold);
    put_foot();
    return true;
}

int cli_html_print(const struct roster *roster)
{
    struct facts facts;
    struct fold fold = { .nodes = 0 };
    bool good = cli_facts_read(&facts, roster->roll, roster->count) && cli_fold_make(&fold, roster->roll, &facts) &&
                put_page(roster, &facts, &fold);

    cli_fold_free(&fold);
    cli_facts_free(&facts);
    return good ? 0 : -1;
}
