/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.h - what rollcall map shows: a topology, and where each task of it goes. */
#ifndef ROLLCALL_LIBEXEC_MAP_MAPPING_H
#define ROLLCALL_LIBEXEC_MAP_MAPPING_H

#include <stdint.h>

#include "placement/ids.h"
#include "placement/place.h"

enum { NOTES_MAX = 8, NOTE_SIZE = 200 };

struct wishes {
    const char *file; /* the file of --from; NULL for this machine */
    const char *tasks;
    const char *gpus;
    const char *cpus;
};

struct mapping {
    const char *file;
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    struct rc_pci_gpus gpus;
    struct rc_gpu_ids *ids; /* the names of each GPU */
    struct rc_nic_list nics;
    unsigned *chosen;
    size_t chosen_count;
    unsigned tasks;
    uint32_t rank;       /* this process's, RC_UNKNOWN where it is none of these tasks */
    uint32_t local_rank; /* likewise */
    struct rc_place *place;
    char note[NOTES_MAX][NOTE_SIZE];
    unsigned notes;
};

/* 0, or -1 after one line on standard error. map_free takes zeroed and
 * half-made ones as well. */
int map_make(const struct wishes *wishes, struct mapping *mapping);
void map_free(struct mapping *mapping);

/* Each returns 0, or -1 without memory. */
int map_print_text(const struct mapping *mapping);
int map_print_json(const struct mapping *mapping);

#endif
