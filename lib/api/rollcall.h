/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall.h - rank, size and rendezvous address of this process in its distributed job: librollcall(3).
 *
 * Link with `pkg-config --cflags --libs rollcall`.
 *
 * Threads: any number may read a struct rollcall, which never changes. rollcall_create(NULL, ...) reads `environ`: no
 * thread may call setenv() meanwhile.
 *
 * Ownership: returned pointers are valid until the struct rollcall is destroyed, or belong to the library if so
 * documented. */
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

/* Version of this header; rollcall_version() returns the library's. Made from VERSION (api.am). */
#define ROLLCALL_VERSION_AT_LEAST(major, minor, patch) \
    (ROLLCALL_VERSION_MAJOR > (major) ||               \
     (ROLLCALL_VERSION_MAJOR == (major) &&             \
      (ROLLCALL_VERSION_MINOR > (minor) || (ROLLCALL_VERSION_MINOR == (minor) && ROLLCALL_VERSION_PATCH >= (patch)))))

/* Data types */

/* A resolved environment. Opaque. */
struct rollcall;

/* Error codes; they fit an exit status and never change. */
enum rollcall_error_code {
    ROLLCALL_CONTRADICTION = 1, /* variables contradict each other */
    ROLLCALL_INVALID = 2,       /* invalid argument */
    ROLLCALL_NO_MEMORY = 3,
    ROLLCALL_TIMEOUT = 4, /* another rank did not make the call in time */
    ROLLCALL_NO_WAY = 5,  /* the ranks have no connection, or lost it */
    ROLLCALL_NO_NCCL = 6, /* no libnccl, or it failed */
};

/* Owned by the caller; written on failure. */
struct rollcall_error {
    int code;       /* enum rollcall_error_code */
    char text[512]; /* one printable line; "RC103: ... (rollcall explain RC103)" if rollcall(7) explains it */
};

/* The role of the process. */
enum rollcall_mode {
    ROLLCALL_MODE_NONE = 0,     /* no task of a distributed job: set nothing */
    ROLLCALL_MODE_WORKER = 1,   /* a rank of the job */
    ROLLCALL_MODE_LAUNCHER = 2, /* one per node, starts the ranks of the node (torchrun) */
    ROLLCALL_MODE_TORCHRUN = 3, /* a rank started and numbered by torchrun */
};

enum rollcall_action {
    ROLLCALL_SET = 0,   /* set the variable to this value (it may have it already) */
    ROLLCALL_UNSET = 1, /* unset the variable */
    ROLLCALL_KEEP = 2,  /* keep the valid value set by the user */
};

/* One variable of the plan. Later releases may append members: do not allocate one. */
struct rollcall_variable {
    enum rollcall_action action;
    const char *name;
    const char *value;  /* NULL with ROLLCALL_UNSET */
    const char *source; /* variable or rule that supplied the value; may be NULL */
    const char *reason;
};

enum rollcall_level { ROLLCALL_NOTE = 0, ROLLCALL_WARNING = 1 };

/* A warning or note. Later releases may append members. */
struct rollcall_message {
    const char *id; /* "RC301", explained in rollcall(7) */
    enum rollcall_level level;
    const char *text; /* one line */
};

/* Functions */

ROLLCALL_API const char *rollcall_version(void);
/* Return the library's version, such as "0.1.0". Owned by the library. */

ROLLCALL_API int rollcall_create(const char *const *environment, struct rollcall **out, struct rollcall_error *error);
/* Resolve the NULL-terminated strings "NAME=VALUE" of [environment], or of this process if NULL, with ROLLCALL in them,
 * during this call only. Without a launcher the mode is ROLLCALL_MODE_NONE and the launcher NULL.
 * If [environment] is NULL and variables leave values open, read this node as well: parent processes, GPU device files,
 * a hostfile. With addr= read interfaces and query the resolver, which may be slow.
 * Return 0 with the result in [out], for rollcall_destroy(); or -1 with the reason in [error], if not NULL, and [out]
 * unchanged. */

ROLLCALL_API void rollcall_destroy(struct rollcall *job);
/* Free [job] and all that belongs to it. NULL is allowed; errno is preserved. */

ROLLCALL_API const char *rollcall_launcher(const struct rollcall *job);
/* Return the launcher's id, such as "slurm", "openmpi" or "torchrun", or NULL. Owned by the library. */

ROLLCALL_API enum rollcall_mode rollcall_mode(const struct rollcall *job);
/* Return the mode. Without the command the library infers torchrun from the counts: one task per node with several
 * GPUs. */

ROLLCALL_API const char *rollcall_mode_name(enum rollcall_mode mode);
/* Return "none", "worker", "launcher" or "torchrun"; NULL for any other value. Owned by the library. */

ROLLCALL_API int rollcall_rank(const struct rollcall *job);
ROLLCALL_API int rollcall_world_size(const struct rollcall *job);
ROLLCALL_API int rollcall_local_rank(const struct rollcall *job);
ROLLCALL_API int rollcall_local_world_size(const struct rollcall *job);
ROLLCALL_API int rollcall_node_rank(const struct rollcall *job);
ROLLCALL_API int rollcall_nnodes(const struct rollcall *job);
/* Return a number of this process, or -1 if unknown or unset (in launcher mode all but node rank and number of nodes).
 * Sizes are the innermost launch's: for Slurm the step's. Nodes are numbered by their lowest rank. At most 16777216. */

ROLLCALL_API const char *rollcall_master_addr(const struct rollcall *job);
/* Return the host of rank 0, a name or an address; NULL in modes none and torchrun. */

ROLLCALL_API int rollcall_master_port(const struct rollcall *job);
/* Return the TCP port at which rank 0 must listen, equal in all tasks; -1 if unset. srun --ddp, rollcall exec and the
 * preload library hold it; otherwise call rollcall_hold_port(). */

ROLLCALL_API int rollcall_hold_port(const struct rollcall *job, int *fd, struct rollcall_error *error);
/* Call before applying the plan to this process's environment, which must be that of [job]. In rank 0, verify that the
 * master address is this node's, and hold the port until the program listens (with SO_REUSEADDR, as torch does).
 * Return 0 with the descriptor in [fd], open across exec, to be closed when the listener is ready, or never. It is -1
 * in other ranks, and if srun --ddp or rollcall exec holds the port. Return -1, with the reason in [error] if not NULL,
 * if another program has the port or the address is another node's. */

ROLLCALL_API size_t rollcall_variable_count(const struct rollcall *job);
ROLLCALL_API const struct rollcall_variable *rollcall_variable_at(const struct rollcall *job, size_t index);
/* The environment that PyTorch and its frameworks require, each name once. rollcall_variable_at() returns NULL if
 * [index] is not below the count. */

ROLLCALL_API size_t rollcall_message_count(const struct rollcall *job);
ROLLCALL_API const struct rollcall_message *rollcall_message_at(const struct rollcall *job, size_t index);
/* Warnings and notes. rollcall_message_at() returns NULL if [index] is not below the count. */

/* Calls between ranks, to exchange a few bytes at the start. librollcall(3) describes the server and the launchers that
 * provide one.
 *
 * Calls with the same name match in order, counted since the process began, with failed ones. A forked child counts
 * anew, as another program. A task may run several programs in sequence if each rank runs as many.
 *
 * [job] must be of this process's environment: rollcall_create(NULL, ...). Without a launcher the calls fail with
 * ROLLCALL_INVALID (rollcall exec makes a process rank 0 of 1).
 *
 * timeout_ms: limit for other ranks; 0 is 300 seconds, negative is ROLLCALL_INVALID. Return 0, or -1 with the reason in
 * [error], if not NULL. Thread safe. */

enum { ROLLCALL_BROADCAST_MAX = 16384, ROLLCALL_NCCL_ID_SIZE = 128 };

ROLLCALL_API int rollcall_broadcast(const struct rollcall *job, const char *name, void *data, size_t size, int root,
                                    int timeout_ms, struct rollcall_error *error);
/* Copy [size] bytes, at most ROLLCALL_BROADCAST_MAX, at [data] from rank [root] to all ranks, which must pass the same
 * [name] (1 to 64 letters, digits and . _ -), size and root. The root returns at once. The server keeps the bytes until
 * the launch ends, 64 MiB in all: beyond that calls fail with ROLLCALL_NO_WAY (RC620). */

ROLLCALL_API int rollcall_allgather(const struct rollcall *job, const char *name, const void *data, size_t size,
                                    void *all, int timeout_ms, struct rollcall_error *error);
/* Copy [size] bytes, at most ROLLCALL_BROADCAST_MAX, from [data] of every rank to [all] in all ranks, in their order:
 * world size times [size] bytes. [data] may be this rank's place in [all]. All ranks must pass the same name and size.
 * Broadcasts are counted separately.
 * No rank returns before all have called. If a rank is late, all fail with ROLLCALL_TIMEOUT, the late one as well; the
 * text names the late ranks, and their nodes under srun --ddp if the ranks are srun's. */

ROLLCALL_API int rollcall_barrier(const struct rollcall *job, const char *name, int timeout_ms,
                                  struct rollcall_error *error);
/* Return when all ranks have called with the same [name], counted separately. Fail as rollcall_allgather() if a rank is
 * late. */

ROLLCALL_API int rollcall_nccl_unique_id(const struct rollcall *job, void *id, int timeout_ms,
                                         struct rollcall_error *error);
/* Write the same ncclUniqueId (ROLLCALL_NCCL_ID_SIZE bytes) in all ranks, for one ncclCommInitRank().
 * Rank 0 creates it during this call, with the program's ncclGetUniqueId() or libnccl.so.2's, subject to NCCL_...
 * variables. It must live until all ranks have their communicator: NCCL's bootstrap runs there. If it fails, all ranks
 * fail with the reason. */

ROLLCALL_API int rollcall_nccl_unique_ids(const struct rollcall *job, void *ids, int count, int timeout_ms,
                                          struct rollcall_error *error);
/* The same for ncclCommInitRankScalable(): [count] consecutive ids, 1 to the number of ranks, one per 128 ranks as a
 * rule. Each is created by the first rank of its range, as NCCL recommends. */

#ifdef __cplusplus
}
#endif

#endif
