/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.h - a node's topology, GPUs and network cards, and the placement of its tasks. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* topology.c: reads a topology without opening a device.
 *
 * hwloc's backends for CUDA, NVML, OpenCL, Level Zero, ROCm SMI and X open devices (CUDA would be initialised before a
 * fork), so their plugins are not loaded. GPUs and NICs come from PCI and sysfs. Link only into rollcall's programs. */

enum { RC_TOPOLOGY_ERROR = 160, RC_TOPOLOGY_FILE_MAX = 64 * 1024 * 1024 };

/* Each level includes those before. PCI is the slowest: it queries and wakes each device. A file is read completely. */
enum rc_topology_depth {
    RC_TOPOLOGY_CORES, /* and memory */
    RC_TOPOLOGY_GPUS,  /* PCI, with what is between a device and the cores */
    RC_TOPOLOGY_CARDS, /* names of devices, and states of ports */
    RC_TOPOLOGY_ALL,   /* caches and model names, for display */
};

/* Load this machine's topology, or a file of lstopo's XML; the caller destroys it. Return 0, or -1 with a line in
 * `error`. Sets unset variables of hwloc. */
int rc_topology_load(const char *file, enum rc_topology_depth depth, hwloc_topology_t *topology,
                     char error[RC_TOPOLOGY_ERROR]);

/* gpus.c: GPUs by PCI class and vendor, in the order of bus ids: that of Slurm, and of CUDA with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID. One PCI function is one GPU, whatever drivers' names (cuda0, nvml0, ...). */

enum rc_gpu_vendor { RC_GPU_NVIDIA, RC_GPU_AMD, RC_GPU_INTEL, RC_GPU_VENDORS };

enum { RC_BUS_ID = 24, RC_GPU_UUID = 48 };

struct rc_pci_gpu {
    hwloc_obj_t pci;
    enum rc_gpu_vendor vendor;
    char bus_id[RC_BUS_ID]; /* "0000:3b:00.0" */
    bool integrated;        /* part of the processor (Intel's at 0000:00:02.0) */
    /* set by rc_pci_gpus_name(): */
    char uuid[RC_GPU_UUID]; /* "GPU-...", as in CUDA_VISIBLE_DEVICES, or "" */
    int minor;              /* N of /dev/nvidiaN; -1: not in NVIDIA's driver */
};

struct rc_pci_gpus {
    struct rc_pci_gpu *gpu;
    size_t count; /* of all vendors, the used ones first */
    size_t used;  /* of the first vendor: one job uses one runtime */
};

/* Return 0, or -1 if memory is exhausted. The caller frees list->gpu. */
int rc_pci_gpus_find(hwloc_topology_t topology, struct rc_pci_gpus *list);

/* Set the drivers' names of this machine's GPUs from proc and sysfs, without opening a device. root: prefix of the
 * paths, "" except in tests. */
void rc_pci_gpus_name(struct rc_pci_gpus *list, const char *root);

const char *rc_gpu_vendor_name(enum rc_gpu_vendor vendor);

/* Find the number-th usable GPU, in the order of the driver's indices: in a container NVIDIA's driver has only some
 * GPUs of the topology. Return false, with *index unchanged, if there are fewer. */
bool rc_pci_gpus_own(const struct rc_pci_gpus *list, unsigned number, unsigned *index);

/* Find a GPU by index, bus id (domain optional) or unique UUID prefix. Return false, with *index unchanged, if there is
 * none. */
bool rc_pci_gpus_named(const struct rc_pci_gpus *list, struct rc_str name, unsigned *index);

/* Return the product's name or NULL. */
static inline const char *rc_pci_gpu_model(const struct rc_pci_gpu *gpu)
{
    return hwloc_obj_get_info_by_name(gpu->pci, "PCIDevice");
}

void rc_bus_id(hwloc_obj_t pci, char text[RC_BUS_ID]);

/* nics.c: network cards. */

/* In order of preference: later kinds are ignored if there is an earlier one. */
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
    const char *fabric;  /* "mlx5_0", "cxi0": for NCCL_IB_HCA; or NULL */
    const char *network; /* "ib0", "hsn0", "eth0"; or NULL */
    unsigned port;       /* first active port of the fabric */
    bool down;           /* unusable: no active port, or Ethernet without an address */
    bool silent;         /* on this machine, and the interface has no address */
    /* For variables of libraries: plain names of usable devices; else "". */
    char card[RC_NIC_NAME]; /* with the port unless it is the first */
    char interface[RC_NIC_NAME];
};

struct rc_nic_list {
    struct rc_nic *nic;
    size_t count; /* those that are down last; by kind, then by bus id */
    size_t used;  /* of the first kind that is up */
    char *cards;  /* of all used ones: "mlx5_0,mlx5_1" */
    char *interfaces;
};

/* Return 0, or -1 if memory is exhausted; call rc_nics_free() in both cases. The topology owns the names. */
int rc_nics_find(hwloc_topology_t topology, struct rc_nic_list *list);
void rc_nics_free(struct rc_nic_list *list);

const char *rc_nic_kind_name(enum rc_nic_kind kind);

/* Return the usual name of a card that has two. */
const char *rc_nic_name(const struct rc_nic *nic);

/* near.c: return the nearest ancestor that has cores. */
hwloc_obj_t rc_near_cpus(hwloc_obj_t object);

/* Return the smallest ancestor that has memory, else the root. */
hwloc_obj_t rc_near_memory(hwloc_obj_t object);

/* Return the kernel's number of the NUMA node that holds all these threads, or -1. */
int rc_near_node(hwloc_topology_t topology, hwloc_const_bitmap_t cpus);

/* Return the kernel's number of the only NUMA node near the object, or -1. */
int rc_near_numa(hwloc_topology_t topology, hwloc_obj_t object);

/* Find the NIC of each GPU, or -1: on the same PCI switch, else root port, NUMA node, ...; if equally near, the less
 * used. Each job gets the same pairs. */
void rc_near_nics(const struct rc_pci_gpus *gpus, const struct rc_nic_list *nics, int *nic_of_gpu, unsigned *load);

/* Return the NIC nearest to these cores, or -1; adds to `load`. */
int rc_near_nic(hwloc_topology_t topology, const struct rc_nic_list *nics, hwloc_const_bitmap_t cpus, unsigned *load);

/* place.c: GPU, cores, memory and NIC for each task of a node.
 *
 * A task gets whole cores (all allowed threads) of its GPU's NUMA node, else of its package, else any; disjoint ones if
 * there are enough. A mask is never empty. Tasks without a GPU of known place split the node in the order of its NUMA
 * nodes. The plan is deterministic, so each task may compute it. The caller applies it. */

enum { RC_PLACE_TASKS_MAX = 65536 };

/* In `chosen`: no GPU, or one that the topology lacks. */
#define RC_PLACE_NO_GPU UINT32_MAX

struct rc_place {
    hwloc_bitmap_t cpus; /* hardware threads, by the kernel's numbers */
    unsigned cores;
    bool shared; /* more tasks than cores: others have these */
    int gpu;     /* index into the list, or -1 */
    int nic;     /* index into the list, or -1 */
    int memory;  /* NUMA node of all its cores, by the kernel's number, or -1 */
};

struct rc_place_request {
    hwloc_topology_t topology;
    hwloc_const_bitmap_t allowed; /* hardware threads; NULL: all */
    const struct rc_pci_gpus *gpus;
    const struct rc_nic_list *nics;
    unsigned tasks;         /* of this node, 1..RC_PLACE_TASKS_MAX */
    const unsigned *chosen; /* indices into gpus; local rank r has the r-th, modulo chosen_count */
    size_t chosen_count;    /* 0: no task has a GPU */
};

/* Set place[0..tasks-1]. Return 0, or -1 with errno set: ENOMEM, or EINVAL if no hardware thread is allowed.
 * rc_place_free() frees the masks, not the array. */
int rc_place_tasks(const struct rc_place_request *request, struct rc_place *place);
void rc_place_free(struct rc_place *place, unsigned tasks);
