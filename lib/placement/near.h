/* SPDX-License-Identifier: BSD-3-Clause */
/* near.h - what is near what; cores by their memory. */
#ifndef ROLLCALL_PLACEMENT_NEAR_H
#define ROLLCALL_PLACEMENT_NEAR_H

#include <hwloc.h>
#include <stdbool.h>

#include "placement/gpus.h"
#include "placement/nics.h"

/* How near a task's cores are to its GPU. */
enum rc_nearness {
    RC_NEAR_NUMA,    /* of the NUMA node, or a smaller piece, that the GPU hangs from */
    RC_NEAR_PACKAGE, /* of its package */
    RC_NEAR_FAR,     /* elsewhere */
    RC_NEAR_UNKNOWN, /* no GPU, or the topology does not say where it hangs */
};

struct rc_place {
    hwloc_bitmap_t cpus; /* hardware threads, by the kernel's numbers */
    unsigned cores;
    bool shared; /* more tasks than cores: others have these too */
    int gpu;     /* index into the list, or -1 */
    int nic;     /* likewise */
    int memory;  /* the kernel's number of the NUMA node that all its cores are in, or -1 */
    enum rc_nearness nearness;
};

/* A node's cores: those that share the nearest memory are a bin.
 *
 * First all are found. Then place.c decides how many tasks each bin has, and may
 * join some. Then they are sorted, and handed out. */

/* A core, or a hardware thread that no core holds. */
struct rc_unit {
    hwloc_obj_t object;
    unsigned bin;
};

struct rc_bin {
    hwloc_obj_t memory; /* the object that has it */
    hwloc_obj_t package;
    unsigned units;
    unsigned tasks;
    unsigned joined; /* itself, or the bin that it became part of */
    unsigned from;   /* units are handed out from here on */
    unsigned handed; /* to so many tasks */
};

struct rc_bins {
    hwloc_const_bitmap_t allowed;
    struct rc_unit *unit;
    unsigned units;
    struct rc_bin *bin;
    unsigned count;
    unsigned *order; /* unit indices, bin by bin */
};

/* Fills in all but tasks. 0, or -1 with errno: ENOMEM; EINVAL, where no allowed
 * hardware thread is in the topology. rc_bins_free is due in both cases. */
int rc_bins_find(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, struct rc_bins *bins);
void rc_bins_free(struct rc_bins *bins);

/* One task is to span both: the second has the first one's cores from now on. */
void rc_bins_join(struct rc_bins *bins, unsigned bin, unsigned into);
unsigned rc_bins_joined(const struct rc_bins *bins, unsigned bin);

/* Would the first have more cores for one more task than the second? */
bool rc_bins_emptier(const struct rc_bin *a, const struct rc_bin *b);

/* Sorts the cores by bin, once no task is going to move any more. */
void rc_bins_sort(struct rc_bins *bins);

/* Cores of a bin for the next one of its tasks: cpus, which are there and empty,
 * cores and shared. 0, or -1 with errno ENOMEM. */
int rc_bins_hand_out(struct rc_bins *bins, unsigned bin, struct rc_place *place);

/* What is near what in a topology. */

/* The processor side object that something is part of or hangs from. */
hwloc_obj_t rc_near_cpus(hwloc_obj_t object);

/* The smallest object around it that has memory; the root at last. */
hwloc_obj_t rc_near_memory(hwloc_obj_t object);

/* The kernel's number of the NUMA node that all threads of a mask are in, or -1. */
int rc_near_node(hwloc_topology_t topology, hwloc_const_bitmap_t cpus);

/* The kernel's number of the one NUMA node that something is in or hangs from;
 * -1 where it is not in a single one. */
int rc_near_numa(hwloc_obj_t object);

/* The NIC of each GPU: on the same PCI switch, else root port, NUMA node, ...;
 * of equally near ones that which fewer GPUs before it have. -1: there is none.
 * Goes through all used GPUs, so that the pairs are the same for every job. */
void rc_near_nics(const struct rc_pci_gpus *gpus, const struct rc_nic_list *nics, int *nic_of_gpu, unsigned *load);

/* The NIC next to a mask's cores, or -1; counts into load. */
int rc_near_nic(hwloc_topology_t topology, const struct rc_nic_list *nics, hwloc_const_bitmap_t cpus, unsigned *load);

#endif
