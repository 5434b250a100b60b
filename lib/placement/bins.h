/* SPDX-License-Identifier: BSD-3-Clause */
/* bins.h - a node's cores: those that share the nearest memory are a bin.
 *
 * First all are found. Then seat.c decides how many tasks each bin has, and may
 * join some. Then they are sorted, and handed out.
 */
#ifndef ROLLCALL_PLACEMENT_BINS_H
#define ROLLCALL_PLACEMENT_BINS_H

#include "placement/result.h"

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

#endif
