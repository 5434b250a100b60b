/* SPDX-License-Identifier: BSD-3-Clause */
/* api.h - shared by the files of librollcall. */
#pragma once

#include "api/rollcall.h"
#include "effects/look.h"
#include "rendezvous/discovery.h"
#include "rendezvous/gather.h"
#include "resolve/resolve.h"

/* A call that all tasks of a job make; the n-th calls of a name match. It is a gather of the launch's server
 * (rendezvous/gather.h), named after the launch, the task's program (first, second, ...), the call's name and number,
 * and its part:
 *
 *   task/SCOPE/PROGRAM/NAME/NUMBER/PART
 *
 * "task" is replaced if ranks are not the server's task numbers. A forked child starts anew. All functions are thread
 * safe. */

/* Bytes of a user's name, and of a call's, with a prefix. */
enum { RC_CALL_USERS_NAME = 64, RC_CALL_NAME = sizeof("all:") - 1 + RC_CALL_USERS_NAME };

struct rc_call {
    const struct rollcall *job;
    struct rc_call_process *process; /* NULL: the job has one task */
    const char *name;
    const char *title; /* for messages: rollcall_broadcast("x") */
    uint64_t number;
    uint32_t rank;
    uint32_t world;
    int64_t deadline;
    uint32_t seconds;
    int64_t lost;                  /* since when the server has been lost; 0: not lost */
    char where[RC_DISCOVERY_TEXT]; /* its endpoint, or why there is none */
    uint64_t program;              /* number of this program among those of its rank */
};

/* Start and count a call, which borrows the texts. Return 0, or -1 with the reason in *error. */
int rc_call_begin(const struct rollcall *job, const char *name, const char *title, int timeout_ms, struct rc_call *call,
                  struct rollcall_error *error);

/* Store the root's value. Return 0, or -1, also if another task has stored one. */
int rc_call_say(struct rc_call *call, uint32_t part, struct rc_str value, struct rollcall_error *error);

/* Wait for the value of `root`. Write up to `room` bytes, and its full size to *size. Return 0 or -1. */
int rc_call_hear(struct rc_call *call, uint32_t part, uint32_t root, void *value, size_t room, size_t *size,
                 struct rollcall_error *error);

/* Store a value and wait for those of all ranks. *gathered has slices of *text, to be freed. Return 0 or -1. */
int rc_call_gather(struct rc_call *call, struct rc_str value, struct rc_gathered *gathered, char **text,
                   struct rollcall_error *error);

/* Fail with RC617; `who` is as in "rank 3 did not make this call". */
int rc_call_fail_late(const struct rc_call *call, const char *who, struct rollcall_error *error);

struct rollcall {
    struct rollcall_variable variable[RC_PLAN_MAX];
    struct rollcall_message message[RC_MESSAGES_MAX];
    struct rc_result result; /* may point into this struct */
    struct rc_here_storage here;
    bool is_own;                   /* resolved from this process's environment */
    struct rc_discovery discovery; /* if is_own */
    bool ranks_are_tasks;          /* by srun's numbers, whose server knows their nodes */
};

/* Write one line, printable, cut if too long. `id` is a message id or "". Return -1. */
int rc_job_fail(struct rollcall_error *error, int code, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
