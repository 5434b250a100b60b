/* SPDX-License-Identifier: BSD-3-Clause */
/* devicefiles.h - which of the node's GPUs this process may open, without opening one.
 *
 * A device cgroup answers access(2) as it answers open(2): EPERM for what it
 * denies (both ask the kernel's inode_permission; seen with cgroup v1 and v2). No
 * driver is woken by it. Files: /dev/nvidia0 and on; where there are none of
 * these, /dev/dri/renderD128 and on, which AMD and Intel have.
 *
 * A file's minor number is its GPU's place in the machine, unless the driver's
 * own files (nvidia.h) give it another one: on some machines NVIDIA's minor
 * numbers do not follow the PCI addresses, and Slurm's and CUDA's indices do.
 */
#ifndef ROLLCALL_SYSTEM_DEVICEFILES_H
#define ROLLCALL_SYSTEM_DEVICEFILES_H

#include "launcher/facts.h"

/* Fills in here->gpu_files, gpu_files_open, gpus_open and gpu_files_amd. What
 * cannot be read counts as not there. Thread safety: as safe as *here. */
void rc_device_files_find(struct rc_here *here);

#endif
