/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.h - what the NVIDIA driver's files say of the node's GPUs; no library of its is opened.
 *
 * One folder a GPU, named by PCI address, with a file `information`. Its line
 * "GPU UUID:" has question marks for a GPU that nobody has used yet.
 */
#ifndef ROLLCALL_SYSTEM_GPUS_H
#define ROLLCALL_SYSTEM_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#define RC_GPU_FOLDER "/proc/driver/nvidia/gpus"

enum { RC_GPU_UUID = 40, RC_GPUS_MAX = 64 };

struct rc_gpu {
    char address[16];           /* "0000:3b:00.0" */
    char uuid[RC_GPU_UUID + 1]; /* "GPU-" and 36 digits; empty where the file does not say */
};

/* Those below the folder in the order of their addresses, which is that of
 * Slurm's indices and, with CUDA_DEVICE_ORDER=PCI_BUS_ID, of CUDA's. Returns how
 * many there are: 0 where there is no such folder, or more than there is room for. */
size_t rc_gpus_read(const char *folder, struct rc_gpu gpu[RC_GPUS_MAX]);

#endif
