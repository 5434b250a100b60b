/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - what a launcher says about one process, how it is read, and what each launcher is like. */
#pragma once

#include "base/message.h"
#include "launcher/stamp.h"

/* A number and the variable that it came from (for explain). */
struct rc_number {
    uint32_t value; /* RC_UNKNOWN where no variable says it */
    const char *source;
};

enum rc_field { RC_RANK, RC_LOCAL_RANK, RC_NODE_RANK, RC_WORLD_SIZE, RC_LOCAL_WORLD_SIZE, RC_NNODES, RC_FIELD_COUNT };

struct rc_facts {
    struct rc_number field[RC_FIELD_COUNT];
    bool nnodes_derived;     /* from this task's own sizes alone: right where all nodes have as many tasks (layout.h) */
    uint32_t min_local_size; /* of all nodes; RC_UNKNOWN where not known */
    uint32_t max_local_size;
    struct rc_number node_order_rank; /* RANK if numbered node by node (order=node) */
    struct rc_number gpus;            /* of this node's tasks, before any binding to a task */
    struct rc_str hosts;              /* host list of the nodes; absent where unknown */
    struct rc_str job_hosts;          /* of the whole allocation, which may have more nodes */
    uint32_t master_node;             /* index in hosts of RANK 0's node, or RC_UNKNOWN */
    struct rc_str master_host;        /* where the launcher names it without a list */
    const char *master_source;        /* the variables that say so */
    bool master_comes_later;          /* DNS learns the name when rank 0's node is up: torch waits for it */
    bool master_certain;              /* false: RANK 0 must compare it with its own addresses */
    struct rc_str reserved_ports;     /* "12000-12003" as Slurm writes it, or a platform's one port */
    const char *port_source;          /* the variable that says so */
    uint64_t port_seed[2];            /* job and step: two steps of one job differ in [1] */
    const char *scope;                /* "slurm:42.0": one launch, the same word in all its tasks, without slash */
    const char *run_id;               /* "42.0": the scope without the launcher's name */
    const char *around;               /* the scope of a launch that this one is certainly inside of, else NULL */
    struct rc_str layout;             /* tasks per node as the launcher writes them; absent where it does not */
};

/* What the environment does not say, but the node does. The core does no I/O: who
 * needs one of these asks for it (rc_seen), and the caller looks (effects/look.h). */
enum rc_learn {
    RC_LEARN_ANCESTORS = 1,   /* the processes that this one descends from */
    RC_LEARN_HOST = 2,        /* the node's own name */
    RC_LEARN_HOST_FILE = 4,   /* the content of a file of hosts */
    RC_LEARN_GPUS = 8,        /* the number of GPUs that the process may find */
    RC_LEARN_PMIX = 16,       /* what the launcher's PMIx server says of the job (pmix.c) */
    RC_LEARN_WATCH = 32,      /* the folder of the watch, which belongs on PYTHONPATH (preload.c) */
    RC_LEARN_REVERSE = 64,    /* the library of lookup=numeric, which belongs into LD_PRELOAD (preload.c) */
    RC_LEARN_GPU_FILES = 128, /* which of the node's GPUs may be opened (system/gpufiles.h) */
    RC_LEARN_PORT = 256,      /* a port that is free on this node */
    RC_LEARN_ASAN = 512,      /* whether the command needs AddressSanitizer's runtime (system/program.h) */
};

enum { RC_ANCESTORS_MAX = 24 };

struct rc_here {
    unsigned learned; /* of enum rc_learn: looked for, whether or not it was found */
    /* Looks for one of them and fills it in. False where it cannot. NULL: nothing is looked for. It may not change
     * the environment, of which the core has the block. path is for RC_LEARN_HOST_FILE and, as PATH,
     * for RC_LEARN_ASAN; it ends with a NUL. */
    bool (*look)(struct rc_here *here, enum rc_learn what, struct rc_str path);
    struct rc_str ancestor[RC_ANCESTORS_MAX]; /* command lines as in /proc/PID/cmdline, parent first */
    unsigned ancestor_count;
    struct rc_str host;
    struct rc_str host_file; /* absent where it cannot be read */
    bool host_file_is_cut;   /* it goes on: half a list is worse than none, but a table may be in what is read */
    uint32_t gpus;           /* RC_UNKNOWN where there is no telling */
    uint32_t gpu_files;      /* device files of GPUs; 0 where there are none, or before a look */
    uint32_t gpu_files_open; /* those that this process may open */
    uint64_t gpus_open;      /* which GPUs these are, in the order of the machine's; 0 where that is not known */
    bool gpu_files_amd;      /* they are not NVIDIA's */
    bool gpu_slices;         /* the GPUs are divided into MIG slices */
    uint16_t port;           /* 0: none was found */
    struct rc_str pmix;      /* absent where the server could not be asked */
    struct rc_str watch;     /* absent where it was not found; ends with a NUL */
    struct rc_str reverse;   /* likewise */
    bool asan;               /* the command needs AddressSanitizer's runtime before all other libraries */
};

/* What a family can say of an environment. */
enum rc_claim {
    RC_CLAIM_ABSENT,    /* its variables are not there */
    RC_CLAIM_STALE,     /* there, but of an outer or older launch; reader->why says how that shows */
    RC_CLAIM_OUTSIDE,   /* the launcher's, but no task (batch script, extern step) */
    RC_CLAIM_HALF,      /* so ambiguous or incomplete that it is better left alone (said in messages) */
    RC_CLAIM_TASK,      /* a task: its launch and rank are in the facts */
    RC_CLAIM_INNERMOST, /* a task, and no other launcher can be further inside; without a message */
    RC_CLAIM_BROKEN,    /* a task by its marker, but the values are contradictory (said in messages) */
};

struct rc_reader {
    const struct rc_env *env;
    struct rc_here *here;  /* NULL: nothing is known of the node */
    struct rc_stamp stamp; /* what an earlier rollcall left in env */
    uint32_t pid;          /* of the process that will be the task, 0 where unknown */
    bool slurm_certain;    /* the caller is slurmstepd's own child (the plugin) */
    bool slurm_het;        /* the plugin has seen that the step has several components */
    bool starts_alone;     /* a new job of one process; false: an earlier rollcall made this process one */
    bool alone;            /* no other launcher has a marker in the environment */
    bool master_left_over; /* MASTER_ADDR was told to the tasks of another launch */
    struct rc_messages *messages;
    struct rc_arena *arena;
    uint64_t *scratch; /* RC_SCRATCH_BITS bits: a set of nodes, or the filter of a list of hosts (hosts.h) */
    const char *why;
};

/* RC_NODE_SET_BITS: as many nodes as Slurm can have (MAX_SLURM_NODES, slurm.h). */
enum { RC_NODE_SET_BITS = 65536, RC_SCRATCH_BITS = 4 * RC_NODE_SET_BITS };

/* Whether this of the node is known; looks for it the first time. path is that of
 * RC_LEARN_HOST_FILE, a variable's value; a family may ask for one file only. */
bool rc_seen(struct rc_here *here, enum rc_learn what, struct rc_str path);

enum { RC_VARIABLES_MAX = 12, RC_PROCESSES_SIZE = 96 };

/* One variable of a family and the field it speaks of. One without a name ends the list. */
struct rc_variable {
    char text[29];  /* the name */
    uint8_t length; /* of the name */
    uint8_t field;  /* enum rc_field */
    bool repair;    /* frameworks read it themselves: where it contradicts the identity, rewrite it */
};

/* clang-format off */
#define RC_VARIABLE(name, field) { name, sizeof(name) - 1, field, false }
#define RC_REPAIRED(name, field) { name, sizeof(name) - 1, field, true }
/* clang-format on */

/* The name; ends with a NUL. */
static inline struct rc_str rc_variable_name(const struct rc_variable *variable)
{
    return (struct rc_str){ variable->text, variable->length };
}

/* Whether srun's server, where there is one, is for a launcher's tasks. */
enum rc_srun_server {
    RC_SRUN_SERVER_NONE,  /* no: the launcher's own tasks are not srun's */
    RC_SRUN_SERVER_OWN,   /* srun started the tasks: the server is for a step, which is the run id */
    RC_SRUN_SERVER_OUTER, /* a task of srun's on each node started them: the server is that step's */
};

/* The PMIx server that a launcher's tasks may be clients of. */
enum rc_pmix_server {
    RC_PMIX_SERVER_NONE,
    RC_PMIX_SERVER_SLURM, /* of slurmstepd (families.h): some tasks may connect while others do not */
    RC_PMIX_SERVER_OWN,   /* of its daemons, with a namespace of their own: all tasks connect, or none */
};

/* What a family tells of itself; its two functions are below. All code outside of lib/launcher goes by these members,
 * never by the id: a family that leaves a member out gets what holds for most launchers. */
struct rc_launcher {
    char id[16];    /* in JSON, the stamp and messages: "slurm" */
    char title[32]; /* for people: "Slurm (srun)" */

    /* The programs that its tasks descend from, "a|b|c". Empty: it starts no processes (a cloud's names, a user's own
     * exports). */
    char processes[RC_PROCESSES_SIZE];
    /* Its recognise may prove that no other launcher is further inside (RC_CLAIM_INNERMOST). */
    bool proves;
    /* Any program may start its tasks with a library, too: that none of those
     * processes is above a task proves nothing. */
    bool has_library;
    /* The tasks were started one by one, by different parents: the end of a
     * task's parent is not the end of the launch. */
    bool by_hand;
    /* Its batch scripts inherit the environment that they were submitted from,
     * with the variables of a launcher whose tasks they are not. */
    bool batch_inherits;

    /* What a user types; messages advise it. May be empty. */
    char pass[40]; /* to hand MASTER_ADDR to all of its tasks */
    char each[40]; /* to have N tasks on each node */

    /* Its tasks have MASTER_ADDR and MASTER_PORT from it. In those of another launch they are left over. */
    bool tells_master;
    /* No launcher: --ddp=alone makes this process a job of its own. */
    bool alone;
    /* No launcher: rollcall exec makes a process that none has started a job of one. */
    bool single;
    /* It has numbered its tasks for torch: their variables are shown, never changed. */
    bool authoritative;
    /* Lightning's SLURMEnvironment recognises its tasks. It takes ranks from SLURM_PROCID and SLURM_LOCALID, not from
     * LOCAL_RANK, and stops where SLURM_NTASKS_PER_NODE is missing. */
    bool slurm_environment;
    /* Variables that differ between launches with the same scope, separated by blanks. */
    char apart[64];

    enum rc_srun_server srun_server;
    enum rc_pmix_server pmix_server;
    /* Its daemons are numbered (openmpi.c). Inside Slurm srun starts them from
     * number 1 on, one a node, and their tasks share the cores of that one task. */
    bool has_mpidaemon;

    struct rc_variable variables[RC_VARIABLES_MAX];
};

void rc_facts_init(struct rc_facts *facts);

/* Names the launch: "mpich" and "42" make the scope mpich:42, the run id 42 and the seed of the port. The same in all
 * tasks of a launch, another for another; an absent or empty run id is none, and the family's name has to do. */
void rc_facts_name(struct rc_reader *reader, struct rc_facts *facts, const char *family, struct rc_str run_id);

/* Reads a number of a family: 0..RC_MAX_TASKS, else message RC101 and false. An absent
 * or empty variable gives *out = RC_UNKNOWN and true. */
bool rc_read_number(struct rc_reader *reader, const char *name, struct rc_number *out);

/* The second of two names where it alone has a value (a launcher's older spelling), else the first. */
const char *rc_either(const struct rc_env *env, const char *first, const char *second);

/* Reads a number that a task with the launcher's marker `what` has, else RC102. */
bool rc_read_needed(struct rc_reader *reader, const char *what, const char *name, struct rc_number *out);

/* The same for all variables of a family's table, into the fields they speak of; of two that speak of one field the
 * first that is there counts. RC102 where the marker is set, but one of these fields (a bit each) is not. */
bool rc_read_fields(struct rc_reader *reader, const struct rc_launcher *launcher, struct rc_facts *facts,
                    const char *marker, unsigned needed);

/* Message RC102: the launcher's marker `what` is set, but `name` is not. Returns false. */
bool rc_missing(struct rc_reader *reader, const char *what, const char *name);

/* False, with message RC103, where a launcher says a number a second time by
 * another name and says another one; `command` is what to start again. */
bool rc_agrees(struct rc_reader *reader, const char *name, const struct rc_number *number, const char *command);

/* One task on each of count nodes; its rank is in the facts, and is the node's. */
void rc_facts_one_a_node(struct rc_facts *facts, struct rc_number count);

/* Number of devices in a CUDA_VISIBLE_DEVICES-like list: "0,1", UUIDs, MIG;
 * empty, "-1", "NoDevFiles" and "none" are no device. */
uint32_t rc_count_devices(struct rc_str list);

/* The GPUs of this process: CUDA_VISIBLE_DEVICES where it is set, else those of
 * the node where the caller has counted them (it is asked to). */
void rc_read_gpus(struct rc_reader *reader, struct rc_facts *facts);

/* The program of a command line as /proc/PID/cmdline shows it.
 *
 * Two launchers leave the same variables whichever of them is inside the other. The processes that a task descends from
 * tell which is. They run already: a command that a wrapper or a shell is yet to run does not count here, as it does in
 * command.h. */

/* The words of cmdline end with a NUL each; a process that has written its own title may have one word with blanks.
 * Base name of the program; of Python, that of its script or the module after -m: "torchrun". A title is cut at its
 * colon: "slurmstepd" of "slurmstepd: [42.0]". Absent for an empty one (a kernel thread, a zombie). The result is a
 * piece of cmdline. */
struct rc_str rc_ancestor_name(struct rc_str cmdline);

/* The step of a slurmstepd: "1" of "slurmstepd: [42.1]". Absent for other programs. */
struct rc_str rc_ancestor_step(struct rc_str cmdline);

/* Whether it is the slurmstepd of a batch script, an extern or an interactive
 * step, which are no tasks: "slurmstepd: [42.batch]". */
bool rc_ancestor_is_batch(struct rc_str cmdline);

/* The command line of the nearest process of that name above this one; absent where there is none in sight. */
struct rc_str rc_ancestor_nearest(struct rc_reader *reader, const char *name);

/* The word after an option ("--proxy-id"), absent where there is none. */
struct rc_str rc_ancestor_option(struct rc_str cmdline, const char *option);

/* All launcher families, in order of precedence.
 *
 * Of a family NAME:
 *
 * const struct rc_launcher rc_launcher_NAME
 *
 * enum rc_claim rc_NAME_recognise(reader, facts)
 *     Which launch this is and which of its tasks: facts->scope, run_id, port_seed (rc_facts_name) and the rank. It is
 *     kept short: nearly every process carries the stamp of its own task, and needs no more than this. It changes the
 *     facts, reader->why and messages alone, and may be called twice. RC_CLAIM_ABSENT also where another family's
 *     launcher has set the variables (PMIx's in a task of mpirun): two claims mean two launchers, one inside the other.
 *
 * bool rc_NAME_read(reader, facts)
 *     All the rest, into facts that recognise has filled. False, with a message, where the values are contradictory.
 */

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

/* index < RC_LAUNCHER_COUNT, innermost first. The order is for loops over all
 * families: what a single one is like is in its struct rc_launcher. */
const struct rc_launcher *rc_launcher_at(unsigned index);
enum rc_claim rc_launcher_recognise(unsigned index, struct rc_reader *reader, struct rc_facts *facts);

/* Read the facts of a task that the family has recognised. */
typedef bool rc_facts_reader(unsigned index, struct rc_reader *reader, struct rc_facts *facts);
rc_facts_reader rc_facts_read;

/* The same if reader->slurm_certain: the plugin does not link the other families' part. */
rc_facts_reader rc_facts_read_certain;

/* True where the block holds any marker: nearly all processes are outside of every launcher. */
bool rc_launcher_marked(const char *const *block);

/* The families with a marker in the environment, bit 0 for the first. */
uint32_t rc_launcher_marks(const struct rc_env *env);

/* Whether these marks are of one launcher at most. PMIx's and Slurm's together
 * are, where the PMIx server is Slurm's. */
bool rc_launcher_is_alone(const struct rc_env *env, uint32_t marks);

/* Whether a scope, or a stamp, which begins with one, is of a launch of this family: "slurm:42.0". */
bool rc_launcher_has_scope(const struct rc_launcher *launcher, struct rc_str scope);
