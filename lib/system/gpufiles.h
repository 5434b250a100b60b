/* SPDX-License-Identifier: BSD-3-Clause */
/* gpufiles.h - GPUs by the files of /dev, /proc and /sys. */
#pragma once

#include "launcher/launcher.h"

#define RC_SYSFS_PCI    "/sys/bus/pci/devices"           /* a folder for each device, named by address */
#define RC_SYSFS_ONLINE "/sys/devices/system/cpu/online" /* a list of hardware threads */
#define RC_SYSFS_CORE   "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list" /* the same, of one core */

/* The node's GPUs as the NVIDIA driver's files in /proc have them; no library is opened.
 *
 * One folder a GPU, named by PCI address, with a file `information`. Its line
 * "GPU UUID:" has question marks for a GPU that was not used yet. */

#define RC_NVIDIA_FOLDER       "/proc/driver/nvidia/gpus"
#define RC_NVIDIA_CAPABILITIES "/proc/driver/nvidia/capabilities"

enum { RC_NVIDIA_UUID = 40, RC_NVIDIA_GPUS_MAX = 64, RC_NVIDIA_MODEL = 64 };

struct rc_nvidia_gpu {
    char address[16];              /* "0000:3b:00.0" */
    char uuid[RC_NVIDIA_UUID + 1]; /* "GPU-" and 36 digits; empty where the file does not say */
    char model[RC_NVIDIA_MODEL];   /* "NVIDIA H100 80GB HBM3"; cut where it is longer, empty as above */
    int minor;                     /* of its device file, /dev/nvidiaN; -1 where the file does not say */
};

/* Compares PCI addresses for a sort, also of structs that begin with one. */
int rc_pci_address_order(const void *a, const void *b);

/* Reads the file of the GPU that gpu->address names, and sets the rest. */
void rc_nvidia_read_gpu(const char *folder, struct rc_nvidia_gpu *gpu);

/* The GPUs below the folder, ordered by address: so are Slurm's indices and, with CUDA_DEVICE_ORDER=PCI_BUS_ID, CUDA's.
 * Returns how many there are: 0 where there is no such folder, or more GPUs than there is room for. */
size_t rc_nvidia_read_gpus(const char *folder, struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX]);

/* Which of the node's GPUs this process may open, without opening one.
 *
 * A device cgroup answers access(2) as it answers open(2): EPERM for what it denies (both ask the kernel's
 * inode_permission; seen with cgroup v1 and v2). No driver is woken by it. Files: /dev/nvidia0 and on; where there are
 * none of these, /dev/dri/renderD128 and on, which AMD and Intel have.
 *
 * A file's minor number is its GPU's place in the machine, unless the driver's own files (above) give it another one:
 * on some machines NVIDIA's minor numbers do not follow the PCI addresses, and Slurm's and CUDA's indices do. */

/* Fills in here->gpu_files, gpu_files_open, gpus_open and gpu_files_amd. What
 * cannot be read counts as not there. Thread safety: as safe as *here. */
void rc_device_files_find(struct rc_here *here);
