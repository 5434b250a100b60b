/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup.h - MASTER_ADDR as this node resolves it, and addr=. Not for the preload.
 *
 * A resolver may be slow, so one task looks up for its node.
 *
 *   a name       must lead to RANK 0's node there, elsewhere to another node; an error instead of torch's timeout
 *   addr=-ib     the same; the interface is the one towards it
 *   addr=CIDR    RANK 0's address in that network
 *   addr=ib0     RANK 0's address in the networks of this node's ib0: of NAME, NAME-ib0 or NAME-ib
 *
 * All nodes find the same address: the lowest of the name, IPv4 first. RANK 0 verifies it (rank0.h). */
#pragma once

#include "base/pairs.h"
#include "resolve/resolve.h"
#include "system/net.h"

enum { RC_LOOKUP_TEXT = 448, RC_LOOKUP_SIZE = 4096 };

/* Texts are the caller's, or RC_ABSENT. */
struct rc_lookup_question {
    struct rc_str addr;   /* MASTER_ADDR, or RANK 0's node */
    struct rc_str source; /* of addr */
    struct rc_str wish;   /* addr= */
    enum rc_address_kind kind;
    enum rc_given given;
    struct rc_str own;     /* RANK 0's addresses */
    struct rc_str leads;   /* of an earlier look-up */
    struct rc_str node;    /* Slurm's name of this node */
    struct rc_str outcome; /* of an error: "nothing is set" */
    bool certain;          /* the launcher is certain */
    bool once;             /* do not retry the resolver */
    uint32_t node_rank;
    uint32_t nodes;
    uint32_t port; /* RANK 0's, to be reached; 0: none */
};

struct rc_lookup {
    enum { RC_LOOKUP_SAME, RC_LOOKUP_FOUND, RC_LOOKUP_WRONG } state;
    enum rc_message_id id;
    struct rc_str text; /* of WRONG, as id */
    struct rc_str addr; /* RC_ABSENT: unchanged */
    struct rc_str interface;
    struct rc_str strange;   /* that RANK 0's node lacks */
    struct rc_str leads;     /* as in roll.h */
    struct rc_str unreached; /* unreachable, and why */
    bool elsewhere;          /* surely other nodes' only */
    bool unstarted;          /* rollcall-exchange did not start in time */
    uint32_t seconds;        /* of a slow resolver; else 0 */
};

/* Return true if result->master needs a look-up, or its port must be reached. */
bool rc_lookup_is_needed(const struct rc_result *result);

/* Return true if a name is not enough. */
static inline bool rc_lookup_needs_address(const struct rc_lookup_question *asked)
{
    return asked->kind == RC_ADDRESS_INTERFACE || asked->kind == RC_ADDRESS_NETWORK;
}

struct rc_lookup_question rc_lookup_question_of(const struct rc_result *result, const char *outcome);

/* Look up. Results are slices of the question or the arena, RC_LOOKUP_SIZE bytes. Without an answer (EAI_AGAIN) retry
 * for seconds unless asked->once. */
void rc_lookup_find(const struct rc_lookup_question *asked, struct rc_lookup *lookup, struct rc_arena *arena);

/* Answer without a resolver, as soon as rc_port_reach(). Return false if neither MASTER_ADDR nor asked->leads has an
 * address. */
bool rc_lookup_find_known(const struct rc_lookup_question *asked, char answer[RC_LOOKUP_SIZE]);

/* Run rollcall-exchange at `path`, for slurmstepd's forked child, which must not load a resolver. Processes can share
 * the answer. */
#define RC_LOOKUP_ARGUMENT "lookup"

/* Its first line. */
#define RC_LOOKUP_BEGUN "begun=1\n"

void rc_lookup_ask(const char *path, const struct rc_lookup_question *asked, uint32_t milliseconds,
                   char answer[RC_LOOKUP_SIZE]);
enum { RC_LOOKUP_MS = 25000 };

/* Read slices of the answer. Return false, with RC_LOOKUP_SAME, if empty or invalid. */
bool rc_lookup_read(struct rc_str answer, struct rc_lookup *lookup);

extern const struct rc_form rc_lookup_question_form;
extern const struct rc_form rc_lookup_form;

/* Warn, in one task, if the resolver was slow or disagrees with RANK 0's node, or its port is unreachable. */
void rc_lookup_warn(const struct rc_master *master, const struct rc_lookup *lookup, struct rc_messages *messages);

/* Plan again with the result. Return false, with an error and an empty plan, for RC_LOOKUP_WRONG. */
bool rc_lookup_apply(struct rc_context *context, struct rc_result *result, const struct rc_lookup *lookup);

/* Look up, warn and apply, if needed. */
bool rc_lookup_settle(struct rc_context *context, struct rc_result *result, const char *outcome);

/* Return what is wrong if the user's variable for gloo, NCCL or tensorpipe matches no interface here; else NULL. */
const char *rc_lookup_interfaces(const struct rc_result *result, struct rc_arena *arena);

/* Return true if all addresses of MASTER_ADDR are surely other nodes'. */
bool rc_lookup_is_elsewhere(const struct rc_result *result);
