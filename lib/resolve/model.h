/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - what rc_resolve is given and what it leaves: all structs and enums of the steps, and no function. */
#pragma once

#include "base/netaddr.h"
#include "launcher/gpulist.h"
#include "launcher/hosts.h"
#include "launcher/launcher.h"

#define RC_REVERSE_LIBRARY "librollcall-lookup.so"

enum rc_address_kind {
    RC_ADDRESS_DEFAULT, /* no addr=: the node is called as the launcher calls it */
    RC_ADDRESS_INTERFACE,
    RC_ADDRESS_NETWORK,
    RC_ADDRESS_SUFFIX,
    RC_ADDRESS_GIVEN,
};

/* First those of options.def, in its order. */
enum rc_mode {
    RC_MODE_AUTO, /* a request only; the mode that is decided is one of the others */
    RC_MODE_WORKER,
    RC_MODE_LAUNCHER,
    RC_MODE_ALONE, /* a request only: this process is a job of its own (rc_launcher.alone) */
    RC_MODE_OFF,   /* a request only */
    RC_MODE_NONE,
    RC_MODE_TORCHRUN, /* torchrun's child */
};

/* TOPOLOGY: the nodes in the order of the network, tasks node by node; in launcher mode, too. */
enum rc_order { RC_ORDER_UNSET, RC_ORDER_GIVEN, RC_ORDER_NODE, RC_ORDER_TOPOLOGY };

/* How the nodes of a launch meet before its tasks start. */
enum rc_exchange { RC_EXCHANGE_UNSET, RC_EXCHANGE_AUTO, RC_EXCHANGE_PMIX, RC_EXCHANGE_SRUN, RC_EXCHANGE_OFF };

/* What a contradiction between nodes does. STOP, the default if a user asked for
 * rollcall, ends the step if it would hang, and only reports the rest. */
enum rc_check { RC_CHECK_UNSET, RC_CHECK_OFF, RC_CHECK_WARN, RC_CHECK_STOP, RC_CHECK_STRICT };

enum rc_watch { RC_WATCH_UNSET, RC_WATCH_OFF, RC_WATCH_ON };

/* Which of its node's GPUs a task sees (gpus.c). AUTO, the default: those of
 * the whole step wherever cuda:LOCAL_RANK can be the task's own among them; OWN: its own alone. */
enum rc_gpus_wish { RC_GPUS_UNSET, RC_GPUS_AUTO, RC_GPUS_OWN };

/* Which cores a task, or a worker of torchrun's, may run on. AUTO, the default: whole ones beside its GPU, if it is not
 * bound yet and the node's cores are known to be the job's own; CORES: the same, without these two conditions; NUMA:
 * all cores of those cores' NUMA nodes; OFF: left as they are. */
enum rc_bind { RC_BIND_UNSET, RC_BIND_AUTO, RC_BIND_CORES, RC_BIND_NUMA, RC_BIND_OFF };

/* Whether torch's store looks up the names of its clients (preload.c). OFF, the default: as torch does. */
enum rc_reverse { RC_REVERSE_UNSET, RC_REVERSE_OFF, RC_REVERSE_NUMERIC };

/* Whether libraries are told which network cards to use. OFF is the default. */
enum rc_nics { RC_NICS_UNSET, RC_NICS_AUTO, RC_NICS_OFF };

enum rc_key {
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) RC_KEY_##key,
#include "resolve/options.def"
};

struct rc_options {
    bool given;        /* there was an option, possibly empty */
    uint32_t by_site;  /* after combining: a bit of enum rc_key for each value that is plugstack.conf's */
    bool mode_given;   /* a mode was named, "auto" included */
    enum rc_mode mode; /* AUTO, OFF, WORKER, LAUNCHER or ALONE */

    /* the keys of options.def, each zero where it was not given */
    enum rc_order order;
    uint32_t nproc;
    const char *addr; /* in the arena that it was read with */
    enum rc_address_kind addr_kind;
    uint16_t port_first; /* port=N or port=N-M */
    uint16_t port_last;
    enum rc_exchange exchange;
    enum rc_check check;
    enum rc_check same;     /* what a node that is not like the others does: OFF, WARN or STOP */
    uint32_t deadline;      /* of the exchange, in seconds */
    enum rc_watch watch;    /* watch alone is watch=on */
    uint32_t watch_seconds; /* watch=SECONDS, which is on, too */
    enum rc_gpus_wish gpus;
    enum rc_bind bind;
    enum rc_nics nic;
    enum rc_reverse lookup;
};

enum { RC_DEADLINE_DEFAULT = 10, RC_DEADLINE_MAX = 600, RC_WATCH_SECONDS_MAX = 86400 };

/* Absent where it was not given; else a slice of the command line. */
struct rc_command_options {
    struct rc_str nnodes;      /* --nnodes, --num_machines */
    struct rc_str node_rank;   /* --node_rank, --machine_rank */
    struct rc_str nproc;       /* --nproc_per_node */
    struct rc_str backend;     /* --rdzv_backend, --distributed_executor_backend */
    struct rc_str endpoint;    /* --rdzv_endpoint */
    struct rc_str master_addr; /* --master_addr, --main_process_ip */
    struct rc_str port;        /* --main_process_port */
    struct rc_str restarts;    /* --max_restarts */
    struct rc_str script;      /* the script or module, after which the options are not the launcher's */
    bool standalone;           /* torchrun --standalone */
};

enum rc_command_kind {
    RC_COMMAND_UNKNOWN,
    RC_COMMAND_LAUNCHER, /* torchrun, accelerate, deepspeed, ...: starts the workers itself */
    RC_COMMAND_DAEMON,   /* orted, prted, hydra_pmi_proxy, ray, ...: ranks are not its business */
    RC_COMMAND_STARTER,  /* srun, mpirun, ssh, ...: the same, but its user may expect that what it starts has ranks */
};

struct rc_command {
    enum rc_command_kind kind;
    struct rc_str name;              /* the word that decided */
    bool torchrun;                   /* torchrun or torch.distributed.run|launch: reads PET_* */
    const char *cure;                /* of a starter: what to type; NULL: itself, in front of rollcall exec */
    bool is_guess;                   /* it is in a shell's text, so the shell itself may be a task */
    const char *told;                /* of a server: programs.def; NULL: it reads the environment, or finds its nodes */
    bool accelerate;                 /* accelerate launch: builds torchrun's arguments from its own */
    bool is_part;                    /* the caller adds it: of a launch of several steps, which meet by these words */
    struct rc_str container;         /* the wrapper that starts it in one; absent if there is none */
    struct rc_str cleared_by;        /* the wrapper that keeps the environment from it; absent if none does */
    struct rc_str clearing;          /* that one's option; absent if it lacks one */
    const char *passing;             /* which one it lacks */
    struct rc_str script;            /* the file or module that Python runs; absent for a launcher, and for -c */
    struct rc_command_options given; /* torchrun's or accelerate's options */
};

enum rc_action {
    RC_SET,   /* set to `value`; a variable that has it already is listed as well */
    RC_UNSET, /* removed: it is there and must not be */
    RC_KEEP,  /* the user's own value stays */
};

enum { RC_PLAN_MAX = 128, RC_REJECTED_MAX = 32 };

struct rc_plan_entry {
    enum rc_action action;
    struct rc_str name; /* ends with a NUL */
    const char *value;  /* NUL-terminated; NULL for RC_UNSET */
    const char *source; /* the variable or rule that the value comes from */
    const char *reason;
    bool changes; /* false: the environment says so already */
};

/* A value that was there and was not believed, for explain. */
struct rc_rejected {
    const char *name;
    struct rc_str value;
    const char *reason;
};

struct rc_plan {
    struct rc_plan_entry entry[RC_PLAN_MAX];
    unsigned count;
    struct rc_rejected rejected[RC_REJECTED_MAX];
    unsigned rejected_count;
    bool full; /* an entry had no room, so nothing may be applied */
};

struct rc_pins {
    struct rc_str text; /* the lines of the local ranks; borrowed, and checked */
    uint32_t count;
    uint32_t least_cores; /* the smallest number of cores of a local rank */
    struct rc_str fabric; /* of the node's cards that a job uses; absent without */
    struct rc_str network;
};

struct rc_pin {
    struct rc_str cpus; /* a list as rc_cpuset_read takes it */
    uint32_t cores;
    uint32_t gpu; /* RC_UNKNOWN where it has no GPU */
    struct rc_str fabric;
    struct rc_str network;
    bool shared; /* "shared=yes": other local ranks have these cores, too */
};

enum { RC_TASK_GPUS_MAX = 128, RC_TASK_GPUS_TEXT = 3072 };

/* The node's part of a step, as the variables say it in user_init, before Slurm
 * binds any task to a GPU. Absent where a variable is not set. */
struct rc_step_gpus {
    struct rc_str list[RC_GPU_LISTS];
    struct rc_str numbers; /* SLURM_STEP_GPUS */
};

/* Whether a device cgroup keeps the step's other GPUs from the task. */
enum rc_gpus_hidden { RC_GPUS_HIDDEN_UNKNOWN, RC_GPUS_NOT_HIDDEN, RC_GPUS_HIDDEN };

/* The GPUs of a task: what it sees of its node's, which are its own, and what its variables become. */
struct rc_gpus {
    struct rc_str seen; /* what its first variable says; absent: no variable names GPUs */
    struct rc_str step; /* what that variable says in the whole step; absent: not known */
    uint32_t count;     /* number of entries in `seen`; 0 where the variables say "none" */
    uint32_t total;     /* number of the step's GPUs on this node, or RC_UNKNOWN */
    uint32_t first;     /* which of seen is its own, or the first of these */
    bool usable;        /* there are GPUs, and no more than a node has */
    bool restored;      /* seen is the step's, as Slurm has taken the task's away (--gpu-bind=none) */
    bool bound;         /* Slurm binds the task to GPUs */
    enum rc_gpus_hidden hidden;

    /* The machine's GPUs, by its numbers or UUIDs. */
    struct rc_str all; /* the node's part of the launch, the same in all tasks; absent: not known */
    bool by_slurm;     /* that or `own` is Slurm's word for this step */
    struct rc_str own; /* the task's own; absent: not known */
    uint32_t place;    /* of the first own one in all; RC_UNKNOWN: not known, or another task's may be the same */

    uint32_t device;  /* what LOCAL_RANK says in worker mode */
    uint32_t shown;   /* GPUs that the task sees in the end; RC_UNKNOWN where there is no telling */
    const char *why;  /* LOCAL_RANK is not the local rank; NULL where it is */
    const char *list; /* what the variables of `alike` become; NULL: as they are */
    const char *reason;
    unsigned alike; /* one bit a list: those that say the same as the first */
    unsigned drop;  /* one bit a list: taken away, as they would count what ROCR left */
};

/* What comes late: when the nodes have met, the address was looked up, or the machine was asked for cores. The whole
 * plan is written once more with it (rc_resolve_again). Zero is "not told" for each field. */
struct rc_told {
    uint16_t port;              /* the master port that the nodes have agreed on */
    struct rc_ordered order;    /* the order that they have agreed on; no host: none */
    const char *unordered;      /* why they have none, though it was asked for; NULL: they have not met */
    const char *own;            /* addresses of RANK 0's node, as it has told the others */
    const char *addr;           /* what the look-up has found for MASTER_ADDR */
    const char *addr_source;    /* NULL: what MASTER_ADDR was made from */
    const char *interface;      /* of this node, towards that address */
    const struct rc_pins *pins; /* where the tasks of this node go (pins.h) */
    uint32_t pin;               /* which of them is this task's, in worker mode; RC_UNKNOWN: none */
    bool cards_only;            /* pins are there for nic=auto alone: nobody is bound */
    struct rc_str pins_library; /* where a launcher's workers find who binds them (pins.h); absent: nowhere */
};

/* All that the core needs to know and may not find out by itself. Zero is "not known" for each field. Everything is
 * borrowed for the call and for the life of the result. */
struct rc_context {
    const char *const *env;               /* NULL-terminated, or NULL */
    bool indexed;                         /* result->env is an index of it already (rc_env_index) */
    struct rc_here *here;                 /* what is known of the node, or is looked for; NULL: nothing */
    const char *const *argv;              /* the task's command, NULL-terminated, or NULL */
    bool command_read;                    /* result->command is of argv already (rc_command_read) */
    struct rc_options options;            /* merged, as rc_options_combine leaves them */
    uint32_t pid;                         /* of the process that is, or becomes, the task */
    const struct rc_step_gpus *step_gpus; /* of this node, as the plugin saw them in user_init; NULL: not known */
    struct rc_told told;
    bool contained;            /* it sees a container's files already, not the node's */
    bool slurm_certain;        /* called in a task that slurmstepd is starting */
    bool slurm_het;            /* slurmstepd's step is one of several components (srun A : B) */
    bool called;               /* by the user for this very process (exec), which no library knows of itself */
    bool ignore_stamp;         /* show and explain: resolve what is set already, too */
    bool explain;              /* list what was rejected (plan.rejected) as well */
    enum rc_mode decided_mode; /* the node's decision (user_init); RC_MODE_AUTO: none yet */
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
    const char *name; /* the same before it was looked up */
    const char *addr_source;
    enum rc_given addr_given;
    bool is_shared; /* the user's MASTER_ADDR is where several steps meet: it stays, and is not `addr` */
    uint16_t port;  /* 0 where there is none */
    const char *port_source;
    enum rc_given port_given;
    bool port_told;            /* RANK 0's node holds it, as it has told the others */
    bool port_open;            /* RANK 0 may take another port when it holds one */
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
    unsigned messages; /* none of them an error; with those that acts on the machine have said since */
    unsigned planned;  /* messages, with those of the plan */
};

struct rc_result {
    enum rc_status status;
    const struct rc_launcher *launcher; /* NULL: none found */
    struct rc_facts facts;
    struct rc_identity identity;
    struct rc_ordered ordered; /* the order of the network that the identity follows; no host: the launcher's */
    bool by_node;              /* RANK goes by node (order=node), whatever the launcher's own number is */
    struct rc_command command; /* of a task without its own stamp, whose identity was read */
    enum rc_mode mode;         /* NONE, WORKER, LAUNCHER or TORCHRUN */
    const char *mode_reason;
    bool has_workers; /* alone, with several GPUs: it may start a worker for each, so it gets no LOCAL_RANK */
    struct rc_master master;
    struct rc_gpus gpus;   /* in worker and launcher mode */
    struct rc_stamp stamp; /* what an earlier rollcall left in the environment */
    bool stamp_is_outer;   /* it is another launch's or task's: what it came with is no wish of the user's */
    bool is_alone;         /* no other launcher has a marker in the environment */
    const struct rc_launcher *outer_master; /* MASTER_ADDR and MASTER_PORT were told to its tasks; NULL: to nobody's */
    bool stamped;                           /* found its own stamp: no plan, and no more is known than scope and rank */
    struct rc_plan plan;
    struct rc_messages messages;

    /* storage; of no interest to callers. What is large comes last: few of its
     * pages are written to, and each is a fault in a process with the preload. */
    unsigned launcher_index;
    const char *outer[RC_OUTER_MAX]; /* scopes of the launchers further outside, for the stamp */
    unsigned outer_count;
    struct rc_recognised recognised;
    struct rc_arena arena; /* has room for several plans: what one has written stays when the next is made */
    struct rc_env env;
    char text[65536];
    uint64_t scratch[RC_SCRATCH_BITS / 64];
};

enum { RC_NIC_VARIABLES = 5 };
