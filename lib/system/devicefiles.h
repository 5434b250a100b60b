/* SPDX-License-Identifier: BSD-3-Clause */
/* devicefiles.h - which of the node's GPUs this process may open, without opening one.
 *
 * A device cgroup answers access(2) as it answers open(2): EPERM for what it
 * denies (both ask the kernel's inode_permission; seen with cgroup v1 and v2). No
 * driver is woken by it. Files: /dev/nvidia0 and on; where there are none of
 * these, /dev/dri/renderD128 and on, which AMD and Intel have. */
#ifndef ROLLCALL_SYSTEM_DEVICEFILES_H
#define ROLLCALL_SYSTEM_DEVICEFILES_H

#include "launcher/facts.h"

/* Fills in here->gpu_files and its neighbours. */
void rc_device_files_find(struct rc_here *here);

#endif
