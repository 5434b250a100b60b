/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - what the files of librollcall share: the inside of a struct rollcall. */
#ifndef ROLLCALL_API_JOB_H
#define ROLLCALL_API_JOB_H

#include "api/rollcall.h"
#include "effects/here.h"
#include "rendezvous/discovery.h"
#include "resolve/resolve.h"

struct rollcall {
    struct rollcall_variable variable[RC_PLAN_MAX];
    struct rollcall_message message[RC_MESSAGES_MAX];
    struct rc_result result; /* may point into here */
    struct rc_here_storage here;
    bool is_own;                   /* made from this process's own environment */
    struct rc_discovery discovery; /* only set if is_own */
};

/* Writes to *error why a call fails. `id` is a message's id, or "". Returns -1. */
int rc_job_fail(struct rollcall_error *error, int code, const char *id, const char *text);

/* Copies a text from another program as part of a line: printable characters only, cut if it is too long.
 * Returns `to`. */
const char *rc_job_piece(const char *text, char *to, size_t size);

#endif
