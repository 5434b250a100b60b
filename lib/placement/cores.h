/* SPDX-License-Identifier: BSD-3-Clause */
/* cores.h - whole cores for each task of a node, near what it asks to be near to. */
#ifndef ROLLCALL_PLACEMENT_CORES_H
#define ROLLCALL_PLACEMENT_CORES_H

#include "placement/place.h"

/* Tasks that ask to be near the same object (the root: anywhere) are seated together
 * in the bins of cores that share a memory near it, those with the least choice
 * first. More tasks than a bin has cores move on, in their package, then anywhere.
 *
 * Fills in cpus, which are there and empty, cores and shared of
 * place[0..tasks-1]. 0, or -1 with errno: ENOMEM; EINVAL, where no allowed
 * hardware thread is in the topology. */
int rc_cores_hand_out(const struct rc_place_request *request, const hwloc_obj_t *near, struct rc_place *place);

#endif
