/* SPDX-License-Identifier: BSD-3-Clause */
/* api.h - what the files of librollcall share. */
#pragma once

#include "api/rollcall.h"
#include "effects/look.h"
#include "rendezvous/discovery.h"
#include "rendezvous/gather.h"
#include "resolve/resolve.h"

/* A call that all tasks of a job make together: each task's n-th call of a name belongs to the others' n-th.
 *
 * It is a gather of the launch's server (rendezvous/gather.h), whose name has the launch, the task's program (its
 * first, its second, ...), the call's name and number, and the part of the call:
 *
 *   task/SCOPE/PROGRAM/NAME/NUMBER/PART
 *
 * It begins with another word if the server's tasks have other numbers than the ranks. The process remembers how many
 * calls of a name it has made, where the server is, and which program of its rank it is. A forked child starts with
 * none of that. All functions are thread safe. */

/* Bytes of a name that the user gives, and of a call's, which may have a word before that. */
enum { RC_CALL_USERS_NAME = 64, RC_CALL_NAME = sizeof("all:") - 1 + RC_CALL_USERS_NAME };

struct rc_call {
    const struct rollcall *job;
    struct rc_call_process *process; /* NULL: the job has one task */
    const char *name;
    const char *title; /* for people: rollcall_broadcast("x") */
    uint64_t number;
    uint32_t rank;
    uint32_t world;
    int64_t deadline;
    uint32_t seconds;
    int64_t lost;                  /* since when the server is gone; 0: it is not */
    char where[RC_DISCOVERY_TEXT]; /* the server, or why there is none */
    uint64_t program;              /* this one's number there, of the programs of its rank */
};

/* Starts a call and counts it; the texts live as long as it. Returns 0, or -1 with the reason in *error. */
int rc_call_begin(const struct rollcall *job, const char *name, const char *title, int timeout_ms, struct rc_call *call,
                  struct rollcall_error *error);

/* Bring a value that only the root has. 0, or -1 also if another task has brought it already. */
int rc_call_say(struct rc_call *call, uint32_t part, struct rc_str value, struct rollcall_error *error);

/* Wait until `root` has brought it. Write up to `room` bytes of it, and to *size its whole size. 0 or -1. */
int rc_call_hear(struct rc_call *call, uint32_t part, uint32_t root, void *value, size_t room, size_t *size,
                 struct rollcall_error *error);

/* Bring a value, and wait for those of all ranks. *gathered has slices of *text, to be freed. 0 or -1. */
int rc_call_gather(struct rc_call *call, struct rc_str value, struct rc_gathered *gathered, char **text,
                   struct rollcall_error *error);

/* Fails with RC617; `who` is as in "rank 3 did not make this call". */
int rc_call_fail_late(const struct rc_call *call, const char *who, struct rollcall_error *error);

struct rollcall {
    struct rollcall_variable variable[RC_PLAN_MAX];
    struct rollcall_message message[RC_MESSAGES_MAX];
    struct rc_result result; /* may point into here */
    struct rc_here_storage here;
    bool is_own;                   /* made from this process's own environment */
    struct rc_discovery discovery; /* only set if is_own */
    bool ranks_are_tasks;          /* by srun's numbers, by which its server knows on which node each is */
};

/* Writes to *error why a call fails, as one printable line, which is cut where it is too long. `id` is a message's id,
 * or "". Returns -1. */
int rc_job_fail(struct rollcall_error *error, int code, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
