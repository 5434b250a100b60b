/* rollcall.h - who this process is in its distributed job.
 *
 * librollcall answers what `rollcall show` answers: it reads the variables
 * that the launcher (srun, mpirun, torchrun, ...) left in an environment, and
 * says which rank this process has, of how many, where rank 0 is, and what
 * PyTorch wants to find in the environment. It changes nothing.
 *
 *     struct rollcall_error error;
 *     struct rollcall *job;
 *
 *     if (rollcall_create(NULL, &job, &error) < 0) {
 *         fprintf(stderr, "%s\n", error.text);
 *         return 1;
 *     }
 *     printf("rank %d of %d\n", rollcall_rank(job), rollcall_world_size(job));
 *     rollcall_destroy(job);
 *
 * Link with `pkg-config --cflags --libs rollcall`.
 *
 * Threads: the library has no state of its own. A struct rollcall never
 * changes after it was created: any number of threads may read one, as long as
 * none destroys it meanwhile. rollcall_create(NULL, ...) reads `environ`, so no
 * other thread may call setenv() and the like during that call.
 *
 * Ownership: every pointer that a function returns belongs to the struct
 * rollcall that it was asked of (or to the library, where it says so) and is
 * good until that is destroyed.
 */
#ifndef ROLLCALL_H
#define ROLLCALL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ROLLCALL_API __attribute__((visibility("default")))
#else
#define ROLLCALL_API
#endif

/*
 * Data types
 */

/* One resolved environment. Opaque. */
struct rollcall;

/* Why a function failed; values are fit for an exit status and never change. */
enum rollcall_error_code {
    ROLLCALL_CONTRADICTION = 1, /* the environment's values contradict each other */
    ROLLCALL_INVALID = 2,       /* an argument of the call was wrong */
    ROLLCALL_NO_MEMORY = 3,
};

/* Belongs to the caller; written only by a function that fails. */
struct rollcall_error {
    int code;       /* enum rollcall_error_code */
    char text[512]; /* one line without a newline, printable ASCII; a contradiction's
                     * begins with its id, as in "RC103: ..." */
};

/* What the process is to do, which decides what PyTorch may find set. */
enum rollcall_mode {
    ROLLCALL_MODE_NONE = 0,     /* no task of a distributed job: nothing is set */
    ROLLCALL_MODE_WORKER = 1,   /* one of the job's ranks */
    ROLLCALL_MODE_LAUNCHER = 2, /* one of a node: starts the node's ranks itself (torchrun) */
    ROLLCALL_MODE_TORCHRUN = 3, /* a rank that torchrun started and numbered */
};

enum rollcall_action {
    ROLLCALL_SET = 0,   /* give the variable this value (it may have it already) */
    ROLLCALL_UNSET = 1, /* the variable is there and must not be */
    ROLLCALL_KEEP = 2,  /* the variable was set by the user, can work, and stays */
};

/* One variable of the plan. More members may follow in later releases: use
 * what rollcall_variable_at() returns, never one of your own. */
struct rollcall_variable {
    enum rollcall_action action;
    const char *name;
    const char *value;  /* NULL for ROLLCALL_UNSET */
    const char *source; /* the variable or rule that the value comes from; may be NULL */
    const char *reason;
};

enum rollcall_level { ROLLCALL_NOTE = 0, ROLLCALL_WARNING = 1 };

/* One message. More members may follow, as above. Errors are no messages:
 * rollcall_create() fails with them. */
struct rollcall_message {
    const char *id; /* "RC301", explained in rollcall(7) */
    enum rollcall_level level;
    const char *text; /* one line */
};

/*
 * Functions
 */

ROLLCALL_API const char *rollcall_version(void);
/*
 *  Returns the library's version, such as "0.1.0"; it belongs to the library.
 */

ROLLCALL_API int rollcall_create(const char *const *environment, struct rollcall **out,
                                 struct rollcall_error *error);
/*
 *  Resolves the NULL-terminated block of "NAME=VALUE" strings [environment],
 *    or the process's own if it is NULL. The ROLLCALL variable in it counts
 *    as it does for the rollcall command. The block is not needed any more
 *    afterwards, and is not changed.
 *  An environment without any launcher is no error: the mode is then
 *    ROLLCALL_MODE_NONE and the launcher NULL.
 *  Besides memory, the call reads /proc/sys/net/ipv4/ip_local_port_range,
 *    for a master port that outgoing connections cannot take.
 *  Returns 0, with the result in [out], to be given to rollcall_destroy();
 *    o/w, returns -1, leaves [out] as it was and says why in [error], which
 *    may be NULL. Never sets errno on purpose.
 */

ROLLCALL_API void rollcall_destroy(struct rollcall *job);
/*
 *  Frees [job] and all that was asked of it. NULL is allowed; errno is kept.
 */

ROLLCALL_API const char *rollcall_launcher(const struct rollcall *job);
/*
 *  Returns the launcher's id, such as "slurm", "openmpi" or "torchrun", or NULL
 *    if none was found. It belongs to the library.
 */

ROLLCALL_API enum rollcall_mode rollcall_mode(const struct rollcall *job);
/*
 *  Returns what the process is to do. As the process's command is not known
 *    to the library, torchrun and the like are told from the counts alone: one
 *    task a node and several GPUs for it.
 */

ROLLCALL_API const char *rollcall_mode_name(enum rollcall_mode mode);
/*
 *  Returns "none", "worker", "launcher" or "torchrun"; NULL for any other
 *    value. It belongs to the library.
 */

ROLLCALL_API int rollcall_rank(const struct rollcall *job);
ROLLCALL_API int rollcall_world_size(const struct rollcall *job);
ROLLCALL_API int rollcall_local_rank(const struct rollcall *job);
ROLLCALL_API int rollcall_local_world_size(const struct rollcall *job);
ROLLCALL_API int rollcall_node_rank(const struct rollcall *job);
ROLLCALL_API int rollcall_nnodes(const struct rollcall *job);
/*
 *  Return a number of this process's identity, or -1 where it is not known or
 *    not meant (in launcher mode all but node rank and number of nodes, since
 *    the workers are yet to be started). Ranks count from 0. Sizes are of the
 *    innermost launch, which for Slurm is the step, not the job. Nodes are
 *    numbered by the lowest rank on each, so that rank 0 is on node 0.
 *    At most 16777216.
 */

ROLLCALL_API const char *rollcall_master_addr(const struct rollcall *job);
/*
 *  Returns the host of rank 0, as a name or an address, or NULL where none is
 *    meant (modes none and torchrun).
 */

ROLLCALL_API int rollcall_master_port(const struct rollcall *job);
/*
 *  Returns the TCP port at which rank 0 is to listen, the same in all tasks, or
 *    -1 where none is meant. Nobody holds it: that is what srun --ddp, rollcall
 *    exec and the preload library do.
 */

ROLLCALL_API size_t rollcall_variable_count(const struct rollcall *job);
ROLLCALL_API const struct rollcall_variable *rollcall_variable_at(const struct rollcall *job, size_t index);
/*
 *  The variables of the plan, each name once: what the environment must look
 *    like for PyTorch and the frameworks over it.
 *  rollcall_variable_at() returns NULL if [index] is not below the count.
 */

ROLLCALL_API size_t rollcall_message_count(const struct rollcall *job);
ROLLCALL_API const struct rollcall_message *rollcall_message_at(const struct rollcall *job, size_t index);
/*
 *  Warnings and notes.
 *  rollcall_message_at() returns NULL if [index] is not below the count.
 */

#ifdef __cplusplus
}
#endif

#endif
