/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.h - the GPUs of a topology, by PCI class and vendor, in the order of their bus ids.
 *
 * That order is CUDA's with CUDA_DEVICE_ORDER=PCI_BUS_ID, and Slurm's. One PCI function is one GPU, however many names
 * drivers give it (cuda0, nvml0, ...). */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

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

/* Fills in what drivers call the GPUs of this machine, from files in proc and sysfs; no device and no library is opened.
 * root is put before the names of files: "", but for a test. */
void rc_pci_gpus_name(struct rc_pci_gpus *list, const char *root);

const char *rc_gpu_vendor_name(enum rc_gpu_vendor vendor);

/* The number-th GPU that a job can use, in the order of the driver's indices. In a container the topology has all of the
 * machine's, and NVIDIA's driver those that were given to it. False, with *index untouched, where there are not so many.
 */
bool rc_pci_gpus_own(const struct rc_pci_gpus *list, unsigned number, unsigned *index);

/* Finds the GPU of a name: an index of the list; a bus id, with or without its domain; a UUID that is known, or its
 * first digits. False, with *index untouched, where it is none of them. */
bool rc_pci_gpus_named(const struct rc_pci_gpus *list, struct rc_str name, unsigned *index);

/* The product's name, where the topology has one; else NULL. */
const char *rc_pci_gpu_model(const struct rc_pci_gpu *gpu);

/* How a vendor's runtime is told which GPUs it sees: launcher/gpulist.def. */
struct rc_gpu_variable {
    enum rc_gpu_vendor vendor;
    const char *name;
};

/* Ends with a row whose name is NULL. Outermost first: a later row's indices count what an earlier one left. */
extern const struct rc_gpu_variable rc_gpu_variables[];

void rc_bus_id(hwloc_obj_t pci, char text[RC_BUS_ID]);

/* Compares bus ids for a sort. */
int rc_bus_id_order(const char *a, const char *b);
