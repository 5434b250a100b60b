/* SPDX-License-Identifier: BSD-3-Clause */
/* In NCCL's place, with its signatures: says with what it was called, which the real one cannot without a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

typedef struct {
    char internal[128];
} ncclUniqueId;

struct config {
    size_t size;
    unsigned magic, version;
    int blocking;
};

/* Of all its bytes: what is passed by value must arrive whole. */
static unsigned sum(const ncclUniqueId *id, int n)
{
    unsigned s = 5381;

    for (size_t i = 0; i < n * sizeof(*id); i++)
        s = s * 33 + ((const unsigned char *)id)[i];
    return s;
}

int ncclGetVersion(int *version)
{
    *version = getenv("FAKE_VERSION") ? atoi(getenv("FAKE_VERSION")) : 23203;
    return 0;
}

int ncclGetUniqueId(ncclUniqueId *id)
{
    return getrandom(id, sizeof(*id), 0) == sizeof(*id) ? 0 : 2;
}

static int joined(void **comm, const char *how, int nranks, int rank, unsigned id, const struct config *config)
{
    static char communicator;

    *comm = &communicator;
    printf("nccl: %s %d of %d id=%u blocking=%d\n", how, rank, nranks, id, config ? config->blocking : -1);
    return 0;
}

int ncclCommInitRank(void **comm, int nranks, ncclUniqueId id, int rank)
{
    return joined(comm, "init", nranks, rank, sum(&id, 1), NULL);
}

int ncclCommInitRankConfig(void **comm, int nranks, ncclUniqueId id, int rank, struct config *config)
{
    return joined(comm, "config", nranks, rank, sum(&id, 1), config);
}

int ncclCommInitRankScalable(void **comm, int nranks, int rank, int n, ncclUniqueId *ids, struct config *config)
{
    return joined(comm, "scalable", nranks, rank, sum(ids, n), config);
}
