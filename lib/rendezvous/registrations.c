/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/registrations.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct rc_ledger *ledger)
{
    size_t room = ledger->room ? 2 * ledger->room : 16;
    struct rc_roll *rolls;
    char **texts;

    if (ledger->count < ledger->room)
        return true;
    rolls = realloc(ledger->rolls, room * sizeof(*rolls));
    if (rolls)
        ledger->rolls = rolls;
    texts = realloc(ledger->texts, room * sizeof(*texts));
    if (texts)
        ledger->texts = texts;
    if (rolls && texts)
        ledger->room = room;
    return rolls && texts;
}

bool rc_ledger_add(struct rc_ledger *ledger, struct rc_str entry)
{
    char *text;

    if (!make_room(ledger) || !(text = malloc(entry.n + 1)))
        return false;
    memcpy(text, entry.p, entry.n);
    text[entry.n] = '\0';
    if (!rc_roll_read((struct rc_str){ text, entry.n }, &ledger->rolls[ledger->count])) {
        free(text);
        return false;
    }
    if (ledger->count == 0 || ledger->rolls[ledger->count].nodes < ledger->nodes)
        ledger->nodes = ledger->rolls[ledger->count].nodes;
    ledger->texts[ledger->count++] = text;
    return true;
}

bool rc_ledger_is_complete(const struct rc_ledger *ledger)
{
    return ledger->count > 0 && ledger->count >= ledger->nodes;
}

char *rc_ledger_text(const struct rc_ledger *ledger, size_t *size)
{
    size_t all = 0;
    char *text;
    char *end;

    for (size_t i = 0; i < ledger->count; i++)
        all += strlen(ledger->texts[i]) + 1;
    end = text = malloc(all + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < ledger->count; i++) {
        end = stpcpy(end, ledger->texts[i]);
        *end++ = '\n';
    }
    *size = all;
    return text;
}

void rc_ledger_free(struct rc_ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        free(ledger->texts[i]);
    free(ledger->texts);
    free(ledger->rolls);
    *ledger = (struct rc_ledger){ .count = 0 };
}
