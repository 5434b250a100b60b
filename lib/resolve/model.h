/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - structs and enums of rc_resolve(). Unset struct rc_str are RC_ABSENT. */
#pragma once

#include "base/netaddr.h"
#include "launcher/gpulist.h"
#include "launcher/hosts.h"
#include "launcher/launcher.h"

#define RC_REVERSE_LIBRARY "librollcall-lookup.so"

enum rc_address_kind {
    RC_ADDRESS_DEFAULT, /* no addr=: the launcher's name of the node */
    RC_ADDRESS_INTERFACE,
    RC_ADDRESS_NETWORK,
    RC_ADDRESS_SUFFIX,
    RC_ADDRESS_GIVEN,
};

/* In the order of options.def. */
enum rc_mode {
    RC_MODE_AUTO, /* request only */
    RC_MODE_WORKER,
    RC_MODE_LAUNCHER,
    RC_MODE_ALONE, /* request only: a job of one */
    RC_MODE_OFF,   /* request only */
    RC_MODE_NONE,
    RC_MODE_TORCHRUN, /* torchrun's child */
};

/* TOPOLOGY: in network order, also in launcher mode. */
enum rc_order { RC_ORDER_UNSET, RC_ORDER_GIVEN, RC_ORDER_NODE, RC_ORDER_TOPOLOGY };

/* How nodes exchange data before tasks start. */
enum rc_exchange { RC_EXCHANGE_UNSET, RC_EXCHANGE_AUTO, RC_EXCHANGE_PMIX, RC_EXCHANGE_SRUN, RC_EXCHANGE_OFF };

/* Effect of a contradiction. STOP, the default if a user requested rollcall, ends the step only if it would hang. */
enum rc_check { RC_CHECK_UNSET, RC_CHECK_OFF, RC_CHECK_WARN, RC_CHECK_STOP, RC_CHECK_STRICT };

enum rc_watch { RC_WATCH_UNSET, RC_WATCH_OFF, RC_WATCH_ON };

/* Visible GPUs (gpus.c). AUTO, the default: the step's, if cuda:LOCAL_RANK can be the task's; OWN: only the task's. */
enum rc_gpus_wish { RC_GPUS_UNSET, RC_GPUS_AUTO, RC_GPUS_OWN };

/* Cores of a task or worker. AUTO, the default: whole ones near its GPU, if unbound and no other job has the node's
 * cores; CORES: unconditionally; NUMA: all of these NUMA nodes; OFF: unchanged. */
enum rc_bind { RC_BIND_UNSET, RC_BIND_AUTO, RC_BIND_CORES, RC_BIND_NUMA, RC_BIND_OFF };

/* Default OFF. NUMERIC: torch's store does not look up clients' names (preload.c). */
enum rc_reverse { RC_REVERSE_UNSET, RC_REVERSE_OFF, RC_REVERSE_NUMERIC };

/* Default OFF. */
enum rc_nics { RC_NICS_UNSET, RC_NICS_AUTO, RC_NICS_OFF };

enum rc_key {
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) RC_KEY_##key,
#include "resolve/options.def"
};

struct rc_options {
    bool given;        /* an option, possibly empty */
    uint32_t by_site;  /* bits of enum rc_key from plugstack.conf */
    bool mode_given;   /* including "auto" */
    enum rc_mode mode; /* AUTO, OFF, WORKER, LAUNCHER or ALONE */

    /* zero if unset */
    enum rc_order order;
    uint32_t nproc;
    const char *addr; /* in the reader's arena */
    enum rc_address_kind addr_kind;
    uint16_t port_first;
    uint16_t port_last;
    enum rc_exchange exchange;
    enum rc_check check;
    enum rc_check same; /* OFF, WARN or STOP if nodes differ */
    uint32_t deadline;  /* seconds */
    enum rc_watch watch;
    uint32_t watch_seconds; /* of watch=SECONDS */
    enum rc_gpus_wish gpus;
    enum rc_bind bind;
    enum rc_nics nic;
    enum rc_reverse lookup;
};

enum { RC_DEADLINE_DEFAULT = 10, RC_DEADLINE_MAX = 600, RC_WATCH_SECONDS_MAX = 86400 };

/* Slices of the command line. */
struct rc_command_options {
    struct rc_str nnodes;
    struct rc_str node_rank;
    struct rc_str nproc;
    struct rc_str backend;
    struct rc_str endpoint;
    struct rc_str master_addr;
    struct rc_str port;
    struct rc_str restarts;
    struct rc_str script; /* or module; ends the options */
    bool standalone;
};

enum rc_command_kind {
    RC_COMMAND_UNKNOWN,
    RC_COMMAND_LAUNCHER, /* torchrun, accelerate, deepspeed, ... */
    RC_COMMAND_DAEMON,   /* orted, prted, hydra_pmi_proxy, ray, ...: needs no rank */
    RC_COMMAND_STARTER,  /* srun, mpirun, ssh, ...: children may need ranks */
};

struct rc_command {
    enum rc_command_kind kind;
    struct rc_str name;       /* the word that decided */
    bool torchrun;            /* also torch.distributed.run|launch: reads PET_* */
    const char *cure;         /* what to type; NULL: default */
    bool is_guess;            /* from a shell's text: the shell may be a task */
    const char *told;         /* of a server (programs.def), or NULL */
    bool accelerate;          /* builds torchrun's arguments */
    bool is_part;             /* set by the caller: one of several steps */
    struct rc_str container;  /* wrapper that starts one */
    struct rc_str cleared_by; /* wrapper that clears the environment */
    struct rc_str clearing;   /* its option */
    const char *passing;      /* its missing option */
    struct rc_str script;     /* file or module of Python; not for -c */
    struct rc_command_options given;
};

enum rc_action {
    RC_SET,   /* also if it has the value already */
    RC_UNSET, /* only if it was set */
    RC_KEEP,  /* unchanged */
};

enum { RC_PLAN_MAX = 128, RC_REJECTED_MAX = 32 };

struct rc_plan_entry {
    enum rc_action action;
    struct rc_str name; /* ends with a NUL */
    const char *value;  /* NULL for RC_UNSET */
    const char *source; /* variable or rule */
    const char *reason;
    bool changes; /* false: set already */
};

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
    bool full; /* apply nothing */
};

struct rc_pins {
    struct rc_str text; /* lines of local ranks; borrowed, valid */
    uint32_t count;
    uint32_t least_cores;
    struct rc_str fabric; /* used cards */
    struct rc_str network;
};

struct rc_pin {
    struct rc_str cpus; /* for rc_cpuset_read() */
    uint32_t cores;
    uint32_t gpu; /* or RC_UNKNOWN */
    struct rc_str fabric;
    struct rc_str network;
    bool shared; /* other local ranks have these cores */
};

enum { RC_TASK_GPUS_MAX = 128, RC_TASK_GPUS_TEXT = 3072 };

/* The step's GPUs here, from user_init, before Slurm binds tasks. */
struct rc_step_gpus {
    struct rc_str list[RC_GPU_LISTS];
    struct rc_str numbers; /* SLURM_STEP_GPUS */
};

/* A device cgroup hides the step's other GPUs. */
enum rc_gpus_hidden { RC_GPUS_HIDDEN_UNKNOWN, RC_GPUS_NOT_HIDDEN, RC_GPUS_HIDDEN };

struct rc_gpus {
    struct rc_str seen; /* by its first variable */
    struct rc_str step; /* the same in the whole step */
    uint32_t count;     /* 0 for "none" */
    uint32_t total;     /* on this node, or RC_UNKNOWN */
    uint32_t first;     /* index of the task's first in `seen` */
    bool usable;
    bool restored; /* `seen` is the step's: --gpu-bind=none */
    bool bound;    /* by Slurm */
    enum rc_gpus_hidden hidden;

    /* By the machine's numbers, or UUIDs. */
    struct rc_str all; /* the node's, the same in all tasks */
    bool by_slurm;     /* Slurm provided them */
    struct rc_str own; /* the task's */
    uint32_t place;    /* of its first in `all`; RC_UNKNOWN: unknown or ambiguous */

    uint32_t device;  /* LOCAL_RANK in worker mode */
    uint32_t shown;   /* visible in the end, or RC_UNKNOWN */
    const char *why;  /* of a changed LOCAL_RANK, or NULL */
    const char *list; /* of `alike`, or NULL */
    const char *reason;
    unsigned alike; /* bits of lists equal to the first */
    unsigned drop;  /* bits of lists to unset: they would count what ROCR left */
};

/* Later facts, for rc_resolve_again(). Zero: unknown. */
struct rc_told {
    uint16_t port;           /* agreed on */
    struct rc_ordered order; /* agreed on; no host: none */
    const char *unordered;   /* why the order is missing; NULL: no exchange */
    const char *own;         /* RANK 0's addresses */
    const char *addr;        /* looked-up MASTER_ADDR */
    const char *addr_source; /* NULL: unchanged */
    const char *interface;
    const struct rc_pins *pins; /* of the node's tasks (pins.h) */
    uint32_t pin;               /* the task's, in worker mode, or RC_UNKNOWN */
    bool cards_only;            /* only for nic=auto */
    struct rc_str pins_library; /* binds a launcher's workers (pins.h) */
};

/* Input of the core, borrowed for the result's lifetime. Zero: unknown. */
struct rc_context {
    const char *const *env;  /* NULL-terminated, or NULL */
    bool indexed;            /* result->env is its index (rc_env_index) */
    struct rc_here *here;    /* or NULL */
    const char *const *argv; /* the task's command, or NULL */
    bool command_read;       /* result->command is argv's */
    struct rc_options options;
    uint32_t pid;                         /* of the task, or what becomes it */
    const struct rc_step_gpus *step_gpus; /* from user_init, or NULL */
    struct rc_told told;
    bool contained;
    bool slurm_certain; /* slurmstepd starts it */
    bool slurm_het;     /* one of several components (srun A : B) */
    bool called;        /* by the user for this process (exec) */
    bool ignore_stamp;
    bool explain;              /* fill plan.rejected */
    enum rc_mode decided_mode; /* by user_init; RC_MODE_AUTO: none */
};

enum { RC_OUTER_MAX = 4 };

enum rc_status {
    RC_RESOLVED,      /* apply the plan (may be empty) */
    RC_CONTRADICTION, /* apply nothing: see the errors */
};

struct rc_identity {
    uint32_t field[RC_FIELD_COUNT]; /* by enum rc_field, or RC_UNKNOWN */
};

enum rc_given {
    RC_GIVEN_BY_LAUNCH, /* from the launcher, or derived */
    RC_GIVEN_BY_USER,   /* user's MASTER_ADDR or MASTER_PORT */
    RC_GIVEN_BY_STAMP,  /* the same, with this task's stamp */
};

/* The caller's remaining work. */
enum rc_master_todo {
    RC_MASTER_HOLD = 1,   /* for RANK 0 (or the first agent): hold the port */
    RC_MASTER_VERIFY = 2, /* and check that addr is local */
    RC_MASTER_LOOKUP = 4, /* addr is new: resolve it */
};

struct rc_master {
    const char *addr; /* or NULL */
    const char *name; /* before the look-up */
    const char *addr_source;
    enum rc_given addr_given;
    bool is_shared; /* steps meet at the user's MASTER_ADDR, not at `addr` */
    uint16_t port;  /* 0: none */
    const char *port_source;
    enum rc_given port_given;
    bool port_told;            /* RANK 0's node holds it */
    bool port_open;            /* RANK 0 may hold another */
    uint16_t launch_port;      /* rollcall's choice */
    const char *wish;          /* or NULL */
    enum rc_address_kind kind; /* INTERFACE and NETWORK: addr is the node's name until looked up */
    unsigned todo;             /* of enum rc_master_todo */
    const char *own;           /* RANK 0's addresses, or NULL */
};

/* For rc_resolve_again(). */
struct rc_recognised {
    enum rc_mode mode;
    const char *mode_reason;
    unsigned messages; /* no errors; includes later actions' */
    unsigned planned;  /* including the plan's */
};

struct rc_result {
    enum rc_status status;
    const struct rc_launcher *launcher; /* NULL: none found */
    struct rc_facts facts;
    struct rc_identity identity;
    struct rc_ordered ordered; /* no host: unused */
    bool by_node;              /* order=node */
    struct rc_command command; /* of an unstamped task */
    enum rc_mode mode;         /* NONE, WORKER, LAUNCHER or TORCHRUN */
    const char *mode_reason;
    bool has_workers; /* a job of one with several GPUs: may start workers, so no LOCAL_RANK */
    struct rc_master master;
    struct rc_gpus gpus;
    struct rc_stamp stamp;                  /* of an earlier rollcall */
    bool stamp_is_outer;                    /* another's: its values are not the user's */
    bool is_alone;                          /* no other launcher's marker */
    const struct rc_launcher *outer_master; /* owner of MASTER_ADDR and MASTER_PORT, or NULL */
    bool stamped;                           /* by this task: only scope and rank are known */
    struct rc_plan plan;
    struct rc_messages messages;

    /* Private. Large members last: each written page is a fault in a process with the preload. */
    unsigned launcher_index;
    const char *outer[RC_OUTER_MAX]; /* of outer launchers */
    unsigned outer_count;
    struct rc_recognised recognised;
    struct rc_arena arena; /* for several plans */
    struct rc_env env;
    char text[65536];
    uint64_t scratch[RC_SCRATCH_BITS / 64];
};

enum { RC_NIC_VARIABLES = 5 };
