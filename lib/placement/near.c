/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/near.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_unit(struct rc_bins *bins, hwloc_topology_t topology, hwloc_obj_t object)
{
    hwloc_obj_t memory = rc_near_memory(object);
    unsigned bin = bins->count;

    if (!hwloc_bitmap_intersects(object->cpuset, bins->allowed))
        return;
    /* neighbours follow each other: as a rule it is the last one */
    while (bin > 0 && bins->bin[bin - 1].memory != memory)
        bin--;
    if (bin == 0) {
        bins->bin[bins->count] = (struct rc_bin){
            .memory = memory,
            .package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object),
            .joined = bins->count,
        };
        bin = ++bins->count;
    }
    bins->bin[bin - 1].units++;
    bins->unit[bins->units++] = (struct rc_unit){ object, bin - 1 };
}

int rc_bins_find(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, struct rc_bins *bins)
{
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    size_t most = (size_t)(cores > 0 ? cores : 0) + (size_t)(threads > 0 ? threads : 0) + 1;

    *bins = (struct rc_bins){
        .allowed = allowed,
        .unit = calloc(most, sizeof(*bins->unit)),
        .bin = calloc(most, sizeof(*bins->bin)),
        .order = calloc(most, sizeof(*bins->order)),
    };
    if (!bins->unit || !bins->bin || !bins->order)
        return -1;
    for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL;)
        add_unit(bins, topology, core);
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL;)
        if (!hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu))
            add_unit(bins, topology, pu);
    if (bins->units > 0)
        return 0;
    errno = EINVAL;
    return -1;
}

void rc_bins_free(struct rc_bins *bins)
{
    free(bins->unit);
    free(bins->bin);
    free(bins->order);
}

void rc_bins_join(struct rc_bins *bins, unsigned bin, unsigned into)
{
    bins->bin[bin].joined = into;
    bins->bin[into].units += bins->bin[bin].units;
    if (bins->bin[into].package != bins->bin[bin].package)
        bins->bin[into].package = NULL;
}

unsigned rc_bins_joined(const struct rc_bins *bins, unsigned bin)
{
    while (bins->bin[bin].joined != bin)
        bin = bins->bin[bin].joined;
    return bin;
}

bool rc_bins_emptier(const struct rc_bin *a, const struct rc_bin *b)
{
    return (uint64_t)a->units * (b->tasks + 1) > (uint64_t)b->units * (a->tasks + 1);
}

void rc_bins_sort(struct rc_bins *bins)
{
    unsigned from = 0;

    for (unsigned i = 0; i < bins->count; i++) {
        if (bins->bin[i].joined != i)
            continue;
        bins->bin[i].from = from;
        from += bins->bin[i].units;
        bins->bin[i].units = 0;
    }
    for (unsigned i = 0; i < bins->units; i++) {
        struct rc_bin *bin = &bins->bin[rc_bins_joined(bins, bins->unit[i].bin)];

        bins->order[bin->from + bin->units++] = i;
    }
}

int rc_bins_hand_out(struct rc_bins *bins, unsigned index, struct rc_place *place)
{
    struct rc_bin *bin = &bins->bin[index];
    uint64_t number = bin->handed++;
    uint64_t first = number % bin->units;
    uint64_t end = first + 1;

    place->shared = bin->tasks > bin->units;
    if (!place->shared) {
        first = number * bin->units / bin->tasks;
        end = (number + 1) * bin->units / bin->tasks;
    }
    for (uint64_t i = first; i < end; i++)
        if (hwloc_bitmap_or(place->cpus, place->cpus, bins->unit[bins->order[bin->from + i]].object->cpuset) < 0)
            return -1;
    place->cores = (unsigned)(end - first);
    return hwloc_bitmap_and(place->cpus, place->cpus, bins->allowed);
}

enum { DEPTH_MAX = 128 };

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

/* Memory of a GPU is a NUMA node, too (GH200, POWER9), but not for a program's own data. */
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
        /* of several kinds at the same cores the first is what the kernel takes by itself: DRAM, not HBM or CXL */
        if (!best || weight < least || (weight == least && node->os_index < best->os_index)) {
            best = node;
            least = weight;
        }
    }
    return best ? (int)best->os_index : -1;
}

int rc_near_numa(hwloc_obj_t object)
{
    hwloc_obj_t memory = rc_near_memory(object);
    hwloc_obj_t found = NULL;
    unsigned count = 0;

    /* a root without memory of its own has all nodes below it */
    if (memory->memory_arity == 0)
        return -1;
    for (hwloc_obj_t child = memory->memory_first_child; child; child = child->next_sibling) {
        hwloc_obj_t node = child;

        while (node && node->type != HWLOC_OBJ_NUMANODE)
            node = node->memory_first_child;
        if (!node || is_gpu_memory(node) || hwloc_bitmap_iszero(node->cpuset))
            continue;
        if (!found || node->os_index < found->os_index)
            found = node;
        count++;
    }
    return count > 0 ? (int)found->os_index : -1;
}

/* An object and what is around it, from the inside out. */
struct chain {
    hwloc_obj_t object[DEPTH_MAX];
    unsigned count;
};

static void climb_to_near(hwloc_obj_t object, struct chain *chain)
{
    for (chain->count = 0; object && chain->count < DEPTH_MAX; object = object->parent)
        chain->object[chain->count++] = object;
}

/* How far out one has to go to find it. */
static unsigned count_hops(const struct chain *chain, hwloc_obj_t object)
{
    for (; object; object = object->parent)
        for (unsigned i = 0; i < chain->count; i++)
            if (chain->object[i] == object)
                return i;
    return DEPTH_MAX;
}

static int find_nearest_nic(hwloc_obj_t from, const struct rc_nic_list *nics, unsigned *load)
{
    struct chain chain;
    unsigned least = 0;
    int best = -1;

    climb_to_near(from, &chain);
    for (size_t i = 0; i < nics->used; i++) {
        unsigned far = count_hops(&chain, nics->nic[i].pci);

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
