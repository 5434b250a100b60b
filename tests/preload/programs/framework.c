/* SPDX-License-Identifier: BSD-3-Clause */
/* In torch's place: needs libnccl.so.2, and is loaded into a scope of its own by join.c. */
#include <string.h>

typedef struct {
    char internal[128];
} ncclUniqueId;

struct config {
    size_t size;
    unsigned magic, version;
    int blocking;
};

int ncclGetUniqueId(ncclUniqueId *id);
int ncclCommInitRank(void **comm, int nranks, ncclUniqueId id, int rank);
int ncclCommInitRankConfig(void **comm, int nranks, ncclUniqueId id, int rank, struct config *config);
int ncclCommInitRankScalable(void **comm, int nranks, int rank, int n, ncclUniqueId *ids, struct config *config);

int framework_id(void *id)
{
    return ncclGetUniqueId(id);
}

int framework_join(const char *how, int nranks, int rank, const void *bytes)
{
    struct config config = { sizeof(config), 0xcafebeef, 23203, strcmp(how, "nonblocking") ? 1 : 0 };
    ncclUniqueId ids[2];
    void *comm = NULL;

    memcpy(&ids[0], bytes, sizeof(ids[0]));
    ids[1] = ids[0];
    if (!strcmp(how, "scalable"))
        return ncclCommInitRankScalable(&comm, nranks, rank, 2, ids, &config);
    if (!strcmp(how, "init"))
        return ncclCommInitRank(&comm, nranks, ids[0], rank);
    return ncclCommInitRankConfig(&comm, nranks, ids[0], rank, &config);
}
