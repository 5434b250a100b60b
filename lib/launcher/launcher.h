/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - the facts of a process, their reader, and each launcher's properties. */
#pragma once

#include "base/message.h"
#include "launcher/stamp.h"

/* A number and its variable. */
struct rc_number {
    uint32_t value; /* RC_UNKNOWN if unset */
    const char *source;
};

enum rc_field { RC_RANK, RC_LOCAL_RANK, RC_NODE_RANK, RC_WORLD_SIZE, RC_LOCAL_WORLD_SIZE, RC_NNODES, RC_FIELD_COUNT };

struct rc_facts {
    struct rc_number field[RC_FIELD_COUNT];
    bool nnodes_derived;     /* true only if all nodes have equally many tasks */
    uint32_t min_local_size; /* of all nodes, or RC_UNKNOWN */
    uint32_t max_local_size;
    struct rc_number node_order_rank; /* RANK if numbered node by node (order=node) */
    struct rc_number gpus;            /* of this node's tasks, before binding */
    struct rc_str hosts;              /* host list of the nodes, if known */
    struct rc_str job_hosts;          /* of the whole allocation */
    uint32_t master_node;             /* rank 0's index in hosts, or RC_UNKNOWN */
    struct rc_str master_host;        /* if the launcher names it without a list */
    const char *master_source;        /* variables it came from */
    bool master_comes_later;          /* DNS has the name once rank 0's node is up */
    bool master_certain;              /* false: rank 0 must check it */
    struct rc_str reserved_ports;     /* "12000-12003" from Slurm, or one port */
    const char *port_source;          /* its variable */
    uint64_t port_seed[2];            /* job and step */
    const char *scope;                /* "slurm:42.0": one launch, without '/' */
    const char *run_id;               /* "42.0", without the launcher */
    const char *around;               /* scope of a launch that certainly contains this one */
    struct rc_str layout;             /* tasks per node in the launcher's format */
};

/* Facts about the node. The core does no I/O: it calls rc_seen(), and the caller looks (effects/look.h). */
enum rc_learn {
    RC_LEARN_ANCESTORS = 1,
    RC_LEARN_HOST = 2,
    RC_LEARN_HOST_FILE = 4, /* the content of a file of hosts */
    RC_LEARN_GPUS = 8,
    RC_LEARN_PMIX = 16,       /* the PMIx server's job data (pmix.c) */
    RC_LEARN_WATCH = 32,      /* the watch's folder (preload.c) */
    RC_LEARN_REVERSE = 64,    /* the library of lookup=numeric (preload.c) */
    RC_LEARN_GPU_FILES = 128, /* GPUs that may be opened (system/gpufiles.h) */
    RC_LEARN_PORT = 256,
    RC_LEARN_ASAN = 512, /* the command needs AddressSanitizer's runtime (system/program.h) */
};

enum { RC_ANCESTORS_MAX = 24 };

struct rc_here {
    unsigned learned; /* enum rc_learn bits looked up, found or not */
    /* Look up one and fill it in; return false on failure. May be NULL. Must not change the indexed environment.
     * `path`, NUL-terminated, is for RC_LEARN_HOST_FILE and, as PATH, RC_LEARN_ASAN. */
    bool (*look)(struct rc_here *here, enum rc_learn what, struct rc_str path);
    struct rc_str ancestor[RC_ANCESTORS_MAX]; /* as in /proc/PID/cmdline, parent first */
    unsigned ancestor_count;
    struct rc_str host;
    struct rc_str host_file; /* missing if unreadable */
    bool host_file_is_cut;   /* reject it as a list; a table may be in it */
    uint32_t gpus;           /* or RC_UNKNOWN */
    uint32_t gpu_files;      /* device files; 0 if none or not looked up */
    uint32_t gpu_files_open;
    uint64_t gpus_open;    /* bits in the machine's order; 0 if unknown */
    bool gpu_files_amd;    /* not NVIDIA's */
    bool gpu_slices;       /* divided into MIG instances */
    uint16_t port;         /* 0: none found */
    struct rc_str pmix;    /* missing if the server did not answer */
    struct rc_str watch;   /* missing if not found; NUL-terminated */
    struct rc_str reverse; /* the same */
    bool asan;             /* AddressSanitizer's runtime must be first */
};

/* A family's verdict on an environment. */
enum rc_claim {
    RC_CLAIM_ABSENT,    /* its variables are unset */
    RC_CLAIM_STALE,     /* set by an outer or older launch (reader->why) */
    RC_CLAIM_OUTSIDE,   /* the launcher's, but no task (batch script, extern step) */
    RC_CLAIM_HALF,      /* ambiguous or incomplete; has a message */
    RC_CLAIM_TASK,      /* launch and rank are in the facts */
    RC_CLAIM_INNERMOST, /* and no other launcher is further inside; no message */
    RC_CLAIM_BROKEN,    /* contradictory values; has a message */
};

struct rc_reader {
    const struct rc_env *env;
    struct rc_here *here;  /* NULL: no facts about the node */
    struct rc_stamp stamp; /* from an earlier rollcall */
    uint32_t pid;          /* of the task's process, or 0 */
    bool slurm_certain;    /* slurmstepd's child calls (the plugin) */
    bool slurm_het;        /* the plugin saw several components */
    bool starts_alone;     /* a new job of one process */
    bool alone;            /* no other launcher's marker is set */
    bool master_left_over; /* MASTER_ADDR is another launch's */
    struct rc_messages *messages;
    struct rc_arena *arena;
    uint64_t *scratch; /* RC_SCRATCH_BITS bits: nodes or a filter (hosts.h) */
    const char *why;
};

/* MAX_SLURM_NODES of slurm.h. */
enum { RC_NODE_SET_BITS = 65536, RC_SCRATCH_BITS = 4 * RC_NODE_SET_BITS };

/* Return true if the fact is known; look it up once. `path`: the value of a family's only variable of a file. */
bool rc_seen(struct rc_here *here, enum rc_learn what, struct rc_str path);

enum { RC_VARIABLES_MAX = 12, RC_PROCESSES_SIZE = 96 };

/* A family's variable; an empty name ends the list. */
struct rc_variable {
    char text[29];
    uint8_t length;
    uint8_t field; /* enum rc_field */
    bool repair;   /* frameworks read it: rewrite it if wrong */
};

/* clang-format off */
#define RC_VARIABLE(name, field) { name, sizeof(name) - 1, field, false }
#define RC_REPAIRED(name, field) { name, sizeof(name) - 1, field, true }
/* clang-format on */

/* NUL-terminated */
static inline struct rc_str rc_variable_name(const struct rc_variable *variable)
{
    return (struct rc_str){ variable->text, variable->length };
}

/* srun's server, if any, for a launcher's tasks. */
enum rc_srun_server {
    RC_SRUN_SERVER_NONE,  /* not for them */
    RC_SRUN_SERVER_OWN,   /* of their step, which is the run id */
    RC_SRUN_SERVER_OUTER, /* of the step whose tasks, one per node, started them */
};

/* The PMIx server of a launcher's tasks. */
enum rc_pmix_server {
    RC_PMIX_SERVER_NONE,
    RC_PMIX_SERVER_SLURM, /* slurmstepd's; tasks may differ in using it */
    RC_PMIX_SERVER_OWN,   /* the launcher's; all tasks use it, or none */
};

/* A family's properties. Code outside lib/launcher uses these members, never the id; 0 is right for most. */
struct rc_launcher {
    char id[16];    /* in JSON, stamp and messages: "slurm" */
    char title[32]; /* for users: "Slurm (srun)" */

    /* Its tasks' ancestors, "a|b|c". Empty: it starts none (a cloud, a user's exports). */
    char processes[RC_PROCESSES_SIZE];
    /* recognise() may return RC_CLAIM_INNERMOST. */
    bool proves;
    /* A library may start its tasks, so missing ancestors prove nothing. */
    bool has_library;
    /* The launch may outlive a task's parent. */
    bool by_hand;
    /* Its batch scripts inherit other launchers' variables. */
    bool batch_inherits;

    /* Commands for messages, or "": */
    char pass[40]; /* to pass MASTER_ADDR to all tasks */
    char each[40]; /* to run N tasks on each node */

    /* Sets MASTER_ADDR and MASTER_PORT, left over in another launch's tasks. */
    bool tells_master;
    /* Not a launcher: --ddp=alone. */
    bool alone;
    /* Not a launcher: rollcall exec without one. */
    bool single;
    /* Numbers tasks for torch: never change their variables. */
    bool authoritative;
    /* Lightning's SLURMEnvironment uses SLURM_PROCID and SLURM_LOCALID, and fails without SLURM_NTASKS_PER_NODE. */
    bool slurm_environment;
    /* Variables that differ between launches of a scope, separated by blanks. */
    char apart[64];

    enum rc_srun_server srun_server;
    enum rc_pmix_server pmix_server;
    /* Has numbered daemons (openmpi.c); in Slurm, srun starts them from number 1, one per node, and their tasks share
     * its cores. */
    bool has_mpidaemon;

    struct rc_variable variables[RC_VARIABLES_MAX];
};

void rc_facts_init(struct rc_facts *facts);

/* Name the launch: "mpich" and "42" set scope mpich:42, run id 42 and the port's seed; without a run id, "mpich". */
void rc_facts_name(struct rc_reader *reader, struct rc_facts *facts, const char *family, struct rc_str run_id);

/* Read a number from 0 to RC_MAX_TASKS, or RC_UNKNOWN if unset or empty. Return false with RC101 for other text. */
bool rc_read_number(struct rc_reader *reader, const char *name, struct rc_number *out);

/* Return `second`, an older spelling, if only that has a value. */
const char *rc_either(const struct rc_env *env, const char *first, const char *second);

/* Like rc_read_number(), but return false with RC102 if unset (marker: `what`). */
bool rc_read_needed(struct rc_reader *reader, const char *what, const char *name, struct rc_number *out);

/* Read all variables of a family; the first set one of a field counts. Return false with RC102 if a `needed` field
 * (bit) is unset. */
bool rc_read_fields(struct rc_reader *reader, const struct rc_launcher *launcher, struct rc_facts *facts,
                    const char *marker, unsigned needed);

/* Add RC102: `what` is set, `name` is not. Return false. */
bool rc_missing(struct rc_reader *reader, const char *what, const char *name);

/* Return false with RC103 if another variable has another number; `command` is to be restarted. */
bool rc_agrees(struct rc_reader *reader, const char *name, const struct rc_number *number, const char *command);

/* Fill in one task on each of `count` nodes. */
void rc_facts_one_a_node(struct rc_facts *facts, struct rc_number count);

/* Count devices of CUDA_VISIBLE_DEVICES; none in "", "-1", "NoDevFiles", "none", "void". */
uint32_t rc_count_devices(struct rc_str list);

/* Set facts->gpus from CUDA_VISIBLE_DEVICES, else from the node. */
void rc_read_gpus(struct rc_reader *reader, struct rc_facts *facts);

/* Running ancestors, from /proc/PID/cmdline, show which of two launchers is inside. */

/* Return a slice: the program's base name; Python's script or -m module ("torchrun"); a title before its colon
 * ("slurmstepd" of "slurmstepd: [42.0]"). Words end with NUL, but a title may be one word with blanks. */
struct rc_str rc_ancestor_name(struct rc_str cmdline);

/* Return "1" of "slurmstepd: [42.1]", or RC_ABSENT. */
struct rc_str rc_ancestor_step(struct rc_str cmdline);

/* Return true for a slurmstepd without tasks. */
bool rc_ancestor_is_batch(struct rc_str cmdline);

/* Return the nearest ancestor of this name, or RC_ABSENT. */
struct rc_str rc_ancestor_nearest(struct rc_reader *reader, const char *name);

/* Return the word after an option ("--proxy-id"), or RC_ABSENT. */
struct rc_str rc_ancestor_option(struct rc_str cmdline, const char *option);

/* All launcher families, in order of precedence. Each has a const struct rc_launcher rc_launcher_NAME and:
 *
 * rc_NAME_recognise(reader, facts): set facts->scope, run_id, port_seed and the rank. Must be fast: a stamped task
 * needs only this. Changes only facts, reader->why and messages; may be called twice. RC_CLAIM_ABSENT also if another
 * family's launcher set the variables: two claims mean nested launchers.
 * rc_NAME_read(reader, facts): fill in the rest. Return false, with a message, on contradictions. */

#define ROLLCALL_MARKER(name, variable)

enum {
#define ROLLCALL_LAUNCHER(name) RC_LAUNCHER_INDEX_##name,
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    RC_LAUNCHER_COUNT
};

#define ROLLCALL_LAUNCHER(name)                                                            \
    extern const struct rc_launcher rc_launcher_##name;                                    \
    enum rc_claim rc_##name##_recognise(struct rc_reader *reader, struct rc_facts *facts); \
    bool rc_##name##_read(struct rc_reader *reader, struct rc_facts *facts);
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER

#undef ROLLCALL_MARKER

/* Return a family, innermost first. */
const struct rc_launcher *rc_launcher_at(unsigned index);
enum rc_claim rc_launcher_recognise(unsigned index, struct rc_reader *reader, struct rc_facts *facts);

/* Read the facts of a recognised task. */
typedef bool rc_facts_reader(unsigned index, struct rc_reader *reader, struct rc_facts *facts);
rc_facts_reader rc_facts_read;

/* The same if reader->slurm_certain: the plugin links no others than Slurm's and alone's. */
rc_facts_reader rc_facts_read_certain;

/* Return true if any marker is set. */
bool rc_launcher_marked(const char *const *block);

/* Return the families with a set marker, bit 0 for the first. */
uint32_t rc_launcher_marks(const struct rc_env *env);

/* Return true if the marks are of one launcher. PMIx's may be Slurm's. */
bool rc_launcher_is_alone(const struct rc_env *env, uint32_t marks);

/* Return true if a scope, or a stamp, is this family's: "slurm:42.0". */
bool rc_launcher_has_scope(const struct rc_launcher *launcher, struct rc_str scope);
