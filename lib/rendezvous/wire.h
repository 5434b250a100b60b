/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - one message on a stream: a line that says whose it is and how long, then the text.
 *
 *   rollcall 1 0123456789abcdef0123456789abcdef 312\n
 *   version=0.1.0\n...
 *
 * The token is the launch's own: a message without it is not read, and an
 * answer without it is not believed. A reader takes no more memory
 * than the head needs until the token was right.
 */
#ifndef ROLLCALL_RENDEZVOUS_WIRE_H
#define ROLLCALL_RENDEZVOUS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum {
    RC_WIRE_TOKEN = 32, /* characters: 128 bits in hexadecimal */
    RC_WIRE_HEAD_MAX = 64,
    RC_WIRE_BODY_MAX = 65536,
    RC_WIRE_ROLL_MAX = 1 << 28, /* of a whole roll, which a server tells who asks it */
};

/* A message that is being read. Zero it but for `limit` to begin, rc_wire_free to end. */
struct rc_wire {
    uint32_t limit; /* bytes of a body */
    char head[RC_WIRE_HEAD_MAX];
    size_t head_used;
    char *body; /* NUL-terminated once it is whole; NULL until the head was right */
    size_t size;
    size_t used;
};

enum rc_wire_state { RC_WIRE_MORE, RC_WIRE_WHOLE, RC_WIRE_WRONG };

/* Reads what there is from a non-blocking socket. WRONG: another token, no head
 * of ours, too long, ended too early, out of memory; the stream is of no use then. */
enum rc_wire_state rc_wire_read(struct rc_wire *wire, int fd, const char *token);

struct rc_str rc_wire_text(const struct rc_wire *wire);
void rc_wire_free(struct rc_wire *wire);

/* The message as it goes over the wire, from malloc, *size bytes. NULL without memory. */
char *rc_wire_pack(const char *token, struct rc_str text, size_t *size);

/* A new token, a NUL behind it, from the kernel's random numbers. 0 or -errno. */
int rc_wire_new_token(char token[RC_WIRE_TOKEN + 1]);

/* Whether it has the form of a token. */
bool rc_wire_is_token(struct rc_str text);

#endif
