/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h - a machine's topology, read without waking a driver.
 *
 * hwloc's backends for CUDA, NVML, OpenCL, Level Zero, ROCm SMI and X open the
 * devices (CUDA would be initialised before a fork), so they are left out: the
 * plugins' files are not even loaded. GPUs and NICs come from PCI and sysfs.
 * Linked by programs of rollcall's own alone, never by what is loaded into others.
 */
#ifndef ROLLCALL_PLACEMENT_TOPOLOGY_H
#define ROLLCALL_PLACEMENT_TOPOLOGY_H

#include <hwloc.h>
#include <stddef.h>

enum { RC_TOPOLOGY_ERROR = 160, RC_TOPOLOGY_FILE_MAX = 64 * 1024 * 1024 };

/* This machine's, or that of a file (hwloc's XML, as lstopo writes it). 0, and
 * the caller destroys it; or -1 with one line in error. Sets variables of
 * hwloc's in the environment of this process, where they are not set. */
int rc_topology_load(const char *file, hwloc_topology_t *topology, char error[RC_TOPOLOGY_ERROR]);

#endif
