/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/placement.h"

#include <string.h>

hwloc_obj_t rc_near_cpus(hwloc_obj_t object)
{
    while (object->parent && !object->cpuset)
        object = object->parent;
    return object;
}

hwloc_obj_t rc_near_memory(hwloc_obj_t object)
{
    object = rc_near_cpus(object);
    while (object->parent && object->memory_arity == 0)
        object = object->parent;
    return object;
}

/* GPU memory can be a NUMA node (GH200, POWER9), but not for a program's data. */
static bool is_gpu_memory(hwloc_obj_t node)
{
    return node->subtype && strcmp(node->subtype, "GPUMemory") == 0;
}

int rc_near_node(hwloc_topology_t topology, hwloc_const_bitmap_t cpus)
{
    hwloc_obj_t best = NULL;
    int least = 0;

    for (hwloc_obj_t node = NULL; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL;) {
        int weight = hwloc_bitmap_weight(node->cpuset);

        if (is_gpu_memory(node) || !hwloc_bitmap_isincluded(cpus, node->cpuset))
            continue;
        /* if several kinds of memory share the cores, the first is the kernel's default: DRAM, not HBM or CXL */
        if (!best || weight < least || (weight == least && node->os_index < best->os_index)) {
            best = node;
            least = weight;
        }
    }
    return best ? (int)best->os_index : -1;
}

int rc_near_numa(hwloc_topology_t topology, hwloc_obj_t object)
{
    return rc_near_node(topology, rc_near_cpus(object)->cpuset);
}

/* Return the hops from `from` to the first common ancestor. */
static unsigned count_hops(hwloc_obj_t from, hwloc_obj_t object)
{
    unsigned hops = 0;

    for (; from; from = from->parent, hops++)
        for (hwloc_obj_t around = object; around; around = around->parent)
            if (around == from)
                return hops;
    return hops;
}

static int find_nearest_nic(hwloc_obj_t from, const struct rc_nic_list *nics, unsigned *load)
{
    unsigned least = 0;
    int best = -1;

    for (size_t i = 0; i < nics->used; i++) {
        unsigned far = count_hops(from, nics->nic[i].pci);

        if (best < 0 || far < least || (far == least && load[i] < load[best])) {
            least = far;
            best = (int)i;
        }
    }
    if (best >= 0)
        load[best]++;
    return best;
}

void rc_near_nics(const struct rc_pci_gpus *gpus, const struct rc_nic_list *nics, int *nic_of_gpu, unsigned *load)
{
    for (size_t i = 0; i < gpus->count; i++)
        nic_of_gpu[i] = find_nearest_nic(gpus->gpu[i].pci, nics, load);
}

int rc_near_nic(hwloc_topology_t topology, const struct rc_nic_list *nics, hwloc_const_bitmap_t cpus, unsigned *load)
{
    hwloc_obj_t around = hwloc_get_obj_covering_cpuset(topology, cpus);

    return find_nearest_nic(around ? around : hwloc_get_root_obj(topology), nics, load);
}
