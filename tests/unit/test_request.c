/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task's rollcall asks rollcall-exchange to do: what is written is read, and nothing else is. */
#include "rendezvous/session.h"
#include "unit.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct {
    struct rc_str input;
    uint16_t port;
    const char *hosts;
    const char *why;
} endpoints[] = {
    { TEXT(TOKEN " 1 n1"), 1, "n1", "a host" },
    { TEXT(TOKEN " 65535 10.0.0.1 fd00:77::1 n1"), 65535, "10.0.0.1 fd00:77::1 n1", "several" },
};

static const struct unit_text no_endpoints[] = {
    { NO_TEXT, "nothing" },
    { TEXT(""), "an empty text" },
    { TEXT(TOKEN " 80"), "no host" },
    { TEXT(TOKEN " 0 n1"), "port 0" },
    { TEXT(TOKEN " n1 80"), "port and host the other way round" },
    { TEXT(" " TOKEN " 80 n1"), "a blank in front" },
};

UNIT_ROWS(check_endpoint, "an endpoint", endpoints)
{
    struct rc_endpoint endpoint;

    assert_true(rc_endpoint_read(unit_guard(row->input), &endpoint));
    assert_true(rc_str_is(endpoint.token, TOKEN));
    assert_int_equal(endpoint.port, row->port);
    assert_true(rc_str_is(endpoint.hosts, row->hosts));
}

UNIT_ROWS(check_no_endpoint, "no endpoint", no_endpoints)
{
    struct rc_endpoint endpoint = { .port = 7 };

    assert_false(rc_endpoint_read(unit_guard(row->input), &endpoint));
    assert_int_equal(endpoint.port, 7);
    assert_null(endpoint.token.p);
}

#define SRUN "transport=srun\nendpoint=" TOKEN " 80 n1\n"
#define MORE "root=1\nseconds=10\ncheck=warn\n"

static const struct unit_text requests[] = {
    { TEXT(SRUN MORE "\nroll=1\n"), "srun's server" },
    { TEXT("transport=pmix\n" MORE "\nroll=1\n"), "PMIx needs no endpoint" },
    { TEXT(MORE "transport=pmix\n\nroll=1\n"), "in any order" },
    { TEXT("transport=pmix\nseconds=600\ncheck=off\n\nroll=1\n\n\n"), "an entry with empty lines" },
    { TEXT("transport=pmix\n" MORE "same=warn\n\nroll=1\n"), "the node says what it has" },
    { TEXT("transport=pmix\n" MORE "newer=1\n\nroll=1\n"), "a name that is not known" },
};

static const struct unit_text no_requests[] = {
    { NO_TEXT, "nothing" },
    { TEXT(""), "an empty text" },
    { TEXT("transport=pmix\n" MORE), "no entry" },
    { TEXT("transport=pmix\n" MORE "\n"), "an empty entry" },
    { TEXT("transport=srun\n" MORE "\nroll=1\n"), "srun without an endpoint" },
    { TEXT("transport=tcp\n" MORE "\nroll=1\n"), "another transport" },
    { TEXT(MORE "\nroll=1\n"), "no transport" },
    { TEXT("transport=pmix\nroot=1\ncheck=warn\n\nroll=1\n"), "no deadline" },
    { TEXT("transport=pmix\nseconds=0\n\nroll=1\n"), "a deadline of 0" },
    { TEXT("transport=pmix\nseconds=1\nroot=2\n\nroll=1\n"), "a flag that is none" },
    { TEXT("transport=pmix\nseconds=1\nsame=1\n\nroll=1\n"), "same as a flag" },
    { TEXT("transport=pmix\nseconds=1\nseconds=1\n\nroll=1\n"), "a deadline twice" },
    { TEXT("transport=pmix\nseconds=1\nnewer\n\nroll=1\n"), "a line without '='" },
};

UNIT_ROWS(check_request, "a request", requests)
{
    struct rc_request request;
    struct rc_request again;
    UNIT_ARENA(arena, 1024);

    assert_true(rc_request_read(unit_guard(row->input), &request));
    assert_true(rc_str_starts(request.entry, "roll=1\n"));
    /* what it writes of it means the same */
    assert_true(rc_request_read(rc_str(rc_request_write(&request, &arena)), &again));
    assert_int_equal(again.transport, request.transport);
    assert_int_equal(again.endpoint.port, request.endpoint.port);
    assert_int_equal(again.root, request.root);
    assert_int_equal(again.seconds, request.seconds);
    assert_int_equal(again.check, request.check);
    assert_int_equal(again.same, request.same);
    assert_int_equal(again.entry.n, request.entry.n);
    assert_memory_equal(again.entry.p, request.entry.p, request.entry.n);
}

UNIT_ROWS(check_no_request, "no request", no_requests)
{
    struct rc_request request = { .seconds = 77 };

    assert_false(rc_request_read(unit_guard(row->input), &request));
    assert_int_equal(request.seconds, 77);
}

/* Cut anywhere before its entry, it is none. */
UNIT_TEST(check_cut, "a request that is cut anywhere")
{
    static const char text[] = SRUN MORE "\nroll=1\n";
    size_t before = sizeof(SRUN MORE "\n") - 1;
    char *end = (char *)unit_guard_memory(before) + before;
    struct rc_request request;

    for (size_t cut = 0; cut <= before; cut++) {
        memcpy(end - cut, text, cut);
        assert_false(rc_request_read((struct rc_str){ end - cut, cut }, &request));
    }
}

UNIT_TEST(check_no_room, "a request without room")
{
    struct rc_request request = {
        .transport = RC_TRANSPORT_PMIX,
        .seconds = 10,
        .check = RC_CHECK_WARN,
        .entry = RC_STR("roll=1\n"),
    };
    UNIT_ARENA(arena, 72);

    assert_non_null(rc_request_write(&request, &arena));
    arena = (struct rc_arena){ .base = arena.base, .size = 60 };
    assert_null(rc_request_write(&request, &arena));
}
