/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall.h - who this process is in its distributed job, as `rollcall show` says it: librollcall(3).
 *
 * Link with `pkg-config --cflags --libs rollcall`.
 *
 * Threads: but for what rollcall_broadcast() and those behind it have to
 * remember, the library has no state of its own. A struct rollcall never changes
 * after it was created: any number of threads may read one, as long as none
 * destroys it meanwhile. rollcall_create(NULL, ...) reads `environ`, so no other
 * thread may call setenv() and the like during that call.
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

/* The version of this header, for #if; rollcall_version() is the library's own. Made from VERSION (api.am). */
#define ROLLCALL_VERSION_AT_LEAST(major, minor, patch) \
    (ROLLCALL_VERSION_MAJOR > (major) ||               \
     (ROLLCALL_VERSION_MAJOR == (major) &&             \
      (ROLLCALL_VERSION_MINOR > (minor) || (ROLLCALL_VERSION_MINOR == (minor) && ROLLCALL_VERSION_PATCH >= (patch)))))

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
    ROLLCALL_TIMEOUT = 4, /* another rank did not make the call in time */
    ROLLCALL_NO_WAY = 5,  /* the ranks have no connection, or have lost it */
    ROLLCALL_NO_NCCL = 6, /* there is no libnccl, or it makes no id */
};

/* Belongs to the caller; written only by a function that fails. */
struct rollcall_error {
    int code;       /* enum rollcall_error_code */
    char text[512]; /* one line without a newline, printable ASCII; begins with
                     * an id where rollcall(7) explains it, as in "RC103: ...",
                     * and then ends with "(rollcall explain RC103)" */
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

ROLLCALL_API int rollcall_create(const char *const *environment, struct rollcall **out, struct rollcall_error *error);
/*
 *  Resolves the NULL-terminated block of "NAME=VALUE" strings [environment],
 *    or the process's own if it is NULL. The ROLLCALL variable in it counts
 *    as it does for the rollcall command. The block is not needed any more
 *    afterwards, and is not changed.
 *  An environment without any launcher is no error: the mode is then
 *    ROLLCALL_MODE_NONE and the launcher NULL.
 *  If environment is NULL and the launcher's variables leave something open,
 *    the call also reads this node: the processes above this one, device files
 *    of GPUs, a file of hosts. With addr= in ROLLCALL it reads the
 *    node's interfaces and asks the resolver, which may take its time.
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
 *    -1 where none is meant. srun --ddp, rollcall exec and the preload library
 *    hold it from the start, o/w rollcall_hold_port() does.
 */

ROLLCALL_API int rollcall_hold_port(const struct rollcall *job, int *fd, struct rollcall_error *error);
/*
 *  For a program that puts the plan into its own environment. In rank 0's
 *    process: checks that the master address is this node's, and takes the
 *    master port, so that no other program gets it before the one that
 *    listens there. A listener with SO_REUSEADDR, such as torch's, still may.
 *    Job must be of this process's own environment.
 *  Returns 0, with the descriptor in [fd], which stays open across exec: close
 *    it when the listener is there, or never. It is -1 where there is nothing
 *    to hold: in other ranks, and where srun --ddp or rollcall exec holds the
 *    port. O/w returns -1, and says why in [error], which may be NULL: another
 *    program has the port, or the address is another node's.
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

/*
 * Calls between ranks
 *
 * For a program that needs a few bytes of another rank at its start, before it
 * has connections of its own. The page describes the server, and the launchers
 * under which there is one.
 *
 * Several calls: each meets the other ranks' calls of the same name in order,
 * their first, their second and so on, counted since the process began; one
 * that fails counts, too. A forked child counts anew, as a program of its own. A
 * task may run several programs one after the other, if each rank runs as many.
 *
 * A process that no launcher started has no rank, and the calls fail with
 * ROLLCALL_INVALID. rollcall exec makes it rank 0 of 1. Job must be of this
 * process's own environment: rollcall_create(NULL, ...).
 *
 * timeout_ms: how long to wait for other ranks; 0 is 300 seconds, less is
 * ROLLCALL_INVALID. All return 0, or -1 with the reason in [error], which may be NULL. Thread safe.
 */

enum { ROLLCALL_BROADCAST_MAX = 16384, ROLLCALL_NCCL_ID_SIZE = 128 };

ROLLCALL_API int rollcall_broadcast(const struct rollcall *job, const char *name, void *data, size_t size, int root,
                                    int timeout_ms, struct rollcall_error *error);
/*
 *  Gives the [size] bytes at [data] of rank [root], ROLLCALL_BROADCAST_MAX at
 *    most, to all ranks of the job: the root's are read, the others' written.
 *    All ranks give the same [name] (1 to 64 letters, digits and . _ -), size
 *    and root.
 *  It is no barrier: the root returns at once, the others when they have it.
 *    The root's bytes stay in the server until the launch ends. The server
 *    keeps 64 MiB: a call for which it has no room fails with
 *    ROLLCALL_NO_WAY (RC620).
 */

ROLLCALL_API int rollcall_allgather(const struct rollcall *job, const char *name, const void *data, size_t size,
                                    void *all, int timeout_ms, struct rollcall_error *error);
/*
 *  Gives the [size] bytes at [data] of every rank, ROLLCALL_BROADCAST_MAX at
 *    most, to all ranks of the job: writes them to [all], one after the other in
 *    the order of the ranks, world size times [size] bytes. [data] may be
 *    this rank's own place there. All ranks give the same name, as above, and
 *    size. A broadcast of the same name is another call.
 *  No rank returns before each has made the call. If a rank has not called when
 *    the time of another is over, the call fails in all ranks with
 *    ROLLCALL_TIMEOUT, also in a rank that calls later. The text names the late
 *    ranks and, under srun --ddp, their nodes if the ranks are srun's.
 *  The server keeps the bytes until all ranks have them.
 */

ROLLCALL_API int rollcall_barrier(const struct rollcall *job, const char *name, int timeout_ms,
                                  struct rollcall_error *error);
/*
 *  Returns when all ranks have made the call with the same [name], as above. A
 *    broadcast or an allgather of that name is another call. It fails as
 *    rollcall_allgather() does if a rank is late.
 */

ROLLCALL_API int rollcall_nccl_unique_id(const struct rollcall *job, void *id, int timeout_ms,
                                         struct rollcall_error *error);
/*
 *  Writes the same ncclUniqueId (ROLLCALL_NCCL_ID_SIZE bytes), fit for one
 *    ncclCommInitRank() of all ranks, in all ranks.
 *  Rank 0 makes it, in this process and not before this call: with the
 *    ncclGetUniqueId() that the program itself would find, o/w with that of
 *    libnccl.so.2, loaded already or not. What NCCL_... variables say then
 *    counts. Rank 0's process must live until all ranks have their communicator:
 *    it is there that NCCL's ranks find each other. An id that cannot be made
 *    fails in all ranks, and says why in each.
 */

ROLLCALL_API int rollcall_nccl_unique_ids(const struct rollcall *job, void *ids, int count, int timeout_ms,
                                          struct rollcall_error *error);
/*
 *  The same for ncclCommInitRankScalable(), with [count] ids one after the
 *    other, 1 to the number of ranks. NCCL gives each id a range of ranks; its
 *    first rank makes it, as NCCL recommends. One id for every 128 ranks or so
 *    is usual.
 */

#ifdef __cplusplus
}
#endif

#endif
