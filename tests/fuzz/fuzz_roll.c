/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_roll - the roll check and the verdict, over whatever entries nodes may have sent.
 *
 * An input is "SECONDS COPIES\n" and entries (roll.h) with a blank line between. The first entry
 * is there COPIES times more, each time as another node. Every policy must come to an end with findings of one line.
 */
#include "config.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "libexec/exchange/exchange.h"
#include "roll/check.h"
#include "roll/netorder.h"

enum { ENTRIES_MAX = 300 };

struct trial {
    uint32_t number[2]; /* seconds, copies */
    struct rc_roll roll[ENTRIES_MAX];
    struct rc_str text[ENTRIES_MAX];
    size_t count;
    struct rc_verdict verdict;
    char room[RC_CHECK_ARENA];
};

/* Up to a blank line. */
static struct rc_str take_entry(struct rc_str *rest)
{
    struct rc_str entry = *rest;
    const char *end = rest->n ? memmem(rest->p, rest->n, "\n\n", 2) : NULL;

    if (!end) {
        *rest = RC_ABSENT;
        return entry;
    }
    entry.n = (size_t)(end - entry.p) + 1;
    *rest = (struct rc_str){ end + 2, rest->n - entry.n - 1 };
    return entry;
}

static void add_entry(struct trial *trial, struct rc_str entry)
{
    struct rc_str copy = fuzz_copy(entry);

    if (trial->count < ENTRIES_MAX && rc_roll_read(copy, &trial->roll[trial->count]))
        trial->text[trial->count++] = copy;
    else
        fuzz_free(copy);
}

/* As of a launch in which all nodes say the same of themselves. */
static void copy_first(struct trial *trial)
{
    for (size_t left = trial->number[1]; trial->count > 0 && left > 0 && trial->count < ENTRIES_MAX; left--) {
        struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
        struct rc_roll roll = trial->roll[0];
        const char *text;

        roll.node = (uint32_t)trial->count % roll.nodes;
        text = rc_roll_write(&roll, &arena);
        /* a value may be longer than it is written */
        if (!text)
            return;
        add_entry(trial, rc_str(text));
    }
}

static void read_trial(struct rc_str input, struct trial *trial)
{
    fuzz_take_numbers(&input, trial->number, 2, RC_MAX_TASKS);
    if (input.p)
        add_entry(trial, take_entry(&input));
    copy_first(trial);
    while (input.p && trial->count < ENTRIES_MAX)
        add_entry(trial, take_entry(&input));
}

static void check_findings(const struct rc_messages *findings)
{
    fuzz_check_messages(findings);
    CHECK(findings->count <= RC_MESSAGES_MAX);
    for (unsigned i = 0; i < findings->count; i++)
        CHECK(strlen(findings->list[i].text) <= RC_FINDING_MAX);
}

static void try_check(struct trial *trial)
{
    struct rc_arena arena = { .base = trial->room, .size = sizeof(trial->room) };
    const struct rc_roll_known known = { .deadline = trial->number[0], .item_lines = RC_ITEM_LINES };
    struct rc_messages findings = { .count = 0 };
    struct rc_blame blame = { .count = 0 };

    CHECK(rc_roll_check(trial->roll, trial->count, &known, &findings, &blame, &arena));
    check_findings(&findings);
    for (size_t i = 0; i < blame.count; i++)
        CHECK(blame.list[i].finding < findings.count || blame.list[i].finding == RC_BLAMED_BY_ITSELF);
    rc_blame_free(&blame);
}

static void try_verdict(struct trial *trial, enum rc_check check, bool is_foreign)
{
    struct rc_arrival list[ENTRIES_MAX];
    const struct rc_gather roll = { .list = list, .count = (uint32_t)trial->count };
    const struct rc_server_settings settings = { .check = check, .seconds = trial->number[0] };
    const struct rc_roll_call call = { &roll, &settings, is_foreign ? "2" : NULL };
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_answer answer;
    struct rc_str text;

    for (uint32_t i = 0; i < roll.count; i++)
        list[i] = (struct rc_arrival){ .member = i, .value = trial->text[i] };
    trial->verdict.answer = (struct rc_answer){ .port = 0 };
    text = rc_verdict_decide(&trial->verdict, &call);
    check_findings(&trial->verdict.answer.findings);
    CHECK(rc_answer_read(text, &answer, &arena) && answer.port == trial->verdict.answer.port &&
          answer.stop == trial->verdict.answer.stop && (!is_foreign || answer.stop));
}

/* All entries have a place in the order, each its own. */
static void try_order(struct trial *trial)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    const char *order = NULL;
    const char *why = rc_netorder_sort(trial->roll, trial->count, true, &order, &arena);
    uint32_t place, before;

    CHECK(why ? fuzz_is_printable(rc_str(why)) : order != NULL);
    for (size_t i = 0; !why && i < trial->count; i++)
        CHECK(rc_netorder_find(rc_str(order), trial->roll[i].node, &place, &before) && place < trial->count);
}

void fuzz_one(struct rc_str input)
{
    struct trial *trial = calloc(1, sizeof(*trial));

    CHECK(trial != NULL);
    read_trial(input, trial);
    if (trial->count > 0) {
        try_check(trial);
        for (int check = RC_CHECK_OFF; check <= RC_CHECK_STRICT; check++)
            try_verdict(trial, (enum rc_check)check, false);
        try_verdict(trial, RC_CHECK_WARN, true);
        try_order(trial);
    }
    for (size_t i = 0; i < trial->count; i++)
        fuzz_free(trial->text[i]);
    free(trial);
}
