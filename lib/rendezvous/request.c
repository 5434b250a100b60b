/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous/session.h"

#include "base/pairs.h"
#include "base/text.h"

enum { SECONDS_MAX = 600 };

const char *rc_request_write(const struct rc_request *request, struct rc_arena *arena)
{
    const char *where = "";
    const char *same = "";
    const char *text;

    if (request->transport == RC_TRANSPORT_SRUN)
        where = rc_format(arena, "endpoint=%s\n", rc_endpoint_write(&request->endpoint, arena));
    if (request->same != RC_CHECK_UNSET)
        same = rc_format(arena, "same=%s\n", rc_check_name(request->same));
    text = rc_format(arena, "transport=%s\n%sroot=%u\nseconds=%u\ncheck=%s\n%s\n%pS",
                     request->transport == RC_TRANSPORT_SRUN ? "srun" : "pmix", where, (uint32_t)request->root,
                     request->seconds, rc_check_name(request->check), same, &request->entry);
    return arena->full ? NULL : text;
}

static bool read_pair(struct rc_str name, struct rc_str value, struct rc_request *request)
{
    uint32_t number;

    if (rc_str_is(name, "transport")) {
        request->transport = rc_str_is(value, "srun")   ? RC_TRANSPORT_SRUN
                             : rc_str_is(value, "pmix") ? RC_TRANSPORT_PMIX
                                                        : RC_TRANSPORT_NONE;
        return request->transport != RC_TRANSPORT_NONE;
    }
    if (rc_str_is(name, "endpoint"))
        return rc_endpoint_read(value, &request->endpoint);
    if (rc_str_is(name, "root")) {
        request->root = rc_str_is(value, "1");
        return rc_parse_u32(value, 1, &number);
    }
    if (rc_str_is(name, "seconds"))
        return rc_parse_u32(value, SECONDS_MAX, &request->seconds) && request->seconds > 0;
    if (rc_str_is(name, "same"))
        return rc_check_read(value, &request->same);
    return rc_str_is(name, "check") && rc_check_read(value, &request->check);
}

bool rc_request_read(struct rc_str text, struct rc_request *request)
{
    struct rc_request read = { .transport = RC_TRANSPORT_NONE };
    struct rc_str rest = text;
    struct rc_str name;
    struct rc_str value;

    /* up to the blank line, behind which is the entry */
    while (rc_pair_next(&rest, '\n', &name, &value) && (name.n || value.p))
        if (!read_pair(name, value, &read))
            return false;
    read.entry = rest;
    if (read.entry.n == 0 || read.seconds == 0 || read.transport == RC_TRANSPORT_NONE ||
        (read.transport == RC_TRANSPORT_SRUN && !read.endpoint.token.p))
        return false;
    *request = read;
    return true;
}
