/* SPDX-License-Identifier: BSD-3-Clause */
/* nccl-allreduce.c - an all-reduce with NCCL, and no MPI in it.
 *
 * librollcall says who this process is, and gives all ranks one NCCL id. Any
 * launcher will do on one node, srun --ddp (or srun --mpi=pmix) on several:
 *
 *   srun --ddp -N2 --ntasks-per-node=4 --gpus-per-task=1 ./nccl-allreduce
 *   mpirun -np 4 ./nccl-allreduce
 *
 * Each rank gives its rank + 1; all have to get N * (N + 1) / 2 back.
 *
 * NCCL and CUDA's runtime are opened at run time, so that this builds where
 * neither is installed; of their headers it needs the few lines below. A program
 * that is linked with them calls them directly. Ends with 77 where there is no
 * GPU, no CUDA or no NCCL, before it has asked for an id.
 */
#include <rollcall.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20, SKIPPED = 77, TIMEOUT_MS = 60000 };

/* nccl.h and cuda_runtime_api.h: numbers that do not change between releases. */
enum { NCCL_FLOAT = 7, NCCL_SUM = 0, TO_DEVICE = 1, TO_HOST = 2 };

struct nccl_id {
    char internal[ROLLCALL_NCCL_ID_SIZE];
};

static struct {
    int (*comm_init_rank)(void **comm, int size, struct nccl_id id, int rank);
    int (*all_reduce)(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
    int (*comm_destroy)(void *comm);
    const char *(*error_string)(int result);
} nccl;

static struct {
    int (*device_count)(int *count);
    int (*set_device)(int device);
    int (*allocate)(void **memory, size_t size);
    int (*release)(void *memory);
    int (*copy)(void *to, const void *from, size_t size, int kind);
    int (*synchronize)(void);
    const char *(*error_string)(int result);
} cuda;

static void *open_one_of(const char *const names[])
{
    void *handle = NULL;

    for (; *names && !handle; names++)
        handle = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    return handle;
}

static int look_up(void *handle, const char *name, void *function)
{
    void *address = handle ? dlsym(handle, name) : NULL;

    if (address)
        memcpy(function, &address, sizeof(address));
    return address != NULL;
}

static int open_libraries(void)
{
    static const char *const nccl_names[] = { "libnccl.so.2", NULL };
    static const char *const cuda_names[] = { "libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                              NULL };
    void *n = open_one_of(nccl_names);
    void *c = open_one_of(cuda_names);

    return look_up(n, "ncclCommInitRank", &nccl.comm_init_rank) && look_up(n, "ncclAllReduce", &nccl.all_reduce) &&
           look_up(n, "ncclCommDestroy", &nccl.comm_destroy) && look_up(n, "ncclGetErrorString", &nccl.error_string) &&
           look_up(c, "cudaGetDeviceCount", &cuda.device_count) && look_up(c, "cudaSetDevice", &cuda.set_device) &&
           look_up(c, "cudaMalloc", &cuda.allocate) && look_up(c, "cudaFree", &cuda.release) &&
           look_up(c, "cudaMemcpy", &cuda.copy) && look_up(c, "cudaDeviceSynchronize", &cuda.synchronize) &&
           look_up(c, "cudaGetErrorString", &cuda.error_string);
}

static void check_nccl(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %s\n", what, nccl.error_string(result));
        exit(1);
    }
}

static void check_cuda(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %s\n", what, cuda.error_string(result));
        exit(1);
    }
}

/* Sums rank + 1 over all ranks, for COUNT numbers at once. */
static int all_reduce(int rank, int size, int local_rank, int devices, struct nccl_id id)
{
    const float expected = (float)size * (float)(size + 1) / 2;
    float *host = malloc(COUNT * sizeof(*host));
    void *device;
    void *comm;
    int wrong = 0;

    if (!host)
        return 1;
    /* a task that sees one GPU alone, as with --gpus-per-task=1, has number 0 */
    check_cuda(cuda.set_device(local_rank % devices), "cudaSetDevice");
    check_cuda(cuda.allocate(&device, COUNT * sizeof(*host)), "cudaMalloc");
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)(rank + 1);
    check_cuda(cuda.copy(device, host, COUNT * sizeof(*host), TO_DEVICE), "cudaMemcpy");
    check_nccl(nccl.comm_init_rank(&comm, size, id, rank), "ncclCommInitRank");
    check_nccl(nccl.all_reduce(device, device, COUNT, NCCL_FLOAT, NCCL_SUM, comm, NULL), "ncclAllReduce");
    check_cuda(cuda.synchronize(), "cudaDeviceSynchronize");
    check_cuda(cuda.copy(host, device, COUNT * sizeof(*host), TO_HOST), "cudaMemcpy");
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] < expected || host[i] > expected;
    printf("rank %d of %d: %g everywhere, expected %g: %s\n", rank, size, (double)host[0], (double)expected,
           wrong ? "WRONG" : "good");
    check_nccl(nccl.comm_destroy(comm), "ncclCommDestroy");
    check_cuda(cuda.release(device), "cudaFree");
    free(host);
    return wrong != 0;
}

int main(void)
{
    struct rollcall_error error;
    struct rollcall *job;
    struct nccl_id id;
    int devices = 0;
    int rank, size, local_rank;
    int status;

    if (!open_libraries() || cuda.device_count(&devices) != 0 || devices == 0) {
        fputs("no GPU, no CUDA runtime or no NCCL here\n", stderr);
        return SKIPPED;
    }
    if (rollcall_create(NULL, &job, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    /* without a launcher there is one rank */
    rank = rollcall_rank(job) < 0 ? 0 : rollcall_rank(job);
    size = rollcall_world_size(job) < 0 ? 1 : rollcall_world_size(job);
    local_rank = rollcall_local_rank(job) < 0 ? 0 : rollcall_local_rank(job);
    if (rollcall_nccl_unique_id(job, &id, TIMEOUT_MS, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        rollcall_destroy(job);
        return 1;
    }
    status = all_reduce(rank, size, local_rank, devices, id);
    rollcall_destroy(job);
    return status;
}
