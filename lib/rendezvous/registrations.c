/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/registrations.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct rc_registrations *registrations)
{
    size_t room = registrations->room ? 2 * registrations->room : 16;
    struct rc_roll *rolls;
    char **texts;

    if (registrations->count < registrations->room)
        return true;
    rolls = realloc(registrations->rolls, room * sizeof(*rolls));
    if (rolls)
        registrations->rolls = rolls;
    texts = realloc(registrations->texts, room * sizeof(*texts));
    if (texts)
        registrations->texts = texts;
    if (rolls && texts)
        registrations->room = room;
    return rolls && texts;
}

bool rc_registrations_add(struct rc_registrations *registrations, struct rc_str entry)
{
    char *text;

    if (!make_room(registrations) || !(text = malloc(entry.n + 1)))
        return false;
    memcpy(text, entry.p, entry.n);
    text[entry.n] = '\0';
    if (!rc_roll_read((struct rc_str){ text, entry.n }, &registrations->rolls[registrations->count])) {
        free(text);
        return false;
    }
    if (registrations->count == 0 || registrations->rolls[registrations->count].nodes < registrations->nodes)
        registrations->nodes = registrations->rolls[registrations->count].nodes;
    registrations->texts[registrations->count++] = text;
    return true;
}

bool rc_registrations_is_complete(const struct rc_registrations *registrations)
{
    return registrations->count > 0 && registrations->count >= registrations->nodes;
}

char *rc_registrations_text(const struct rc_registrations *registrations, size_t *size)
{
    size_t all = 0;
    char *text;
    char *end;

    for (size_t i = 0; i < registrations->count; i++)
        all += strlen(registrations->texts[i]) + 1;
    end = text = malloc(all + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < registrations->count; i++) {
        end = stpcpy(end, registrations->texts[i]);
        *end++ = '\n';
    }
    *size = all;
    return text;
}

void rc_registrations_free(struct rc_registrations *registrations)
{
    for (size_t i = 0; i < registrations->count; i++)
        free(registrations->texts[i]);
    free(registrations->texts);
    free(registrations->rolls);
    *registrations = (struct rc_registrations){ .count = 0 };
}
