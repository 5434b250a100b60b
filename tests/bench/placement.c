/* SPDX-License-Identifier: BSD-3-Clause */
/* placement FILE.xml TASKS - finding GPUs and NICs and placing the tasks; with 0 tasks, reading the file. */
#include "placement/placement.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"

enum { ROUNDS = 51, TASKS = 4096 };

static bool place_once(hwloc_topology_t topology, unsigned tasks)
{
    static struct rc_place place[TASKS];
    static unsigned chosen[TASKS];
    struct rc_pci_gpus gpus;
    struct rc_nic_list nics;
    struct rc_place_request request = { .topology = topology, .gpus = &gpus, .nics = &nics, .tasks = tasks };

    if (rc_pci_gpus_find(topology, &gpus) < 0 || rc_nics_find(topology, &nics) < 0)
        return false;
    for (unsigned i = 0; i < gpus.used && i < TASKS; i++)
        chosen[request.chosen_count++] = i;
    request.chosen = chosen;
    if (rc_place_tasks(&request, place) < 0)
        return false;
    rc_place_free(place, tasks);
    free(gpus.gpu);
    rc_nics_free(&nics);
    return true;
}

int main(int argc, char **argv)
{
    char error[RC_TOPOLOGY_ERROR];
    hwloc_topology_t topology;
    unsigned tasks = argc == 3 ? (unsigned)atoi(argv[2]) : TASKS + 1;
    double start = bench_wall();

    if (tasks > TASKS || rc_topology_load(argv[1], RC_TOPOLOGY_ALL, &topology, error) < 0)
        return 2;
    if (tasks == 0)
        printf("%.0f (hwloc reads the topology)\n", bench_wall() - start);
    for (unsigned i = 0; tasks > 0 && i < ROUNDS; i++) {
        start = bench_wall();
        if (!place_once(topology, tasks))
            return 1;
        printf("%.0f\n", bench_wall() - start);
    }
    hwloc_topology_destroy(topology);
    return 0;
}
