/* SPDX-License-Identifier: BSD-3-Clause */
/* gpufiles.h - GPUs from files in /dev, /proc and /sys, without a vendor's library. */
#pragma once

#include "launcher/launcher.h"

#define RC_SYSFS_PCI    "/sys/bus/pci/devices"                                       /* folders named by address */
#define RC_SYSFS_ONLINE "/sys/devices/system/cpu/online"                             /* list of hardware threads */
#define RC_SYSFS_CORE   "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list" /* of one core */

/* A folder per GPU, named by PCI address, with a file `information`. Its "GPU UUID:" has question marks until the first
 * use. */

#define RC_NVIDIA_FOLDER       "/proc/driver/nvidia/gpus"
#define RC_NVIDIA_CAPABILITIES "/proc/driver/nvidia/capabilities"

enum { RC_NVIDIA_UUID = 40, RC_NVIDIA_GPUS_MAX = 64, RC_NVIDIA_MODEL = 64 };

struct rc_nvidia_gpu {
    char address[16];              /* "0000:3b:00.0" */
    char uuid[RC_NVIDIA_UUID + 1]; /* "GPU-" and 36 characters; empty if unknown */
    char model[RC_NVIDIA_MODEL];   /* "NVIDIA H100 80GB HBM3", cut; empty if unknown */
    int minor;                     /* N of /dev/nvidiaN; -1 if unknown */
};

/* For qsort(), also of structs that begin with an address. */
int rc_pci_address_order(const void *a, const void *b);

/* Fill in *gpu for gpu->address. */
void rc_nvidia_read_gpu(const char *folder, struct rc_nvidia_gpu *gpu);

/* Read the folder's GPUs in PCI order, as in Slurm and, with CUDA_DEVICE_ORDER=PCI_BUS_ID, CUDA. Return their number,
 * or 0 if unknown or too many. */
size_t rc_nvidia_read_gpus(const char *folder, struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX]);

/* GPUs that this process may open. Opening would wake the driver; a device cgroup answers access(2) like open(2) (both
 * call inode_permission(); tested with cgroup v1 and v2). Files: /dev/nvidia0 and up, else /dev/dri/renderD128 and up
 * (AMD, Intel). NVIDIA's minor numbers may not follow PCI order, as Slurm's and CUDA's indices do, so map them if
 * possible. */

/* Set here->gpu_files, gpu_files_open, gpus_open, gpu_slices and gpu_files_amd. */
void rc_device_files_find(struct rc_here *here);
