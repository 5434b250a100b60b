/* SPDX-License-Identifier: BSD-3-Clause */
/* nccl.h - the part of NCCL's interface that the guard intercepts, with the layout of nccl.h 2.16 to 2.32.
 *
 * NCCL's own header needs CUDA's, and older releases lack some of these.
 */
#ifndef ROLLCALL_SHIM_NCCL_NCCL_H
#define ROLLCALL_SHIM_NCCL_NCCL_H

#include <stddef.h>

enum { NCCL_ID_SIZE = 128 };

typedef struct {
    char internal[NCCL_ID_SIZE];
} nccl_id;

typedef void *nccl_comm;

typedef enum {
    NCCL_SUCCESS = 0,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_USAGE = 5,
} nccl_result;

/* The beginning of ncclConfig_t, which grows at its end. */
struct nccl_config {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
};

enum { NCCL_CONFIG_MAGIC = 0xcafebeef };

#endif
