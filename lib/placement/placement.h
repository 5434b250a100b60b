/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.h - a machine's topology, its GPUs and network cards, and where each task of a node goes. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* topology.c: a machine's topology, read without waking a driver.
 *
 * hwloc's backends for CUDA, NVML, OpenCL, Level Zero, ROCm SMI and X open the devices (CUDA would be initialised
 * before a fork), so they are left out: the plugins' files are not even loaded. GPUs and NICs come from PCI and sysfs.
 * Linked by programs of rollcall's own alone, never by what is loaded into others. */

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

/* gpus.c: the GPUs of a topology, by PCI class and vendor, in the order of their bus ids.
 *
 * That order is CUDA's with CUDA_DEVICE_ORDER=PCI_BUS_ID, and Slurm's. One PCI function is one GPU, however many names
 * drivers give it (cuda0, nvml0, ...). */

enum rc_gpu_vendor { RC_GPU_NVIDIA, RC_GPU_AMD, RC_GPU_INTEL, RC_GPU_VENDORS };

enum { RC_BUS_ID = 24, RC_GPU_UUID = 48 };

struct rc_pci_gpu {
    hwloc_obj_t pci;
    enum rc_gpu_vendor vendor;
    char bus_id[RC_BUS_ID]; /* "0000:3b:00.0" */
    bool integrated;        /* part of the processor (Intel's at 0000:00:02.0) */
    /* by rc_pci_gpus_name: */
    char uuid[RC_GPU_UUID]; /* "GPU-...", as CUDA_ and ROCR_VISIBLE_DEVICES take it; "": not known */
    int minor;              /* N of /dev/nvidiaN; -1: NVIDIA's driver does not have it */
};

struct rc_pci_gpus {
    struct rc_pci_gpu *gpu;
    size_t count; /* of all vendors: those that are used come first */
    size_t used;  /* of the vendor whose runtime a job uses: the first in the order above that there is */
};

/* 0, or -1 without memory. free() list->gpu. */
int rc_pci_gpus_find(hwloc_topology_t topology, struct rc_pci_gpus *list);

/* Fills in what drivers call the GPUs of this machine, from files in proc and sysfs; no device and no library is
 * opened. root is put before the names of files: "", but for a test. */
void rc_pci_gpus_name(struct rc_pci_gpus *list, const char *root);

const char *rc_gpu_vendor_name(enum rc_gpu_vendor vendor);

/* The number-th GPU that a job can use, in the order of the driver's indices. In a container the topology has all of
 * the machine's, and NVIDIA's driver those that were given to it. False, with *index untouched, where there are not so
 * many. */
bool rc_pci_gpus_own(const struct rc_pci_gpus *list, unsigned number, unsigned *index);

/* Finds the GPU of a name: an index of the list; a bus id, with or without its domain; a UUID that is known, or its
 * first digits. False, with *index untouched, where it is none of them. */
bool rc_pci_gpus_named(const struct rc_pci_gpus *list, struct rc_str name, unsigned *index);

/* The product's name, where the topology has one; else NULL. */
static inline const char *rc_pci_gpu_model(const struct rc_pci_gpu *gpu)
{
    return hwloc_obj_get_info_by_name(gpu->pci, "PCIDevice");
}

void rc_bus_id(hwloc_obj_t pci, char text[RC_BUS_ID]);

/* nics.c: network cards. */

/* In the order in which a job wants them: where there is one of a kind, those of a later one are for something else. */
enum rc_nic_kind {
    RC_NIC_INFINIBAND,
    RC_NIC_SLINGSHOT,
    RC_NIC_EFA,
    RC_NIC_OMNIPATH,
    RC_NIC_ROCE,
    RC_NIC_ETHERNET,
    RC_NIC_KINDS
};

enum { RC_NIC_NAME = 80 };

struct rc_nic {
    hwloc_obj_t pci;
    enum rc_nic_kind kind;
    char bus_id[RC_BUS_ID];
    const char *fabric;  /* "mlx5_0", "cxi0": for NCCL_IB_HCA and the like; NULL where there is none */
    const char *network; /* "ib0", "hsn0", "eth0"; NULL where there is none */
    unsigned port;       /* of the fabric: the first that is active */
    bool down;           /* no port is active, or it is Ethernet without an address: none for a job */
    bool silent;         /* on this machine, and the interface has no address to be reached by */
    /* What libraries may be told, "" where there is nothing to say: names as the kernel gives them, whatever a file
     * has, and of what can be used. */
    char card[RC_NIC_NAME]; /* with its port where that is not the first */
    char interface[RC_NIC_NAME];
};

struct rc_nic_list {
    struct rc_nic *nic;
    size_t count; /* those that are down last; by kind, then by bus id */
    size_t used;  /* of the first kind that there is and that is not down */
    char *cards;  /* of all that a job uses: "mlx5_0,mlx5_1" */
    char *interfaces;
};

/* 0, or -1 without memory; the caller frees the list in both cases. The names live as long as the topology. */
int rc_nics_find(hwloc_topology_t topology, struct rc_nic_list *list);
void rc_nics_free(struct rc_nic_list *list);

const char *rc_nic_kind_name(enum rc_nic_kind kind);

/* The one name of a card that has two. */
const char *rc_nic_name(const struct rc_nic *nic);

/* near.c: what is near what. */

/* The processor side object that something is part of or hangs from. */
hwloc_obj_t rc_near_cpus(hwloc_obj_t object);

/* The smallest object around it that has memory; the root at last. */
hwloc_obj_t rc_near_memory(hwloc_obj_t object);

/* The kernel's number of the NUMA node that all threads of a mask are in, or -1. */
int rc_near_node(hwloc_topology_t topology, hwloc_const_bitmap_t cpus);

/* The kernel's number of the one NUMA node that something is in or hangs from; -1 where it is not in a single one. */
int rc_near_numa(hwloc_topology_t topology, hwloc_obj_t object);

/* The NIC of each GPU: on the same PCI switch, else root port, NUMA node, ...; of equally near ones that which fewer
 * GPUs before it have. -1: there is none. Goes through all GPUs, so that the pairs are the same for every job. */
void rc_near_nics(const struct rc_pci_gpus *gpus, const struct rc_nic_list *nics, int *nic_of_gpu, unsigned *load);

/* The NIC next to a mask's cores, or -1; counts into load. */
int rc_near_nic(hwloc_topology_t topology, const struct rc_nic_list *nics, hwloc_const_bitmap_t cpus, unsigned *load);

/* place.c: GPU, cores, memory and NIC for each task of a node, from one topology.
 *
 * A task gets whole cores (all allowed threads of a core together) near its GPU: of the NUMA node that the GPU hangs
 * from; of its package, where that has none left; else of any. Neighbours' cores are disjoint wherever there is one for
 * each; a mask is never wider than what is allowed and never empty. Tasks without a GPU, or whose GPU has no known
 * place, split the node in the order of its NUMA nodes. The same input gives the same plan on each of the node's tasks,
 * so each may compute it for itself. Applying it (sched_setaffinity, visible devices) is the caller's. */

enum { RC_PLACE_TASKS_MAX = 65536 };

/* In the list of chosen GPUs: none, or one that the topology does not know. */
#define RC_PLACE_NO_GPU UINT32_MAX

struct rc_place {
    hwloc_bitmap_t cpus; /* hardware threads, by the kernel's numbers */
    unsigned cores;
    bool shared; /* more tasks than cores: others have these too */
    int gpu;     /* index into the list, or -1 */
    int nic;     /* likewise */
    int memory;  /* the kernel's number of the NUMA node that all its cores are in, or -1 */
};

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
