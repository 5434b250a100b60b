/* SPDX-License-Identifier: BSD-3-Clause */
/* ids.h - what runtimes, Slurm and the kernel call a GPU, beside its bus id and its index by that.
 *
 * From files of the drivers' in proc and sysfs; no device and no library is opened.
 * Of a topology that is not this machine's, what its file has from hwloc's own
 * backends, UUIDs alone.
 */
#ifndef ROLLCALL_PLACEMENT_IDS_H
#define ROLLCALL_PLACEMENT_IDS_H

#include "placement/pcigpus.h"

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
