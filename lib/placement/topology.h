/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h - a machine's topology, read without waking a driver.
 *
 * hwloc's backends for CUDA, NVML, OpenCL, Level Zero, ROCm SMI and X open the devices (CUDA would be initialised
 * before a fork), so they are left out: the plugins' files are not even loaded. GPUs and NICs come from PCI and sysfs.
 * Linked by programs of rollcall's own alone, never by what is loaded into others.
 */
#pragma once

#include <hwloc.h>
#include <stddef.h>

enum { RC_TOPOLOGY_ERROR = 160, RC_TOPOLOGY_FILE_MAX = 64 * 1024 * 1024 };

/* How much of this machine is looked at; each has what comes before it. PCI is most of the time: the kernel asks each
 * device, and a sleeping one wakes up. Of a file all is there. */
enum rc_topology_depth {
    RC_TOPOLOGY_CORES, /* and memory */
    RC_TOPOLOGY_GPUS,  /* PCI, with what is between a device and the cores */
    RC_TOPOLOGY_CARDS, /* the kernel's names of devices, and states of ports */
    RC_TOPOLOGY_ALL,   /* caches and names of models: for people */
};

/* This machine's, or that of a file (hwloc's XML, as lstopo writes it). 0, and the caller destroys it; or -1 with one
 * line in error. Sets variables of hwloc's in the environment of this process, where they are not set. */
int rc_topology_load(const char *file, enum rc_topology_depth depth, hwloc_topology_t *topology,
                     char error[RC_TOPOLOGY_ERROR]);
