/* SPDX-License-Identifier: BSD-3-Clause */
/* result.h - where one task is to go on its machine (place.h). */
#ifndef ROLLCALL_PLACEMENT_RESULT_H
#define ROLLCALL_PLACEMENT_RESULT_H

#include <hwloc.h>
#include <stdbool.h>

/* How near a task's cores are to its GPU. */
enum rc_nearness {
    RC_NEAR_NUMA,    /* of the NUMA node, or a smaller piece, that the GPU hangs from */
    RC_NEAR_PACKAGE, /* of its package */
    RC_NEAR_FAR,     /* elsewhere */
    RC_NEAR_UNKNOWN, /* no GPU, or the topology does not say where it hangs */
};

struct rc_place {
    hwloc_bitmap_t cpus; /* hardware threads, by the kernel's numbers */
    unsigned cores;
    bool shared; /* more tasks than cores: others have these too */
    int gpu;     /* index into the list, or -1 */
    int nic;     /* likewise */
    int memory;  /* the kernel's number of the NUMA node that all its cores are in, or -1 */
    enum rc_nearness nearness;
};

#endif
