/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_client - the client of the rendezvous, and of the store, against a hostile server (hostile.h).
 *
 * An input is "KIND MILLISECONDS\n" and the server's lines. KIND is entry, put, get or count. The client must come
 * back in its time, with a reply or an error, and leave nothing open.
 */
#include "hostile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rendezvous/client.h"

/* Of a connection that is tried, an address that does not answer may cost more. */
enum { MARGIN_MS = 3000, ROOM = 64 };

static int send_entry(const struct rc_endpoint *server, uint32_t milliseconds)
{
    struct rc_reply reply = { .text = NULL };
    struct rc_client_part part = { .heard = false };
    int rc = rc_client_request(server, RC_STR("roll=1\n"), milliseconds, &reply, &part);

    if (rc == 0) {
        CHECK(reply.text && reply.text[reply.size] == '\0' && part.heard);
        free(reply.text);
    }
    return rc;
}

static int use_store(struct rc_str kind, const struct rc_endpoint *server, uint32_t milliseconds)
{
    char *value = malloc(ROOM);
    size_t size = 0;
    uint64_t before;
    int rc;

    CHECK(value != NULL);
    if (rc_str_is(kind, "put"))
        rc = rc_store_client_put(server, "key", RC_STR("value"), milliseconds, value, ROOM, &size);
    else if (rc_str_is(kind, "get"))
        rc = rc_store_client_get(server, "key", milliseconds, value, ROOM, &size);
    else
        rc = rc_store_client_count(server, "key", milliseconds, &before);
    free(value);
    return rc;
}

void fuzz_one(struct rc_str input)
{
    struct rc_endpoint server = { RC_STR(HOSTILE_TOKEN), 4711, RC_STR(HOSTILE_ADDRESS) };
    int before = fuzz_free_descriptor();
    struct rc_str lines, rest;
    struct rc_str kind = rc_str_split(rc_str_split(input, '\n', &lines), ' ', &rest);
    uint32_t milliseconds = 1000;
    int64_t took;
    int rc;

    (void)rc_parse_u32(rest, 60000, &milliseconds);
    hostile_begin(lines);
    rc = rc_str_is(kind, "entry") ? send_entry(&server, milliseconds) : use_store(kind, &server, milliseconds);
    CHECK(rc <= 1);
    took = hostile_end();
    /* the server's own lines may make more time pass than the client has */
    CHECK(took <= milliseconds + MARGIN_MS || lines.n > 0);
    CHECK(fuzz_free_descriptor() == before);
}
