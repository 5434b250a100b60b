/* SPDX-License-Identifier: BSD-3-Clause */
/* option.h - the one option grammar: [MODE][,KEY=VALUE]...
 *
 * Read alike from `srun --ddp=...`, `rollcall exec --ddp=...`, the ROLLCALL
 * variable and `default=` in plugstack.conf (precedence.h).
 */
#ifndef ROLLCALL_RESOLVE_OPTION_H
#define ROLLCALL_RESOLVE_OPTION_H

#include "base/message.h"
#include "base/text.h"
#include "resolve/address.h"

enum rc_mode {
    RC_MODE_AUTO, /* a request only; the mode that is decided is one of the others */
    RC_MODE_OFF,  /* likewise */
    RC_MODE_NONE,
    RC_MODE_WORKER,
    RC_MODE_LAUNCHER,
    RC_MODE_TORCHRUN, /* torchrun's child */
};

/* TOPOLOGY: the nodes in the order of the network, tasks node by node; in launcher mode, too. */
enum rc_order { RC_ORDER_UNSET, RC_ORDER_LAUNCHER, RC_ORDER_NODE, RC_ORDER_TOPOLOGY };

/* How the nodes of a launch meet before its tasks start. */
enum rc_exchange { RC_EXCHANGE_UNSET, RC_EXCHANGE_AUTO, RC_EXCHANGE_PMIX, RC_EXCHANGE_SRUN, RC_EXCHANGE_OFF };

/* What a contradiction between nodes does. STOP, the default if a user asked for
 * rollcall, ends the step if it would hang, and only reports the rest. */
enum rc_check { RC_CHECK_UNSET, RC_CHECK_OFF, RC_CHECK_WARN, RC_CHECK_STOP, RC_CHECK_STRICT };

enum rc_watch { RC_WATCH_UNSET, RC_WATCH_OFF, RC_WATCH_ON };

/* Whether processes are checked at the moment when they join an NCCL communicator. */

/* Which of its node's GPUs a task sees (visible.h). AUTO, the default: those of
 * the whole step wherever cuda:LOCAL_RANK can be the task's own among them; ALL:
 * also where Slurm gave each task several, if no cgroup forbids it; OWN: its own alone. */
enum rc_gpus { RC_GPUS_UNSET, RC_GPUS_AUTO, RC_GPUS_ALL, RC_GPUS_OWN };

/* Which cores a task, or a worker of torchrun's, may run on. AUTO, the default:
 * whole ones beside its GPU, if it is not bound yet and the node's cores are known
 * to be the job's own; CORES: the same, without these two conditions;
 * NUMA: all cores of those cores' NUMA nodes; NONE: left as they are. */
enum rc_bind { RC_BIND_UNSET, RC_BIND_AUTO, RC_BIND_CORES, RC_BIND_NUMA, RC_BIND_NONE };

/* Whether torch's store looks up the names of its clients (reverse.h). SYSTEM, the default: as torch does. */
enum rc_reverse { RC_REVERSE_UNSET, RC_REVERSE_SYSTEM, RC_REVERSE_NUMERIC };

/* Whether libraries are told which network cards to use. NONE is the default. */
enum rc_nics { RC_NICS_UNSET, RC_NICS_AUTO, RC_NICS_NONE };

struct rc_options {
    bool given;        /* there was an option, possibly empty */
    bool by_user;      /* after combining: from the command line or ROLLCALL */
    bool mode_given;   /* a mode was named, "auto" included */
    enum rc_mode mode; /* AUTO, OFF, WORKER or LAUNCHER */
    enum rc_order order;
    uint32_t nproc;   /* 0 where it was not given */
    const char *addr; /* NULL: not given; in the arena that it was read with */
    enum rc_address_kind addr_kind;
    bool addr_by_user; /* after combining */
    enum rc_exchange exchange;
    enum rc_check check;
    enum rc_check same;  /* what a node that is not like the others does: OFF, WARN or STOP */
    uint32_t deadline;   /* of the exchange, in seconds; 0: not given */
    uint16_t port_first; /* port=N or port=N-M; 0: not given */
    uint16_t port_last;
    bool port_by_user;      /* after combining */
    enum rc_watch watch;    /* watch alone is watch=on */
    uint32_t watch_seconds; /* watch=SECONDS, which is on, too; 0: not given */
    enum rc_gpus gpus;
    enum rc_bind bind;
    enum rc_nics nic;
    enum rc_reverse lookup;
};

enum { RC_DEADLINE_MAX = 600, RC_WATCH_SECONDS_MAX = 86400 };

const char *rc_mode_name(enum rc_mode mode);

const char *rc_check_name(enum rc_check check);

/* Reads off, warn, stop or strict. False, with *check untouched, for anything else. */
bool rc_check_read(struct rc_str text, enum rc_check *check);

/* Reads one text. Empty and "(null)" (what Slurm hands an inner srun for an
 * option without a value) are auto. On an error *options is left as it was,
 * false is returned and one line with the right values is in messages;
 * `where` names the source in it ("--ddp", "ROLLCALL", "plugstack.conf").
 * is_variable: the text is the value of ROLLCALL, where off, 0, no and false in any case
 * switch off, and on, 1, yes and true are auto. */
bool rc_options_read(struct rc_str text, bool is_variable, const char *where, struct rc_options *options,
                     struct rc_messages *messages, struct rc_arena *arena);

static inline bool rc_options_parse(struct rc_str text, const char *where, struct rc_options *options,
                                    struct rc_messages *messages, struct rc_arena *arena)
{
    return rc_options_read(text, false, where, options, messages, arena);
}

/* Of an absent or empty variable nothing is read: true, with *options untouched. */
static inline bool rc_options_parse_variable(struct rc_str value, const char *where, struct rc_options *options,
                                             struct rc_messages *messages, struct rc_arena *arena)
{
    return value.n == 0 || rc_options_read(value, true, where, options, messages, arena);
}

/* Returns a key of option.def as a help text shows it: "bind=auto|cores", "watch[=on|off]". */
#define RC_KEY_SHOWN(shape, key, values) RC_KEY_SHOWN_##shape(key, values)
#define RC_KEY_SHOWN_CHOICE(key, values) #key "=" values
#define RC_KEY_SHOWN_VALUE(key, values)  #key "=" values
#define RC_KEY_SHOWN_SWITCH(key, values) #key "[=" values "]"

#endif
