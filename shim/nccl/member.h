/* SPDX-License-Identifier: BSD-3-Clause */
/* member.h - this process's numbers, as rollcall wrote them, and where srun's server is. */
#ifndef ROLLCALL_SHIM_NCCL_MEMBER_H
#define ROLLCALL_SHIM_NCCL_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers.h"
#include "base/text.h"
#include "rendezvous/endpoint.h"

struct guard_member {
    uint32_t rank; /* of its task, by ROLLCALL_GUARD; RC_UNKNOWN in launcher mode, as the next two */
    uint32_t size;
    uint32_t other; /* its rank in another numbering of the same tasks */
    uint32_t node;
    uint32_t world;    /* WORLD_SIZE as it is now: torchrun or a script may have set it */
    uint32_t deadline; /* seconds */
    struct rc_endpoint server;
    const char *record; /* what this process puts into the store about itself */
    struct rc_arena arena;
    char text[2048];
};

/* Reads the environment. Returns NULL, or why this process cannot be checked. */
const char *guard_member_read(struct guard_member *member);

/* Formats a record: "process 42 on n1, whose task is rank 3". */
const char *guard_member_name(struct rc_str record, struct rc_arena *arena);

/* Whether a record is this process's own. */
bool guard_member_is(const struct guard_member *member, struct rc_str record);

#endif
