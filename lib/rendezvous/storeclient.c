/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/storeclient.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "rendezvous/client.h"

/* Its reply, to be freed; and what the reply says: a number and perhaps a value,
 * a slice of it. */
struct answer {
    struct rc_reply reply;
    uint64_t number;
    struct rc_str value;
};

static int read_reply(struct answer *answer)
{
    struct rc_str line = rc_str_split((struct rc_str){ answer->reply.text, answer->reply.size }, '\n', &answer->value);
    struct rc_str begin = rc_str_split(line, ' ', &line);

    if (rc_str_is(begin, "store") && rc_str_is(line, "full"))
        return -ENOSPC;
    return rc_str_is(begin, "store") && answer->value.p && rc_parse_u64(line, UINT64_MAX, &answer->number) ? 0
                                                                                                           : -EPROTO;
}

static int ask_store(const struct rc_endpoint *server, const char *what, const char *key, struct rc_str value,
                     uint32_t milliseconds, struct answer *answer)
{
    char text[sizeof("store count \n") + RC_STORE_KEY_MAX + RC_STORE_VALUE_MAX];
    int head;
    int rc;

    *answer = (struct answer){ .number = 0 };
    if (!rc_store_is_key(rc_str(key)) || value.n > RC_STORE_VALUE_MAX)
        return -EINVAL;
    head = snprintf(text, sizeof(text), "store %s %s\n", what, key);
    if (value.n)
        memcpy(text + head, value.p, value.n);
    rc = rc_client_request(server, (struct rc_str){ text, (size_t)head + value.n }, milliseconds, &answer->reply, NULL);
    return rc < 0 ? rc : read_reply(answer);
}

static void copy_value(const struct answer *answer, void *value, size_t room, size_t *size)
{
    if (answer->value.n && room)
        memcpy(value, answer->value.p, answer->value.n < room ? answer->value.n : room);
    *size = answer->value.n;
}

int rc_store_client_put(const struct rc_endpoint *server, const char *key, struct rc_str value, uint32_t milliseconds,
                        void *standing, size_t room, size_t *standing_size)
{
    struct answer answer;
    int rc = ask_store(server, "put", key, value, milliseconds, &answer);

    if (rc == 0 && answer.number == 0 && standing)
        copy_value(&answer, standing, room, standing_size);
    free(answer.reply.text);
    return rc < 0 ? rc : answer.number != 0;
}

int rc_store_client_get(const struct rc_endpoint *server, const char *key, uint32_t milliseconds, void *value,
                        size_t room, size_t *size)
{
    struct answer answer;
    int rc = ask_store(server, "get", key, RC_ABSENT, milliseconds, &answer);

    if (rc == 0)
        copy_value(&answer, value, room, size);
    free(answer.reply.text);
    return rc;
}

int rc_store_client_count(const struct rc_endpoint *server, const char *key, uint32_t milliseconds, uint64_t *before)
{
    struct answer answer;
    int rc = ask_store(server, "count", key, RC_ABSENT, milliseconds, &answer);

    if (rc == 0)
        *before = answer.number;
    free(answer.reply.text);
    return rc;
}
