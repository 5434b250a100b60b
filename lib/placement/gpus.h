/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.h - GPUs on the PCI bus, and their UUIDs. */
#ifndef ROLLCALL_PLACEMENT_GPUS_H
#define ROLLCALL_PLACEMENT_GPUS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "system/gpufiles.h"

/* The GPUs of a topology, by PCI class and vendor, in the order of their bus ids.
 *
 * That order is CUDA's with CUDA_DEVICE_ORDER=PCI_BUS_ID, and Slurm's. One PCI
 * function is one GPU, however many names drivers give it (cuda0, nvml0, ...). */

enum rc_gpu_vendor { RC_GPU_NVIDIA, RC_GPU_AMD, RC_GPU_INTEL, RC_GPU_VENDORS };

enum { RC_BUS_ID = 24 };

struct rc_pci_gpu {
    hwloc_obj_t pci;
    enum rc_gpu_vendor vendor;
    char bus_id[RC_BUS_ID]; /* "0000:3b:00.0" */
    bool integrated;        /* part of the processor (Intel's at 0000:00:02.0) */
};

struct rc_pci_gpus {
    struct rc_pci_gpu *gpu;
    size_t count; /* of all vendors: those of `vendor` stand first */
    size_t used;  /* of the vendor whose runtime a job uses: the first in the order above that there is */
};

/* 0, or -1 without memory. free() list->gpu. */
int rc_pci_gpus_find(hwloc_topology_t topology, struct rc_pci_gpus *list);

/* Whether one of the machine's PCI devices is a GPU of these vendors, without hwloc: from files that the kernel
 * answers by itself. `folder`: RC_SYSFS_PCI, or another one like it. */
bool rc_pci_gpus_are_there(const char *folder);

const char *rc_gpu_vendor_name(enum rc_gpu_vendor vendor);

/* Finds the GPU of a name: an index of the list; a bus id, with or without
 * its domain; where the driver tells (NULL: nothing), a UUID or its first digits. False, with *index untouched, where
 * it is none of them. */
bool rc_pci_gpus_named(const struct rc_pci_gpus *list, struct rc_str name, const struct rc_nvidia_gpus *driver,
                       unsigned *index);

/* The product's name, where the topology has one; else NULL. */
const char *rc_pci_gpu_model(const struct rc_pci_gpu *gpu);

/* How a vendor's runtime is told which GPUs it sees: launcher/gpulist.def. */
struct rc_gpu_variable {
    enum rc_gpu_vendor vendor;
    const char *name;
    const char *forms; /* of an entry, beside its index */
    const char *order; /* of the indices */
};

/* Ends with a row whose name is NULL. Outermost first: a later row's indices
 * count what an earlier one left. */
extern const struct rc_gpu_variable rc_gpu_variables[];

void rc_bus_id(hwloc_obj_t pci, char text[RC_BUS_ID]);

/* What runtimes, Slurm and the kernel call a GPU, beside its bus id and its index by that.
 *
 * From files of the drivers' in proc and sysfs; no device and no library is opened.
 * Of a topology that is not this machine's, what its file has from hwloc's own
 * backends, UUIDs alone. */

enum { RC_IDS_UUID = 48, RC_IDS_RENDER = 24, RC_IDS_SLICES = 200 };

struct rc_gpu_ids {
    char uuid[RC_IDS_UUID];     /* "GPU-...", as CUDA_ and ROCR_VISIBLE_DEVICES take it; "": not known */
    char render[RC_IDS_RENDER]; /* "renderD128" in /dev/dri, or "" */
    int minor;                  /* of NVIDIA's: N of /dev/nvidiaN; -1 */
    int rocr;                   /* of AMD's: its index for ROCR_VISIBLE_DEVICES, without which HIP counts alike; -1 */
    char slices[RC_IDS_SLICES]; /* of NVIDIA's, that MIG has made of it: "gi1/ci0,gi2/ci0", as far as there is room */
    unsigned slice_count;       /* all of them */
};

/* Fills in ids[0..list->count-1]. root stands before the names of files, "" for
 * this machine's; NULL: of these no file is looked at. */
void rc_gpu_ids_find(const struct rc_pci_gpus *list, const char *root, struct rc_gpu_ids *ids);

#endif
