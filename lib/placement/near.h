/* SPDX-License-Identifier: BSD-3-Clause */
/* near.h - what is near what in a topology. */
#pragma once

#include <hwloc.h>

#include "placement/gpus.h"
#include "placement/nics.h"

/* The processor side object that something is part of or hangs from. */
hwloc_obj_t rc_near_cpus(hwloc_obj_t object);

/* The smallest object around it that has memory; the root at last. */
hwloc_obj_t rc_near_memory(hwloc_obj_t object);

/* The kernel's number of the NUMA node that all threads of a mask are in, or -1. */
int rc_near_node(hwloc_topology_t topology, hwloc_const_bitmap_t cpus);

/* The kernel's number of the one NUMA node that something is in or hangs from; -1 where it is not in a single one. */
int rc_near_numa(hwloc_topology_t topology, hwloc_obj_t object);

/* The NIC of each GPU: on the same PCI switch, else root port, NUMA node, ...; of equally near ones that which fewer
 * GPUs before it have. -1: there is none. Goes through all used GPUs, so that the pairs are the same for every job. */
void rc_near_nics(const struct rc_pci_gpus *gpus, const struct rc_nic_list *nics, int *nic_of_gpu, unsigned *load);

/* The NIC next to a mask's cores, or -1; counts into load. */
int rc_near_nic(hwloc_topology_t topology, const struct rc_nic_list *nics, hwloc_const_bitmap_t cpus, unsigned *load);
