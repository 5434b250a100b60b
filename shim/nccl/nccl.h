/* SPDX-License-Identifier: BSD-3-Clause */
/* nccl.h - of NCCL's interface what the guard stands in front of: the same layout, by nccl.h of 2.16 to 2.32.
 *
 * NCCL's own header wants CUDA's, and has not all of these in its older releases.
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
