/* SPDX-License-Identifier: BSD-3-Clause */
/* talk.h - what a process puts into srun's store for one call, and gets from there. */
#ifndef ROLLCALL_SHIM_NCCL_TALK_H
#define ROLLCALL_SHIM_NCCL_TALK_H

#include <stddef.h>
#include <stdint.h>

#include "member.h"

enum { GUARD_KEY_SIZE = 64 };

/* One call of ncclCommInitRank or its relatives. */
struct guard_talk {
    const struct guard_member *member;
    char id[17]; /* digest of the NCCL id, in hexadecimal */
    uint32_t nranks;
    uint32_t rank;
    bool own;              /* this process has made the id */
    struct rc_arena arena; /* for texts */
};

void guard_talk_begin(struct guard_talk *talk, const struct guard_member *member, uint64_t digest, char *text,
                      size_t size);

/* "r3": what and rank. */
const char *guard_rank_key(char key[GUARD_KEY_SIZE], const char *what, uint32_t rank);

/* As rc_store_client_put, _get and _count (rendezvous/storeclient.h), with the keys of this communicator. */
int guard_put(struct guard_talk *talk, const char *key, struct rc_str value, char *standing, size_t room, size_t *size);
int guard_get(struct guard_talk *talk, const char *key, uint32_t milliseconds, char *value, size_t room, size_t *size);
int guard_count(struct guard_talk *talk, const char *key, uint64_t *before);

/* guard_get for a value that is there already. */
bool guard_is_there(struct guard_talk *talk, const char *key, char *value, size_t room, size_t *size);

/* Whether a process has joined as that rank. */
bool guard_has_come(struct guard_talk *talk, uint32_t rank);

#endif
