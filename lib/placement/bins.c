/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/bins.h"

#include <errno.h>
#include <stdlib.h>

#include "placement/near.h"

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
