/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/place.h"

#include <errno.h>
#include <stdlib.h>

#include "placement/cores.h"
#include "placement/near.h"

static enum rc_nearness judge_nearness(const struct rc_place_request *request, const struct rc_place *place)
{
    hwloc_obj_t near;
    hwloc_obj_t package;

    if (place->gpu < 0)
        return RC_NEAR_UNKNOWN;
    near = rc_near_cpus(request->gpus->gpu[place->gpu].pci);
    package = hwloc_get_ancestor_obj_by_type(request->topology, HWLOC_OBJ_PACKAGE, near);
    if (near->type == HWLOC_OBJ_PACKAGE)
        package = near;
    if (rc_near_numa(near) < 0 && !package)
        return RC_NEAR_UNKNOWN;
    if (hwloc_bitmap_isincluded(place->cpus, rc_near_memory(near)->cpuset))
        return RC_NEAR_NUMA;
    return package && hwloc_bitmap_isincluded(place->cpus, package->cpuset) ? RC_NEAR_PACKAGE : RC_NEAR_FAR;
}

static int place_nics(const struct rc_place_request *request, struct rc_place *place)
{
    int *nic_of_gpu = calloc(request->gpus->count + 1, sizeof(*nic_of_gpu));
    unsigned *load = calloc(request->nics->count + 1, sizeof(*load));
    int status = nic_of_gpu && load ? 0 : -1;

    if (status == 0)
        rc_near_nics(request->gpus, request->nics, nic_of_gpu, load);
    for (unsigned i = 0; status == 0 && i < request->tasks; i++)
        place[i].nic = place[i].gpu >= 0 ? nic_of_gpu[place[i].gpu]
                                         : rc_near_nic(request->topology, request->nics, place[i].cpus, load);
    free(nic_of_gpu);
    free(load);
    return status;
}

/* The cores of each task: near its GPU, where it has one. */
static int place_cores(const struct rc_place_request *request, struct rc_place *place)
{
    hwloc_obj_t *near = malloc(request->tasks * sizeof(*near));
    int status;

    if (!near)
        return -1;
    for (unsigned i = 0; i < request->tasks; i++)
        near[i] = place[i].gpu >= 0 ? rc_near_cpus(request->gpus->gpu[place[i].gpu].pci)
                                    : hwloc_get_root_obj(request->topology);
    status = rc_cores_hand_out(request, near, place);
    free(near);
    return status;
}

static int place_all(const struct rc_place_request *request, struct rc_place *place)
{
    if (place_cores(request, place) < 0)
        return -1;
    for (unsigned i = 0; i < request->tasks; i++) {
        place[i].memory = rc_near_node(request->topology, place[i].cpus);
        place[i].nearness = judge_nearness(request, &place[i]);
    }
    return place_nics(request, place);
}

static bool in_range(const struct rc_place_request *request)
{
    for (size_t i = 0; i < request->chosen_count; i++)
        if (request->chosen[i] >= request->gpus->count && request->chosen[i] != RC_PLACE_NO_GPU)
            return false;
    return request->tasks > 0 && request->tasks <= RC_PLACE_TASKS_MAX;
}

void rc_place_free(struct rc_place *place, unsigned tasks)
{
    for (unsigned i = 0; i < tasks; i++) {
        hwloc_bitmap_free(place[i].cpus);
        place[i].cpus = NULL;
    }
}

int rc_place_tasks(const struct rc_place_request *request, struct rc_place *place)
{
    int status = 0;

    if (!in_range(request)) {
        errno = EINVAL;
        return -1;
    }
    for (unsigned i = 0; i < request->tasks; i++) {
        place[i] = (struct rc_place){ .cpus = hwloc_bitmap_alloc(), .gpu = -1, .nic = -1, .memory = -1 };
        if (request->chosen_count > 0 && request->chosen[i % request->chosen_count] != RC_PLACE_NO_GPU)
            place[i].gpu = (int)request->chosen[i % request->chosen_count];
        if (!place[i].cpus)
            status = -1;
    }
    if (status < 0)
        errno = ENOMEM;
    else
        status = place_all(request, place);
    if (status < 0)
        rc_place_free(place, request->tasks);
    return status;
}
