/* SPDX-License-Identifier: BSD-3-Clause */
/* result.h - what rc_resolve is given and what it leaves: the data that the steps from facts to plan share. */
#ifndef ROLLCALL_RESOLVE_RESULT_H
#define ROLLCALL_RESOLVE_RESULT_H

#include "base/env.h"
#include "base/message.h"
#include "base/variables.h"
#include "launcher/facts.h"
#include "launcher/ordered.h"
#include "resolve/command.h"
#include "resolve/option.h"
#include "resolve/plan.h"
#include "resolve/visible.h"

/* All that the core needs to know and may not find out by itself. Zero is
 * "not known" for each field. Everything is borrowed for the call and for the
 * life of the result. */
struct rc_context {
    const char *const *env;     /* NULL-terminated, or NULL */
    bool indexed;               /* result->env is an index of it already (rc_env_index) */
    const struct rc_here *here; /* what has been learned of the node, or NULL */
    const char *const *argv;    /* the task's command, NULL-terminated, or NULL */
    bool command_read;          /* result->command is of argv already (rc_command_read) */
    struct rc_options options;  /* merged, as rc_options_combine leaves them */
    uint32_t pid;               /* of the process that is, or becomes, the task */
    uint16_t local_port_first;  /* net.ipv4.ip_local_port_range of this node */
    uint16_t local_port_last;
    uint16_t told_port;                   /* the master port that the nodes have agreed on; 0: none */
    struct rc_ordered told_order;         /* the order that the nodes have agreed on; no host: none */
    const char *unordered;                /* why they have none, though it was asked for; NULL: they have not met */
    const struct rc_pins *pins;           /* where the tasks of this node go (pins.h); NULL: nobody is bound */
    bool nics_only;                       /* pins are there for nic=auto alone: nobody is bound either */
    const struct rc_step_gpus *step_gpus; /* of this node, as the plugin saw them in user_init; NULL: not known */
    uint32_t pin;                         /* which of them is this task's, in worker mode; RC_UNKNOWN: none */
    struct rc_str pins_library; /* where a launcher's workers find who binds them (pinning.h); absent: nowhere */
    bool contained;             /* it sees a container's files already, not the node's */
    bool slurm_certain;         /* called in a task that slurmstepd is starting */
    bool slurm_het;             /* slurmstepd's step is one of several components (srun A : B) */
    bool called;                /* by the user for this very process (exec), which no library knows of itself */
    bool ignore_stamp;          /* show and explain: resolve what is set already, too */
    bool explain;               /* list what was rejected (plan.rejected) as well */
    enum rc_mode decided_mode;  /* the node's decision (user_init); RC_MODE_AUTO: none yet */
};

enum { RC_OUTER_MAX = 4 };

enum rc_status {
    RC_RESOLVED,      /* the plan is good, possibly empty (mode none) */
    RC_CONTRADICTION, /* nothing may be applied: see the error messages */
};

struct rc_identity {
    uint32_t field[RC_FIELD_COUNT]; /* indexed by enum rc_field; RC_UNKNOWN where unknown or not meant */
};

enum rc_given {
    RC_GIVEN_BY_LAUNCH, /* the launcher says so, or it is made from what the launcher says */
    RC_GIVEN_BY_USER,   /* MASTER_ADDR or MASTER_PORT is kept as it was set */
    RC_GIVEN_BY_STAMP,  /* the same beside this task's own stamp: most likely what rollcall told it */
};

/* What is still to be done for the master, by the caller. */
enum rc_master_todo {
    RC_MASTER_HOLD = 1,   /* this process is RANK 0's (or the first agent's): hold the port */
    RC_MASTER_VERIFY = 2, /* and check that addr is an address of this node */
    RC_MASTER_LOOKUP = 4, /* addr is a name that nobody has used here before: see that it resolves */
};

struct rc_master {
    const char *addr; /* NULL where there is none */
    const char *addr_source;
    enum rc_given addr_given;
    uint16_t port; /* 0 where there is none */
    const char *port_source;
    enum rc_given port_given;
    uint16_t launch_port;      /* the port that rollcall would choose by itself */
    const char *wish;          /* addr=, as it was given; NULL where it was not */
    enum rc_address_kind kind; /* of addr=; INTERFACE and NETWORK: addr is only the node's name yet */
    unsigned todo;             /* of enum rc_master_todo */
    const char *own;           /* addresses of RANK 0's node, as it has told the others; NULL where it has not */
};

/* What rc_resolve_again returns to. */
struct rc_recognised {
    enum rc_mode mode;
    const char *mode_reason;
    unsigned wants;
    unsigned messages; /* none of them an error */
    size_t used;       /* of the arena */
};

struct rc_result {
    enum rc_status status;
    const struct rc_launcher *launcher; /* NULL: none found */
    struct rc_facts facts;
    struct rc_identity identity;
    struct rc_ordered ordered; /* the order of the network that the identity follows; no host: the launcher's */
    struct rc_command command; /* of a task without its own stamp, whose identity was read */
    enum rc_mode mode;         /* NONE, WORKER, LAUNCHER or TORCHRUN */
    const char *mode_reason;
    struct rc_master master;
    struct rc_visible visible; /* the GPUs that the task sees, in worker and launcher mode */
    struct rc_stamp stamp;     /* what an earlier rollcall left in the environment */
    bool stamp_is_outer;       /* it is another launch's or task's: what it came with is no wish of the user's */
    const struct rc_launcher *outer_master; /* MASTER_ADDR and MASTER_PORT were told to its tasks; NULL: to nobody's */
    bool stamped;                           /* found its own stamp: no plan, and no more is known than scope and rank */
    struct rc_plan plan;
    struct rc_messages messages;
    unsigned wants; /* of enum rc_learn: with these, which context.here lacks, the answer may be a better one */
    struct rc_str wanted_file; /* path for RC_LEARN_HOST_FILE, ends with a NUL */

    /* storage; of no interest to callers. What is large stands last: few of its
     * pages are written to, and each is a fault in a process with the preload. */
    unsigned launcher_index;
    const char *outer[RC_OUTER_MAX]; /* scopes of the launchers further outside, for the stamp */
    unsigned outer_count;
    struct rc_recognised recognised;
    struct rc_arena arena;
    struct rc_env env;
    char text[16384];
    uint64_t node_set[RC_NODE_SET_BITS / 64];
};

/* Whether the caller has learned this of the node. Where it has not, asks for it: the
 * caller looks, and resolves again (struct rc_here). */
static inline bool rc_result_learned(const struct rc_context *context, struct rc_result *result, enum rc_learn what)
{
    if (context->here && (context->here->learned & what))
        return true;
    result->wants |= what;
    return false;
}

#endif
