/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "htmlnodes.h"
#include "page.h"

/* Of more nodes each is a dot. */
enum { TILES_MAX = 64, WORDS_SIZE = 1024 };

/* How a node is shown: a class of the page's style. */
static const char *find_state(const struct facts *facts, size_t node, bool blamed)
{
    if (blamed)
        return "blamed";
    return cli_facts_is_unlike(facts, node) ? "differs" : "good";
}

/* The same for who sees no colours. */
static struct rc_str find_word(const char *state)
{
    return strcmp(state, "blamed") == 0    ? RC_STR("to blame")
           : strcmp(state, "differs") == 0 ? RC_STR("differs")
                                           : RC_STR("");
}

/* Which nodes some finding blames. */
static bool *find_blamed(const struct roster *roster)
{
    bool *blamed = calloc(roster->count + 1, sizeof(*blamed));

    for (size_t k = 0; blamed && k < roster->blame.count; k++)
        for (size_t i = 0; roster->blame.list[k].host.p && i < roster->count; i++)
            blamed[i] = blamed[i] || rc_str_eq(roster->blame.list[k].host, roster->roll[i].host);
    return blamed;
}

static struct rc_str write_ranks(const struct rc_roll *roll, struct rc_arena *arena)
{
    bool one = true;

    for (size_t i = 0; i < roll->tasks.n; i++)
        one = one && roll->tasks.p[i] != ',' && roll->tasks.p[i] != '-';
    return rc_str(rc_format(arena, one ? "rank %S" : "ranks %S", &roll->tasks));
}

static void put_tile(const struct rc_roll *roll, const char *state)
{
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };

    page_put(PAGE_tile, { "state", rc_str(state) }, { "word", find_word(state) }, { "name", roll->host },
             { "ranks", write_ranks(roll, &arena) });
    if (roll->gpu_count)
        page_put_plain(PAGE_tile_gpus);
    for (unsigned k = 0; k < roll->gpu_count; k++) {
        arena.used = 0;
        page_put(PAGE_tile_gpu, { "rank", rc_str(rc_format(&arena, "%u", roll->gpu[k].rank)) },
                 { "gpu", roll->gpu[k].id });
    }
    if (roll->gpu_count)
        page_put_plain(PAGE_tile_gpus_end);
    page_put_plain(PAGE_tile_end);
}

static void put_dot(const struct rc_roll *roll, const char *state)
{
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };

    page_put(PAGE_dot, { "state", rc_str(state) }, { "name", roll->host }, { "ranks", write_ranks(roll, &arena) });
}

static void put_missing(bool tiles, struct rc_str name, const char *words)
{
    page_put(tiles ? PAGE_tile : PAGE_dot, { "state", RC_STR("missing") }, { "name", name },
             { "ranks", rc_str(words) });
    if (tiles)
        page_put_plain(PAGE_tile_end);
}

/* Nodes without an entry, as far as their names are known, and how many others there are. */
static void put_all_missing(const struct roster *roster, bool tiles)
{
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };
    size_t missing = roster->nodes > roster->count ? roster->nodes - roster->count : 0;

    for (size_t k = 0; k < roster->blame.count && missing > 0; k++) {
        const struct rc_blamed *blamed = &roster->blame.list[k];

        if (blamed->host.p)
            continue;
        put_missing(tiles, rc_str(blamed->name), "has not answered");
        missing--;
    }
    if (missing > 0)
        put_missing(tiles, rc_str(rc_format(&arena, missing > 1 ? "%U more nodes" : "%U more node", (uint64_t)missing)),
                    missing > 1 ? "have not answered" : "has not answered");
}

/* "1000 nodes; something differs on 3, 1 has not answered" for who does not see the dots */
static void put_list(const struct roster *roster, const struct facts *facts, const bool *blamed, bool tiles)
{
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };
    uint64_t differing = 0;
    uint64_t to_blame = 0;

    for (size_t i = 0; i < roster->count; i++) {
        differing += cli_facts_is_unlike(facts, i);
        to_blame += blamed[i];
    }
    page_put(tiles ? PAGE_tiles : PAGE_dots,
             { "words", rc_str(rc_format(&arena, "%U nodes of %u have answered; something differs on %U; %U to blame",
                                         (uint64_t)roster->count, roster->nodes, differing, to_blame)) });
}

bool cli_html_glance(const struct roster *roster, const struct facts *facts)
{
    bool *blamed = find_blamed(roster);
    bool tiles = roster->nodes <= TILES_MAX;

    if (!blamed)
        return false;
    page_put_plain(PAGE_glance);
    put_list(roster, facts, blamed, tiles);
    for (size_t i = 0; i < roster->count; i++)
        (tiles ? put_tile : put_dot)(&roster->roll[i], find_state(facts, i, blamed[i]));
    put_all_missing(roster, tiles);
    page_put_plain(PAGE_list_end);
    page_put_plain(PAGE_section_end);
    free(blamed);
    return true;
}
