/* SPDX-License-Identifier: BSD-3-Clause */
/* One message on a stream, from whoever may have connected: over real sockets. */
#include "rendezvous/wire.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/socket.h>

#define TOKEN  "0123456789abcdef0123456789abcdef"
#define HEAD   "rollcall 1 " TOKEN " "
#define X16(x) x x x x x x x x x x x x x x x x

/* Both ends of a stream; the reader's is non-blocking, as the server's are. */
static int ends[2] = { -1, -1 };

static void open_stream(void)
{
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
}

static void say(struct rc_str text)
{
    assert_true(unit_send(ends[1], text));
}

static const struct unit_text wrong[] = {
    { TEXT("GET / HTTP/1.1\r\nHost: n1\r\nUser-Agent: a browser\r\nAccept: everything\r\n\r\n"), "a browser" },
    { TEXT("SSH-2.0-OpenSSH_9.2\r\n"), "another protocol's first line" },
    { TEXT("rollcall\n"), "nothing but the name" },
    { TEXT("rollcall 1 " TOKEN "\n"), "no length" },
    { TEXT(HEAD "\n"), "an empty length" },
    { TEXT(HEAD "-1\n"), "a length below zero" },
    { TEXT(HEAD "1 \n"), "a blank after the length" },
    { TEXT(HEAD "65537\n"), "a length that is too large" },
    { TEXT(HEAD "18446744073709551617\n"), "a length that wraps at 64 bits" },
    { TEXT("rollcall x " TOKEN " 1\nx"), "a version that is no number" },
    { TEXT("rollcall 1 0123456789abcdef0123456789abcdee 1\nx"), "another token, at its end" },
    { TEXT("rollcall 1 f123456789abcdef0123456789abcdef 1\nx"), "another token, at its beginning" },
    { TEXT("rollcall 1 0123456789abcdef0123456789abcde 1\nx"), "a short token" },
    { TEXT("rollcall 1 0123456789abcdef0123456789abcdef0 1\nx"), "a long token" },
    { TEXT("rollcall 1 \0"
           "123456789abcdef0123456789abcdef 1\nx"),
      "a NUL in the token" },
    { TEXT("rollcall 1 ffffffffffffffffffffffffffffffff 65536\n"), "another token, and a large text" },
    { TEXT(HEAD "3\nabcd"), "more than was announced" },
    { TEXT(X16("xxxx")), "a head that does not end" },
};

UNIT_ROWS(check_wrong, "a message is wrong:", wrong)
{
    struct rc_wire wire = { .limit = RC_WIRE_BODY_MAX };

    open_stream();
    say(row->input);
    assert_int_equal(rc_wire_read(&wire, ends[0], TOKEN), RC_WIRE_WRONG);
    /* nothing is kept for somebody without the token, not even a byte for each that was announced */
    assert_true(!wire.body || strncmp(row->input.p, HEAD, strlen(HEAD)) == 0);
    rc_wire_free(&wire);
}

static const struct unit_text whole[] = {
    { TEXT(""), "nothing" },
    { TEXT("x"), "a byte" },
    { TEXT("a\0b\xff\n"), "any byte at all" },
    { TEXT(X16(X16(X16("0123456789abcdef")))), "the largest" },
};

static struct rc_wire receive(int fd, enum rc_wire_state expected)
{
    struct rc_wire wire = { .limit = RC_WIRE_BODY_MAX };

    assert_int_equal(rc_wire_read(&wire, fd, TOKEN), expected);
    return wire;
}

UNIT_ROWS(check_whole, "a message is whole:", whole)
{
    size_t size;
    char *message = rc_wire_pack(TOKEN, unit_guard(row->input), &size);
    struct rc_wire wire;

    assert_non_null(message);
    open_stream();
    say((struct rc_str){ message, size });
    wire = receive(ends[0], RC_WIRE_WHOLE);
    assert_int_equal(rc_wire_text(&wire).n, row->input.n);
    assert_memory_equal(rc_wire_text(&wire).p, row->input.p, row->input.n);
    assert_int_equal(wire.body[row->input.n], '\0');
    rc_wire_free(&wire);
    assert_null(wire.body);
    free(message);
}

UNIT_TEST(check_version, "message of another version -> whole, and foreign")
{
    struct rc_wire wire;

    open_stream();
    say(RC_STR("rollcall 2 " TOKEN " 1\nx"));
    wire = receive(ends[0], RC_WIRE_WHOLE);
    assert_true(wire.is_foreign);
    assert_string_equal(wire.body, "x");
    rc_wire_free(&wire);
    say(RC_STR(HEAD "1\nx"));
    wire = receive(ends[0], RC_WIRE_WHOLE);
    assert_false(wire.is_foreign);
    rc_wire_free(&wire);
}

/* What comes after a message is not taken from the stream together with its body. */
UNIT_TEST(check_after, "what comes after a message stays")
{
    struct rc_wire wire;
    char body[256];
    char byte;
    size_t size;
    char *message;

    memset(body, 'x', sizeof(body));
    message = rc_wire_pack(TOKEN, (struct rc_str){ body, sizeof(body) }, &size);
    assert_non_null(message);
    open_stream();
    say((struct rc_str){ message, size });
    say(RC_STR("!"));
    wire = receive(ends[0], RC_WIRE_WHOLE);
    assert_int_equal(wire.used, sizeof(body));
    assert_int_equal(recv(ends[0], &byte, 1, 0), 1);
    assert_int_equal(byte, '!');
    rc_wire_free(&wire);
    free(message);
}

UNIT_TEST(check_limit, "text larger than its reader's limit -> wrong; by the limit of a reply -> whole")
{
    static const struct {
        uint32_t limit;
        enum rc_wire_state state;
    } readers[] = { { RC_WIRE_BODY_MAX, RC_WIRE_WRONG }, { RC_WIRE_REPLY_MAX, RC_WIRE_MORE } };
    size_t size;
    char *body = calloc(1, RC_WIRE_BODY_MAX + 1);
    char *message = rc_wire_pack(TOKEN, (struct rc_str){ body, RC_WIRE_BODY_MAX + 1 }, &size);

    assert_non_null(body);
    assert_non_null(message);
    for (unsigned i = 0; i < UNIT_COUNT(readers); i++) {
        struct rc_wire wire = { .limit = readers[i].limit };

        open_stream();
        say((struct rc_str){ message, size - 1 });
        assert_int_equal(rc_wire_read(&wire, ends[0], TOKEN), readers[i].state);
        say((struct rc_str){ message + size - 1, 1 });
        if (readers[i].state == RC_WIRE_MORE)
            assert_int_equal(rc_wire_read(&wire, ends[0], TOKEN), RC_WIRE_WHOLE);
        rc_wire_free(&wire);
    }
    free(message);
    free(body);
}

UNIT_TEST(check_new_tokens, "two new tokens")
{
    char one[RC_WIRE_TOKEN + 1];
    char other[RC_WIRE_TOKEN + 1];

    assert_int_equal(rc_wire_new_token(one), 0);
    assert_int_equal(rc_wire_new_token(other), 0);
    assert_true(rc_wire_is_token(rc_str(one)));
    assert_true(rc_wire_is_token(rc_str(other)));
    assert_string_not_equal(one, other);
}

static const struct unit_text no_tokens[] = {
    { NO_TEXT, "nothing" },
    { TEXT(""), "an empty one" },
    { TEXT("0123456789abcdef0123456789abcde"), "a short one" },
    { TEXT("0123456789abcdef0123456789abcdef0"), "a long one" },
    { TEXT("0123456789ABCDEF0123456789abcdef"), "capitals" },
    { TEXT("0123456789abcdeg0123456789abcdef"), "another letter" },
    { TEXT("0123456789abcde\n0123456789abcdef"), "a newline" },
};

UNIT_ROWS(check_no_token, "no token:", no_tokens)
{
    assert_false(rc_wire_is_token(unit_guard(row->input)));
}

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

UNIT_ROWS(check_endpoint, "endpoint: read", endpoints)
{
    struct rc_endpoint endpoint;

    assert_true(rc_endpoint_read(unit_guard(row->input), &endpoint));
    assert_true(rc_str_is(endpoint.token, TOKEN));
    assert_int_equal(endpoint.port, row->port);
    assert_true(rc_str_is(endpoint.hosts, row->hosts));
}

UNIT_ROWS(check_no_endpoint, "endpoint: malformed -> refused", no_endpoints)
{
    struct rc_endpoint endpoint = { .port = 7 };

    assert_false(rc_endpoint_read(unit_guard(row->input), &endpoint));
    assert_int_equal(endpoint.port, 7);
    assert_null(endpoint.token.p);
}
