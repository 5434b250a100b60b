/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup.h - MASTER_ADDR as this node resolves it. */
#pragma once

#include "base/pairs.h"
#include "resolve/resolve.h"
#include "system/net.h"

/* MASTER_ADDR as this node sees it: names resolved, addr= looked up. Not for the preload.
 *
 * Names go to the C library's resolver, so a call may take as long as the site's
 * DNS. The answer holds for all tasks of a node: one of them asks.
 *
 *   a name       resolves here, on rank 0's node to that one and on others to another one than this,
 *                or is an error now instead of torch's timeout
 *   addr=-ib     likewise; the interface is the one by which this node reaches it
 *   addr=CIDR    the address of rank 0's node in that network
 *   addr=ib0     the same, in the networks of this node's own interface ib0; where
 *                the node's name leads elsewhere NAME-ib0 and NAME-ib are tried
 *
 * Every node finds the same address by itself: the lowest of those that the name
 * resolves to, IPv4 before IPv6. RANK 0 then checks that it is its own (rank0.h). */

enum { RC_LOOKUP_TEXT = 448, RC_LOOKUP_SIZE = 4096 };

/* What a look-up has to know. The texts are the caller's. */
struct rc_lookup_question {
    struct rc_str addr;   /* MASTER_ADDR, or the name of RANK 0's node */
    struct rc_str source; /* where that is from */
    struct rc_str wish;   /* addr=; absent: none */
    enum rc_address_kind kind;
    enum rc_given given;
    struct rc_str own;     /* addresses of RANK 0's node; absent: it has not told them */
    struct rc_str leads;   /* what an earlier look-up found, as in rc_lookup; absent: there was none */
    struct rc_str node;    /* this node's name for Slurm; absent elsewhere */
    struct rc_str outcome; /* for the line of an error, what comes of it: "nothing is set" */
    bool certain;          /* the launcher is certain of the address */
    bool once;             /* a resolver without an answer is not asked again */
    uint32_t node_rank;
    uint32_t nodes;
    uint32_t port; /* of RANK 0's node, to be reached from here; 0: none */
};

struct rc_lookup {
    enum { RC_LOOKUP_SAME, RC_LOOKUP_FOUND, RC_LOOKUP_WRONG } state;
    enum rc_message_id id;   /* of WRONG */
    struct rc_str text;      /* of WRONG */
    struct rc_str addr;      /* of FOUND; absent: master.addr stays */
    struct rc_str interface; /* of FOUND; absent: not known */
    struct rc_str strange;   /* of a name: an address that RANK 0's node has not; absent: none */
    struct rc_str leads;     /* what a name leads to, as an entry of the roll has it (roll.h); absent: not looked up */
    struct rc_str unreached; /* RANK 0's address whose port cannot be reached, and why; absent: it can, or may */
    bool elsewhere;          /* of a name: all that it leads to is surely another node's */
    bool unstarted;          /* rollcall-exchange has not begun within `seconds` */
    uint32_t seconds;        /* that the resolver took; 0: no longer than it should */
};

/* Whether there is anything to look up for result->master, or its port is to be reached. */
bool rc_lookup_is_needed(const struct rc_result *result);

/* Whether a name is not enough. */
static inline bool rc_lookup_needs_address(const struct rc_lookup_question *asked)
{
    return asked->kind == RC_ADDRESS_INTERFACE || asked->kind == RC_ADDRESS_NETWORK;
}

struct rc_lookup_question rc_lookup_question_of(const struct rc_result *result, const char *outcome);

/* Looks it up. What it finds is text of the arena, RC_LOOKUP_SIZE bytes, or of the question. If no name server answers
 * (EAI_AGAIN), it queries again for some seconds, unless asked->once. */
void rc_lookup_find(const struct rc_lookup_question *asked, struct rc_lookup *lookup, struct rc_arena *arena);

/* Answer without a resolver, if MASTER_ADDR is an address or asked->leads has its addresses. Wait no longer than
 * rc_port_reach. Return false if a resolver is needed. */
bool rc_lookup_find_known(const struct rc_lookup_question *asked, char answer[RC_LOOKUP_SIZE]);

/* For slurmstepd's forked child, which may not load what a resolver needs: has the rollcall-exchange at `path` look it
 * up, with this argument. The answer is a text, so that processes can share it. */
#define RC_LOOKUP_ARGUMENT "lookup"

/* Its first line, before it queries the resolver. */
#define RC_LOOKUP_BEGUN "begun=1\n"

void rc_lookup_ask(const char *path, const struct rc_lookup_question *asked, uint32_t milliseconds,
                   char answer[RC_LOOKUP_SIZE]);
enum { RC_LOOKUP_MS = 25000 };

/* Slices of the answer. False, with RC_LOOKUP_SAME, for one that says nothing. */
bool rc_lookup_read(struct rc_str answer, struct rc_lookup *lookup);

extern const struct rc_form rc_lookup_question_form;
extern const struct rc_form rc_lookup_form;

/* Adds a warning where the resolver has held up this node, or says of RANK 0's node what that does not say itself,
 * or where the port of RANK 0's node cannot be reached.
 * For the one task that has asked. */
void rc_lookup_warn(const struct rc_master *master, const struct rc_lookup *lookup, struct rc_messages *messages);

/* Tells context->told what was found, and plans once more. False, with the error in
 * result->messages and an empty plan, for RC_LOOKUP_WRONG. */
bool rc_lookup_apply(struct rc_context *context, struct rc_result *result, const struct rc_lookup *lookup);

/* rc_lookup_find, rc_lookup_warn and rc_lookup_apply, where there is anything to look up. */
bool rc_lookup_settle(struct rc_context *context, struct rc_result *result, const char *outcome);

/* Return what is wrong if gloo, NCCL or tensorpipe finds no interface of this node by the variable that the user set.
 * Else NULL. The text is in the arena. */
const char *rc_lookup_interfaces(const struct rc_result *result, struct rc_arena *arena);

/* Whether all addresses that MASTER_ADDR resolves to are surely other nodes'. */
bool rc_lookup_is_elsewhere(const struct rc_result *result);
