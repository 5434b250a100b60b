/* SPDX-License-Identifier: BSD-3-Clause */
/* seat.h - whole cores for each task of a node, near what it asks to be near to.
 *
 * Tasks that ask for the same object are seated together in the bins of cores
 * (bins.h) near it, those with the least choice first. More tasks than a bin has
 * cores move on, in their package, then anywhere. place.h says what comes of it.
 */
#ifndef ROLLCALL_PLACEMENT_SEAT_H
#define ROLLCALL_PLACEMENT_SEAT_H

#include "placement/result.h"

struct rc_seats {
    hwloc_topology_t topology;
    hwloc_const_bitmap_t allowed;
    unsigned tasks;          /* 1.. */
    const hwloc_obj_t *near; /* of each task; the root: anywhere */
};

/* Fills in cpus, which are there and empty, cores and shared of
 * place[0..tasks-1]. 0, or -1 with errno: ENOMEM; EINVAL, where no allowed
 * hardware thread is in the topology. */
int rc_seat_tasks(const struct rc_seats *wanted, struct rc_place *place);

#endif
