/* SPDX-License-Identifier: BSD-3-Clause */
/* member.h - who this process is, as rollcall told it, and where its server is. */
#ifndef ROLLCALL_SHIM_NCCL_MEMBER_H
#define ROLLCALL_SHIM_NCCL_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers.h"
#include "base/text.h"
#include "rendezvous/endpoint.h"

struct guard_member {
    uint32_t rank; /* of its task, by ROLLCALL_GUARD; RC_UNKNOWN in launcher mode, with the next two */
    uint32_t size;
    uint32_t other; /* its rank in another numbering of the same tasks */
    uint32_t node;
    uint32_t world;    /* WORLD_SIZE as it is now: what torchrun, or a script, has set for its processes */
    uint32_t deadline; /* seconds */
    struct rc_endpoint server;
    const char *record; /* what it leaves at the server of itself */
    struct rc_arena arena;
    char text[2048];
};

/* NULL, or why this process cannot be checked. */
const char *guard_member_read(struct guard_member *member);

/* "process 42 on n1, whose task is rank 3" of a record; what is none is shown as it is. */
const char *guard_member_name(struct rc_str record, struct rc_arena *arena);

/* Whether a record is this very process's. */
bool guard_member_is(const struct guard_member *member, struct rc_str record);

#endif
