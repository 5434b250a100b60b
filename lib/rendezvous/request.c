/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/session.h"

#include <string.h>

#include "base/pairs.h"
#include "base/text.h"

enum { SECONDS_MAX = 600 };

static bool take_endpoint(struct rc_str value, void *to)
{
    return rc_endpoint_read(value, &((struct rc_request *)to)->endpoint);
}

static void put_endpoint(struct rc_arena *arena, const void *from)
{
    const struct rc_request *request = from;

    if (request->transport != RC_TRANSPORT_SRUN)
        return;
    rc_format(arena, "endpoint=");
    rc_join(arena);
    rc_endpoint_write(&request->endpoint, arena);
    rc_join(arena);
    rc_format(arena, "\n");
    rc_join(arena);
}

static const struct rc_row rows[] = {
    RC_ROW_CHOICE(struct rc_request, transport, "pmix|srun"),
    RC_ROW_OWN("endpoint", take_endpoint, put_endpoint),
    RC_ROW_NUMBER(struct rc_request, root, 0, 1),
    RC_ROW_NUMBER(struct rc_request, seconds, 1, SECONDS_MAX),
    RC_ROW_CHOICE(struct rc_request, check, rc_words_check),
    RC_ROW_CHOICE(struct rc_request, same, rc_words_check),
};

static const struct rc_form form = { RC_FORM_ROWS(rows) };

const char *rc_request_write(const struct rc_request *request, struct rc_arena *arena)
{
    const char *text = rc_pairs_write(&form, request, arena);

    rc_join(arena);
    rc_format(arena, "\n%pS", &request->entry);
    return arena->full ? NULL : text;
}

/* The lines go up to the blank one, and the entry follows it. */
bool rc_request_read(struct rc_str text, struct rc_request *request)
{
    struct rc_request read = { .transport = RC_TRANSPORT_NONE };
    const char *end = text.p ? memmem(text.p, text.n, "\n\n", 2) : NULL;
    struct rc_str lines;

    if (!end)
        return false;
    lines = (struct rc_str){ text.p, (size_t)(end - text.p) + 1 };
    if (!rc_pairs_read(lines, '\n', &form, &read))
        return false;
    read.entry = (struct rc_str){ end + 2, text.n - lines.n - 1 };
    if (read.entry.n == 0 || read.seconds == 0 || read.transport == RC_TRANSPORT_NONE ||
        (read.transport == RC_TRANSPORT_SRUN && !read.endpoint.token.p))
        return false;
    *request = read;
    return true;
}
