/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.c - librollcall-nccl.so: is called in NCCL's place when a process joins a communicator.
 *
 *   srun --ddp=guard=nccl python train.py
 *
 * Unlike librollcall-preload.so this library uses a libc. But LD_PRELOAD loads it into
 * every program of a task. So it imports no name that musl lacks (a fortified one ends
 * a musl program at load), has no constructor, and does nothing until NCCL is called.
 * Then each of its functions asks guard_admits (world.h) and calls the real one. It
 * looks for that one
 *
 * - among the libraries that were loaded after it, as interposers do (RTLD_NEXT);
 * - in the calling library and its dependencies: Python loads torch, and NCCL with it,
 *   into a scope of their own, where RTLD_NEXT does not look;
 * - in libnccl.so.2, wherever that was loaded.
 *
 * It never loads NCCL. An NCCL that is linked into the program statically is called
 * directly: then this library does nothing.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/variables.h"
#include "nccl.h"
#include "say.h"
#include "world.h"

#define EXPORTED __attribute__((visibility("default")))
#define CALLER   __builtin_return_address(0)

enum { SHARED_IDS_UNTIL = 21600 }; /* before 2.16 an id is an address, which may be used again */

nccl_result ncclGetUniqueId(nccl_id *id);
nccl_result ncclCommInitRank(nccl_comm *comm, int nranks, nccl_id id, int rank);
nccl_result ncclCommInitRankConfig(nccl_comm *comm, int nranks, nccl_id id, int rank, struct nccl_config *config);
nccl_result ncclCommInitRankScalable(nccl_comm *comm, int nranks, int rank, int count, nccl_id *ids,
                                     struct nccl_config *config);

static void *in_library(const char *file, const char *name, const void *self)
{
    void *library = file && *file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, name) : NULL;

    /* the program's own scope begins with the preloaded libraries, and so with this one */
    if (found && found != self)
        return found; /* and the library stays loaded */
    if (library)
        dlclose(library);
    return NULL;
}

/* The function of that name after ours, as seen from our caller. NULL where there is none. */
static void *next_function(const char *name, const void *self, const void *caller)
{
    void *found = dlsym(RTLD_NEXT, name);
    Dl_info info;

    if (!found && dladdr(caller, &info))
        found = in_library(info.dli_fname, name, self);
    return found ? found : in_library("libnccl.so.2", name, self);
}

/* Writes the real function and remembers it in *known. Returns whether there is one. */
static bool find_function(void **known, const char *name, const void *self, const void *caller, void *function)
{
    void *found = __atomic_load_n(known, __ATOMIC_ACQUIRE);

    if (!found) {
        found = next_function(name, self, caller);
        __atomic_store_n(known, found, __ATOMIC_RELEASE);
    }
    memcpy(function, &found, sizeof(found));
    if (!found)
        guard_say_inert("it was called in NCCL's place, and finds no NCCL");
    return found != NULL;
}

static bool ids_are_unique(const void *caller)
{
    static void *known;
    nccl_result (*get_version)(int *version);
    int version;

    if (find_function(&known, "ncclGetVersion", NULL, caller, &get_version) && get_version(&version) == NCCL_SUCCESS &&
        version >= SHARED_IDS_UNTIL)
        return true;
    guard_say_inert("this NCCL is older than 2.16, whose ids may come again");
    return false;
}

/* Whether this thread may join. */
static bool is_admitted(const nccl_id *ids, int count, int nranks, int rank, const struct nccl_config *config,
                        const void *caller)
{
    return !ids_are_unique(caller) || guard_admits(ids, count, nranks, rank, config);
}

EXPORTED nccl_result ncclGetUniqueId(nccl_id *id)
{
    static void *known;
    nccl_result (*get_unique_id)(nccl_id * id);
    nccl_result result;

    if (!find_function(&known, "ncclGetUniqueId", (const void *)(uintptr_t)ncclGetUniqueId, CALLER, &get_unique_id))
        return NCCL_INTERNAL_ERROR;
    result = get_unique_id(id);
    if (result == NCCL_SUCCESS)
        guard_made(id);
    return result;
}

EXPORTED nccl_result ncclCommInitRank(nccl_comm *comm, int nranks, nccl_id id, int rank)
{
    static void *known;
    nccl_result (*init)(nccl_comm * comm, int nranks, nccl_id id, int rank);

    if (!find_function(&known, "ncclCommInitRank", (const void *)(uintptr_t)ncclCommInitRank, CALLER, &init))
        return NCCL_INTERNAL_ERROR;
    return is_admitted(&id, 1, nranks, rank, NULL, CALLER) ? init(comm, nranks, id, rank) : NCCL_INVALID_USAGE;
}

EXPORTED nccl_result ncclCommInitRankConfig(nccl_comm *comm, int nranks, nccl_id id, int rank,
                                            struct nccl_config *config)
{
    static void *known;
    nccl_result (*init)(nccl_comm * comm, int nranks, nccl_id id, int rank, struct nccl_config *config);

    if (!find_function(&known, "ncclCommInitRankConfig", (const void *)(uintptr_t)ncclCommInitRankConfig, CALLER,
                       &init))
        return NCCL_INTERNAL_ERROR;
    return is_admitted(&id, 1, nranks, rank, config, CALLER) ? init(comm, nranks, id, rank, config)
                                                             : NCCL_INVALID_USAGE;
}

EXPORTED nccl_result ncclCommInitRankScalable(nccl_comm *comm, int nranks, int rank, int count, nccl_id *ids,
                                              struct nccl_config *config)
{
    static void *known;
    nccl_result (*init)(nccl_comm * comm, int nranks, int rank, int count, nccl_id *ids, struct nccl_config *config);

    if (!find_function(&known, "ncclCommInitRankScalable", (const void *)(uintptr_t)ncclCommInitRankScalable, CALLER,
                       &init))
        return NCCL_INTERNAL_ERROR;
    return is_admitted(ids, count, nranks, rank, config, CALLER) ? init(comm, nranks, rank, count, ids, config)
                                                                 : NCCL_INVALID_USAGE;
}

/* A statically linked NCCL never calls this library. With ROLLCALL_DEBUG a process that
 * has loaded CUDA's driver, but made no call, says so when it ends. */
__attribute__((destructor)) static void end(void)
{
    if (guard_debug() && getenv(RC_GUARD) && guard_calls() == 0 && dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
        guard_say_inert("NCCL was not called, or is linked into the program statically");
}
