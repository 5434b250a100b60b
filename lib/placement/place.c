/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - cores with the same nearest memory form a bin, tasks near the same object a group. Groups are assigned to
 * bins, then each bin's cores are divided among its tasks. */
#include "placement/placement.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A core, or a hardware thread outside any core. */
struct unit {
    hwloc_obj_t object;
    unsigned bin;
};

struct bin {
    hwloc_obj_t memory; /* the object that has it */
    hwloc_obj_t package;
    unsigned units; /* 0: merged into another bin */
    unsigned tasks;
    unsigned handed; /* tasks that have their cores */
};

struct group {
    hwloc_obj_t near; /* the root: anywhere */
    unsigned tasks;
    unsigned reach; /* bins with cores near it */
};

struct work {
    const struct rc_place_request *request;
    struct rc_place *place;
    hwloc_const_bitmap_t allowed;
    struct unit *unit;
    unsigned units;
    struct bin *bin;
    unsigned bins;
    bool *reached; /* by bin: has cores near the current group */
    struct group *group;
    unsigned groups;
    unsigned *group_of; /* by task */
    unsigned *bin_of;   /* by task */
};

enum { NOWHERE = UINT32_MAX };

static void add_unit(struct work *work, hwloc_obj_t object)
{
    hwloc_obj_t memory = rc_near_memory(object);
    unsigned bin = work->bins;

    if (!hwloc_bitmap_intersects(object->cpuset, work->allowed))
        return;
    /* usually the last one */
    while (bin > 0 && work->bin[bin - 1].memory != memory)
        bin--;
    if (bin == 0) {
        work->bin[work->bins] = (struct bin){
            .memory = memory,
            .package = hwloc_get_ancestor_obj_by_type(work->request->topology, HWLOC_OBJ_PACKAGE, object),
        };
        bin = ++work->bins;
    }
    work->bin[bin - 1].units++;
    work->unit[work->units++] = (struct unit){ object, bin - 1 };
}

static int find_bins(struct work *work)
{
    hwloc_topology_t topology = work->request->topology;

    for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL;)
        add_unit(work, core);
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL;)
        if (!hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu))
            add_unit(work, pu);
    if (work->units > 0)
        return 0;
    errno = EINVAL;
    return -1;
}

static void find_groups(struct work *work)
{
    const struct rc_place_request *request = work->request;

    for (unsigned task = 0; task < request->tasks; task++) {
        int gpu = work->place[task].gpu;
        hwloc_obj_t near = gpu >= 0 ? rc_near_cpus(request->gpus->gpu[gpu].pci) : hwloc_get_root_obj(request->topology);
        unsigned group = 0;

        while (group < work->groups && work->group[group].near != near)
            group++;
        if (group == work->groups)
            work->group[work->groups++].near = near;
        work->group[group].tasks++;
        work->group_of[task] = group;
    }
}

/* Mark and count the bins with cores near an object. */
static unsigned count_reach(struct work *work, hwloc_obj_t near)
{
    unsigned count = 0;

    memset(work->reached, 0, work->bins * sizeof(*work->reached));
    for (unsigned i = 0; i < work->units; i++) {
        const struct unit *unit = &work->unit[i];

        /* all bins are near the root, whatever the cores in a topology file */
        if (!work->reached[unit->bin] &&
            (!near->parent || hwloc_bitmap_intersects(unit->object->cpuset, near->cpuset))) {
            work->reached[unit->bin] = true;
            count++;
        }
    }
    return count;
}

/* If no core near a group is allowed, look further out. */
static void find_reach(struct work *work)
{
    for (unsigned i = 0; i < work->groups; i++) {
        struct group *group = &work->group[i];

        while ((group->reach = count_reach(work, group->near)) == 0 && group->near->parent)
            group->near = group->near->parent;
    }
}

/* Return true if one more task would have more cores in `a` than in `b`. */
static bool is_emptier(const struct bin *a, const struct bin *b)
{
    return (uint64_t)a->units * (b->tasks + 1) > (uint64_t)b->units * (a->tasks + 1);
}

static unsigned find_emptiest_bin(const struct work *work)
{
    unsigned best = NOWHERE;

    for (unsigned i = 0; i < work->bins; i++)
        if (work->reached[i] && (best == NOWHERE || is_emptier(&work->bin[i], &work->bin[best])))
            best = i;
    return best;
}

/* Return the bin at the middle of the task's share of the reached bins. */
static unsigned find_bin_by_share(const struct work *work, unsigned task, unsigned tasks)
{
    uint64_t total = 0;
    uint64_t middle;
    unsigned bin;

    for (unsigned i = 0; i < work->bins; i++)
        total += work->reached[i] ? work->bin[i].units : 0;
    middle = (2 * (uint64_t)task + 1) * total / (2 * (uint64_t)tasks);
    for (bin = 0; !work->reached[bin] || middle >= work->bin[bin].units; bin++)
        middle -= work->reached[bin] ? work->bin[bin].units : 0;
    return bin;
}

static void join_reached_bins(struct work *work)
{
    struct bin *joined = NULL;

    for (unsigned i = 0; i < work->bins; i++) {
        if (!work->reached[i])
            continue;
        if (!joined) {
            joined = &work->bin[i];
            continue;
        }
        joined->units += work->bin[i].units;
        if (joined->package != work->bin[i].package)
            joined->package = NULL;
        work->bin[i].units = 0;
        work->reached[i] = false;
        for (unsigned unit = 0; unit < work->units; unit++)
            if (work->unit[unit].bin == i)
                work->unit[unit].bin = (unsigned)(joined - work->bin);
    }
}

static void seat_group(struct work *work, unsigned group)
{
    unsigned tasks = work->group[group].tasks;
    unsigned count = count_reach(work, work->group[group].near);
    bool beside_others = false;
    unsigned seated = 0;

    for (unsigned i = 0; i < work->bins; i++)
        beside_others = beside_others || (work->reached[i] && work->bin[i].tasks > 0);
    /* fewer tasks than bins, and no other task there: each spans several bins */
    if (!beside_others && tasks < count)
        join_reached_bins(work);
    for (unsigned task = 0; task < work->request->tasks; task++) {
        if (work->group_of[task] != group)
            continue;
        work->bin_of[task] = beside_others ? find_emptiest_bin(work) : find_bin_by_share(work, seated, tasks);
        work->bin[work->bin_of[task]].tasks++;
        seated++;
    }
}

/* Start with the groups that reach the fewest bins. */
static void seat_groups(struct work *work)
{
    for (unsigned width = 0; width != NOWHERE;) {
        unsigned next = NOWHERE;

        for (unsigned i = 0; i < work->groups; i++) {
            if (work->group[i].reach == width)
                seat_group(work, i);
            else if (work->group[i].reach > width && work->group[i].reach < next)
                next = work->group[i].reach;
        }
        width = next;
    }
}

static unsigned find_bin_with_room(const struct work *work, unsigned home, bool same_package)
{
    hwloc_obj_t package = work->bin[home].package;
    unsigned best = NOWHERE;

    for (unsigned i = 0; i < work->bins; i++) {
        const struct bin *bin = &work->bin[i];

        if (bin->tasks >= bin->units || (same_package && (!package || bin->package != package)))
            continue;
        if (best == NOWHERE || is_emptier(bin, &work->bin[best]))
            best = i;
    }
    return best;
}

/* If a bin has more tasks than cores, move the last ones to a bin with room, preferably in the package. */
static void move_tasks_apart(struct work *work)
{
    for (unsigned task = work->request->tasks; task-- > 0;) {
        unsigned home = work->bin_of[task];
        unsigned other;

        if (work->bin[home].tasks <= work->bin[home].units)
            continue;
        other = find_bin_with_room(work, home, true);
        if (other == NOWHERE)
            other = find_bin_with_room(work, home, false);
        if (other == NOWHERE)
            continue;
        work->bin[home].tasks--;
        work->bin[other].tasks++;
        work->bin_of[task] = other;
    }
}

static int hand_out_units(struct work *work, unsigned index, struct rc_place *place)
{
    struct bin *bin = &work->bin[index];
    uint64_t number = bin->handed++;
    uint64_t first = number % bin->units;
    uint64_t end = first + 1;
    uint64_t at = 0;

    place->shared = bin->tasks > bin->units;
    if (!place->shared) {
        first = number * bin->units / bin->tasks;
        end = (number + 1) * bin->units / bin->tasks;
    }
    for (unsigned i = 0; i < work->units && at < end; i++) {
        if (work->unit[i].bin != index || at++ < first)
            continue;
        if (hwloc_bitmap_or(place->cpus, place->cpus, work->unit[i].object->cpuset) < 0)
            return -1;
    }
    place->cores = (unsigned)(end - first);
    return hwloc_bitmap_and(place->cpus, place->cpus, work->allowed);
}

static int seat_tasks(struct work *work)
{
    if (find_bins(work) < 0)
        return -1;
    find_groups(work);
    find_reach(work);
    seat_groups(work);
    move_tasks_apart(work);
    for (unsigned i = 0; i < work->request->tasks; i++)
        if (hand_out_units(work, work->bin_of[i], &work->place[i]) < 0)
            return -1;
    return 0;
}

/* Set cpus (must be allocated and empty), cores and shared of each task. */
static int place_cores(const struct rc_place_request *request, struct rc_place *place)
{
    hwloc_topology_t topology = request->topology;
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    size_t most = (size_t)(cores > 0 ? cores : 0) + (size_t)(threads > 0 ? threads : 0) + 1;
    struct work work = {
        .request = request,
        .place = place,
        .allowed = request->allowed ? request->allowed : hwloc_topology_get_allowed_cpuset(topology),
        .unit = calloc(most, sizeof(*work.unit)),
        .bin = calloc(most, sizeof(*work.bin)),
        .reached = calloc(most, sizeof(*work.reached)),
        .group = calloc(request->tasks, sizeof(*work.group)),
        .group_of = calloc(request->tasks, sizeof(*work.group_of)),
        .bin_of = calloc(request->tasks, sizeof(*work.bin_of)),
    };
    int status = -1;

    if (work.unit && work.bin && work.reached && work.group && work.group_of && work.bin_of)
        status = seat_tasks(&work);
    free(work.unit);
    free(work.bin);
    free(work.reached);
    free(work.group);
    free(work.group_of);
    free(work.bin_of);
    return status;
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

    for (unsigned i = 0; i < request->tasks; i++) {
        place[i] = (struct rc_place){ .cpus = hwloc_bitmap_alloc(), .gpu = -1, .nic = -1, .memory = -1 };
        if (request->chosen_count > 0 && request->chosen[i % request->chosen_count] != RC_PLACE_NO_GPU)
            place[i].gpu = (int)request->chosen[i % request->chosen_count];
        if (!place[i].cpus)
            status = -1;
    }
    if (status < 0 || place_cores(request, place) < 0 || place_nics(request, place) < 0) {
        rc_place_free(place, request->tasks);
        return -1;
    }
    for (unsigned i = 0; i < request->tasks; i++)
        place[i].memory = rc_near_node(request->topology, place[i].cpus);
    return 0;
}
