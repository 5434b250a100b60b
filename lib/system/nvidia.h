/* SPDX-License-Identifier: BSD-3-Clause */
/* nvidia.h - the node's GPUs as the NVIDIA driver's files in /proc have them; no library is opened.
 *
 * One folder a GPU, named by PCI address, with a file `information`. Its line
 * "GPU UUID:" has question marks for a GPU that was not used yet.
 */
#ifndef ROLLCALL_SYSTEM_NVIDIA_H
#define ROLLCALL_SYSTEM_NVIDIA_H

#include <stdbool.h>
#include <stddef.h>

#define RC_NVIDIA_FOLDER "/proc/driver/nvidia/gpus"

enum { RC_NVIDIA_UUID = 40, RC_NVIDIA_GPUS_MAX = 64, RC_NVIDIA_MODEL = 64 };

struct rc_nvidia_gpu {
    char address[16];              /* "0000:3b:00.0" */
    char uuid[RC_NVIDIA_UUID + 1]; /* "GPU-" and 36 digits; empty where the file does not say */
    char model[RC_NVIDIA_MODEL];   /* "NVIDIA H100 80GB HBM3"; cut where it is longer, empty as above */
    int minor;                     /* of its device file, /dev/nvidiaN; -1 where the file does not say */
};

/* All of them, for callers that ask more than once. */
struct rc_nvidia_gpus {
    struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    size_t count;
};

/* Reads the file of the GPU that gpu->address names, and sets the rest. */
void rc_nvidia_read_gpu(const char *folder, struct rc_nvidia_gpu *gpu);

/* The GPUs below the folder, ordered by address: so are Slurm's indices and, with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID, CUDA's. Returns how many there are: 0 where there
 * is no such folder, or more GPUs than there is room for. */
size_t rc_nvidia_read_gpus(const char *folder, struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX]);

#endif
