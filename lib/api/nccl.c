/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"

/* The value of one id: a type byte, then the id or the reason for its lack. */
enum { IS_ID, IS_REASON, REASON_SIZE = 256, VALUE_SIZE = 1 + REASON_SIZE };

/* From NCCL's header, which is not a build dependency. */
struct nccl_id {
    char internal[ROLLCALL_NCCL_ID_SIZE];
};

struct nccl {
    int (*get_unique_id)(struct nccl_id *id);
    const char *(*error_string)(int result);
};

/* POSIX's conversion from an object pointer to a function pointer. */
static bool look_up(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);

    if (address)
        memcpy(function, &address, sizeof(address));
    return address;
}

/* Find the program's NCCL, with dlopen if outside of the global scope. Never close it: its thread waits for the
 * ranks. */
static bool find_nccl(struct nccl *nccl)
{
    void *handle = RTLD_DEFAULT;

    if (!dlsym(handle, "ncclGetUniqueId") && !(handle = dlopen("libnccl.so.2", RTLD_NOW)))
        return false;
    return look_up(handle, "ncclGetUniqueId", &nccl->get_unique_id) &&
           look_up(handle, "ncclGetErrorString", &nccl->error_string);
}

/* Write an id, or the reason for its lack. Return the size. */
static size_t make_id(char value[VALUE_SIZE])
{
    struct nccl_id id = { .internal = { 0 } };
    struct nccl nccl;

    if (find_nccl(&nccl)) {
        int result = nccl.get_unique_id(&id);

        if (result == 0) {
            value[0] = IS_ID;
            memcpy(value + 1, &id, sizeof(id));
            return 1 + sizeof(id);
        }
        snprintf(value + 1, REASON_SIZE, "ncclGetUniqueId failed with %u (%s)", (unsigned)result,
                 nccl.error_string(result));
    } else {
        snprintf(value + 1, REASON_SIZE, "libnccl cannot be loaded: %s", dlerror());
    }
    value[0] = IS_REASON;
    return 1 + strlen(value + 1);
}

/* Return the first rank of this root (firstRankFromRoot in NCCL's bootstrap.cc). */
static uint32_t first_rank(uint32_t id, uint32_t world, uint32_t count)
{
    uint32_t more = world % count;

    return id * (world / count) + (id < more ? id : more);
}

static int take_id(const struct rc_call *call, uint32_t maker, char value[VALUE_SIZE], size_t size, char *id,
                   struct rollcall_error *error)
{
    if (size == 1 + sizeof(struct nccl_id) && value[0] == IS_ID) {
        memcpy(id, value + 1, sizeof(struct nccl_id));
        return 0;
    }
    value[size < VALUE_SIZE ? size : VALUE_SIZE - 1] = '\0';
    return rc_job_fail(error, ROLLCALL_NO_NCCL, rc_message_entry(RC618)->id,
                       "rank %u: rank %u makes no NCCL id: %s; put libnccl.so.2 on LD_LIBRARY_PATH; NCCL_DEBUG=WARN "
                       "shows more",
                       call->rank, maker, size > 1 && value[0] == IS_REASON ? value + 1 : "it returned none");
}

static int get_ids(const struct rollcall *job, const char *name, const char *title, char *ids, int asked,
                   int timeout_ms, struct rollcall_error *error)
{
    uint32_t count = (uint32_t)asked;
    struct rc_call call;
    char value[VALUE_SIZE];
    size_t size;

    if (!job || !ids)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: job or room for an id is NULL", title);
    if (rc_call_begin(job, name, title, timeout_ms, &call, error) < 0)
        return -1;
    if (asked < 1 || count > call.world)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: count is not 1 to the number of ranks", title);
    /* create this rank's ids first: other ranks wait for them */
    for (uint32_t i = 0; i < count; i++) {
        if (first_rank(i, call.world, count) != call.rank)
            continue;
        size = make_id(value);
        if (rc_call_say(&call, i, (struct rc_str){ value, size }, error) < 0 ||
            take_id(&call, call.rank, value, size, ids + i * sizeof(struct nccl_id), error) < 0)
            return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t maker = first_rank(i, call.world, count);

        if (maker != call.rank && (rc_call_hear(&call, i, maker, value, sizeof(value), &size, error) < 0 ||
                                   take_id(&call, maker, value, size, ids + i * sizeof(struct nccl_id), error) < 0))
            return -1;
    }
    return 0;
}

int rollcall_nccl_unique_id(const struct rollcall *job, void *id, int timeout_ms, struct rollcall_error *error)
{
    return get_ids(job, "nccl:id", "rollcall_nccl_unique_id", id, 1, timeout_ms, error);
}

int rollcall_nccl_unique_ids(const struct rollcall *job, void *ids, int count, int timeout_ms,
                             struct rollcall_error *error)
{
    return get_ids(job, "nccl:ids", "rollcall_nccl_unique_ids", ids, count, timeout_ms, error);
}
