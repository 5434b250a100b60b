/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h - where each task of a node goes. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>

#include "placement/gpus.h"
#include "placement/nics.h"

struct rc_place {
    hwloc_bitmap_t cpus; /* hardware threads, by the kernel's numbers */
    unsigned cores;
    bool shared; /* more tasks than cores: others have these too */
    int gpu;     /* index into the list, or -1 */
    int nic;     /* likewise */
    int memory;  /* the kernel's number of the NUMA node that all its cores are in, or -1 */
};

/* GPU, cores, memory and NIC for each task of a node, from one topology.
 *
 * A task gets whole cores (all allowed threads of a core together) near its GPU: of the NUMA node that the GPU hangs
 * from; of its package, where that has none left; else of any. Neighbours' cores are disjoint wherever there is one for
 * each; a mask is never wider than what is allowed and never empty. Tasks without a GPU, or whose GPU has no known
 * place, split the node in the order of its NUMA nodes. The same input gives the same plan on each of the node's tasks,
 * so each may compute it for itself.
 *
 * Applying it (sched_setaffinity, visible devices) is the caller's. */

enum { RC_PLACE_TASKS_MAX = 65536 };

/* In the list of chosen GPUs: none, or one that the topology does not know. */
#define RC_PLACE_NO_GPU UINT32_MAX

struct rc_place_request {
    hwloc_topology_t topology;
    hwloc_const_bitmap_t allowed; /* hardware threads; NULL: all that the topology has */
    const struct rc_pci_gpus *gpus;
    const struct rc_nic_list *nics;
    unsigned tasks;         /* of this node, 1..RC_PLACE_TASKS_MAX */
    const unsigned *chosen; /* indices into gpus: the GPU of local rank r is the r-th, modulo; */
    size_t chosen_count;    /* 0: no task has one */
};

/* Fills in place[0..tasks-1]. 0, or -1 with errno: ENOMEM; EINVAL, where no allowed hardware thread is in the topology.
 * rc_place_free frees the masks, not the array. */
int rc_place_tasks(const struct rc_place_request *request, struct rc_place *place);
void rc_place_free(struct rc_place *place, unsigned tasks);
