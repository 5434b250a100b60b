/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "talk.h"

#include "rendezvous/storeclient.h"

/* REQUEST_MS is for an answer of the server: 16,384 processes at once have one each after some
 * seconds. LOOK_MS is how long a request waits for a value that may not be there. */
enum { REQUEST_MS = 10000, LOOK_MS = 400, NAME_SIZE = 96 };

void guard_talk_begin(struct guard_talk *talk, const struct guard_member *member, uint64_t digest, char *text,
                      size_t size)
{
    static const char digit[] = "0123456789abcdef";

    talk->member = member;
    talk->arena = (struct rc_arena){ .base = text, .size = size };
    for (unsigned i = 0; i < 16; i++)
        talk->id[i] = digit[digest >> (60 - 4 * i) & 15];
    talk->id[16] = '\0';
}

const char *guard_rank_key(char key[GUARD_KEY_SIZE], const char *what, uint32_t rank)
{
    struct rc_arena arena = { .base = key, .size = GUARD_KEY_SIZE };

    return rc_format(&arena, "%s%u", what, rank);
}

/* Each communicator has its own keys. */
static const char *key_name(const struct guard_talk *talk, const char *key, char text[NAME_SIZE])
{
    struct rc_arena arena = { .base = text, .size = NAME_SIZE };

    return rc_format(&arena, "guard/%s/%s", talk->id, key);
}

int guard_put(struct guard_talk *talk, const char *key, struct rc_str value, char *standing, size_t room, size_t *size)
{
    char text[NAME_SIZE];
    int rc = rc_store_client_put(&talk->member->server, key_name(talk, key, text), value, REQUEST_MS, standing, room,
                                 size);

    if (rc == 0 && *size > room)
        *size = room;
    return rc;
}

int guard_get(struct guard_talk *talk, const char *key, uint32_t milliseconds, char *value, size_t room, size_t *size)
{
    char text[NAME_SIZE];
    int rc = rc_store_client_get(&talk->member->server, key_name(talk, key, text), milliseconds, value, room, size);

    if (rc == 0 && *size > room)
        *size = room;
    return rc;
}

int guard_count(struct guard_talk *talk, const char *key, uint64_t *before)
{
    char text[NAME_SIZE];

    return rc_store_client_count(&talk->member->server, key_name(talk, key, text), REQUEST_MS, before);
}

bool guard_is_there(struct guard_talk *talk, const char *key, char *value, size_t room, size_t *size)
{
    return guard_get(talk, key, LOOK_MS, value, room, size) == 0;
}

bool guard_has_come(struct guard_talk *talk, uint32_t rank)
{
    char key[GUARD_KEY_SIZE];
    char nothing[1];
    size_t size;

    return guard_is_there(talk, guard_rank_key(key, "r", rank), nothing, sizeof(nothing), &size);
}
