/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/numbers.h"
#include "rendezvous/random.h"

#define MAGIC "rollcall 1 "

static ssize_t receive_bytes(int fd, char *to, size_t size)
{
    ssize_t n;

    do
        n = recv(fd, to, size, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n;
}

/* In constant time: its duration must not tell how much of a guess was right. */
static bool same_token(const char *a, const char *b)
{
    unsigned different = 0;

    for (unsigned i = 0; i < RC_WIRE_TOKEN; i++)
        different |= (unsigned char)a[i] ^ (unsigned char)b[i];
    return !different;
}

static bool read_head(struct rc_wire *wire, struct rc_str head, const char *token)
{
    size_t magic = sizeof(MAGIC) - 1;
    uint32_t size;

    if (head.n <= magic + RC_WIRE_TOKEN || !rc_str_starts(head, MAGIC) || head.p[magic + RC_WIRE_TOKEN] != ' ' ||
        !same_token(head.p + magic, token))
        return false;
    head = (struct rc_str){ head.p + magic + RC_WIRE_TOKEN + 1, head.n - magic - RC_WIRE_TOKEN - 1 };
    if (!rc_parse_u32(head, wire->limit, &size))
        return false;
    wire->size = size;
    wire->body = malloc((size_t)size + 1);
    return wire->body != NULL;
}

/* WHOLE once the head is there and understood; what came behind it in the same
 * read is the body's beginning. */
static enum rc_wire_state take_head(struct rc_wire *wire, int fd, const char *token)
{
    ssize_t n = receive_bytes(fd, wire->head + wire->head_used, sizeof(wire->head) - wire->head_used);
    char *end;
    size_t behind;

    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? RC_WIRE_MORE : RC_WIRE_WRONG;
    if (n == 0)
        return RC_WIRE_WRONG;
    wire->head_used += (size_t)n;
    end = memchr(wire->head, '\n', wire->head_used);
    if (!end)
        return wire->head_used == sizeof(wire->head) ? RC_WIRE_WRONG : RC_WIRE_MORE;
    if (!read_head(wire, (struct rc_str){ wire->head, (size_t)(end - wire->head) }, token))
        return RC_WIRE_WRONG;
    behind = wire->head_used - (size_t)(end + 1 - wire->head);
    if (behind > wire->size)
        return RC_WIRE_WRONG;
    memcpy(wire->body, end + 1, behind);
    wire->used = behind;
    return RC_WIRE_WHOLE;
}

enum rc_wire_state rc_wire_read(struct rc_wire *wire, int fd, const char *token)
{
    if (!wire->body) {
        enum rc_wire_state state = take_head(wire, fd, token);

        if (state != RC_WIRE_WHOLE)
            return state;
    }
    while (wire->used < wire->size) {
        ssize_t n = receive_bytes(fd, wire->body + wire->used, wire->size - wire->used);

        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? RC_WIRE_MORE : RC_WIRE_WRONG;
        if (n == 0)
            return RC_WIRE_WRONG;
        wire->used += (size_t)n;
    }
    wire->body[wire->size] = '\0';
    return RC_WIRE_WHOLE;
}

struct rc_str rc_wire_text(const struct rc_wire *wire)
{
    return (struct rc_str){ wire->body, wire->used };
}

void rc_wire_free(struct rc_wire *wire)
{
    free(wire->body);
    *wire = (struct rc_wire){ .limit = wire->limit };
}

char *rc_wire_pack(const char *token, struct rc_str text, size_t *size)
{
    char *message = malloc(RC_WIRE_HEAD_MAX + text.n);
    int head;

    if (!message)
        return NULL;
    head = snprintf(message, RC_WIRE_HEAD_MAX, MAGIC "%.*s %zu\n", RC_WIRE_TOKEN, token, text.n);
    memcpy(message + head, text.p, text.n);
    *size = (size_t)head + text.n;
    return message;
}

int rc_wire_new_token(char token[RC_WIRE_TOKEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[RC_WIRE_TOKEN / 2];

    if (!rc_random(bytes, sizeof(bytes)))
        return -EIO;
    for (unsigned i = 0; i < sizeof(bytes); i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    token[RC_WIRE_TOKEN] = '\0';
    return 0;
}

bool rc_wire_is_token(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!(text.p[i] >= '0' && text.p[i] <= '9') && !(text.p[i] >= 'a' && text.p[i] <= 'f'))
            return false;
    return text.n == RC_WIRE_TOKEN;
}
