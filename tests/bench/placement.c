/* SPDX-License-Identifier: BSD-3-Clause */
/* What a placement costs: placement FILE.xml TASKS. Prints microseconds: reading the file; finding GPUs and NICs
 * and placing the tasks (median of 101). */
#include "placement/place.h"
#include "placement/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "median.h"

enum { ROUNDS = 101, TASKS = 4096 };

static double microseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int place_once(hwloc_topology_t topology, unsigned tasks)
{
    static struct rc_place place[TASKS];
    static unsigned chosen[TASKS];
    struct rc_pci_gpus gpus;
    struct rc_nic_list nics;
    struct rc_place_request request = { .topology = topology, .gpus = &gpus, .nics = &nics, .tasks = tasks };

    if (rc_pci_gpus_find(topology, &gpus) < 0 || rc_nics_find(topology, &nics) < 0)
        return -1;
    for (unsigned i = 0; i < gpus.used && i < TASKS; i++)
        chosen[request.chosen_count++] = i;
    request.chosen = chosen;
    if (rc_place_tasks(&request, place) < 0)
        return -1;
    rc_place_free(place, tasks);
    free(gpus.gpu);
    free(nics.nic);
    return 0;
}

int main(int argc, char **argv)
{
    static double times[ROUNDS];
    char error[RC_TOPOLOGY_ERROR];
    hwloc_topology_t topology;
    unsigned tasks = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
    double start = microseconds_now();
    double loaded;

    if (tasks == 0 || tasks > TASKS || rc_topology_load(argv[1], RC_TOPOLOGY_ALL, &topology, error) < 0)
        return 2;
    loaded = microseconds_now() - start;
    for (unsigned i = 0; i < ROUNDS; i++) {
        start = microseconds_now();
        if (place_once(topology, tasks) < 0)
            return 1;
        times[i] = microseconds_now() - start;
    }
    printf("%.0f %.0f\n", loaded, median(times, ROUNDS));
    hwloc_topology_destroy(topology);
    return 0;
}
