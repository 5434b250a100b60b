/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/place.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "placement/near.h"

/* A node's cores: those that share the nearest memory are a bin.
 *
 * First all are found. Then it is decided how many tasks each bin has, and some bins are joined. Then the cores
 * are sorted by bin, and handed out. */

/* A core, or a hardware thread that no core holds. */
struct unit {
    hwloc_obj_t object;
    unsigned bin;
};

struct bin {
    hwloc_obj_t memory; /* the object that has it */
    hwloc_obj_t package;
    unsigned units;
    unsigned tasks;
    unsigned joined; /* itself, or the bin that it became part of */
    unsigned from;   /* units are handed out from here on */
    unsigned handed; /* to so many tasks */
};

struct bins {
    hwloc_const_bitmap_t allowed;
    struct unit *unit;
    unsigned units;
    struct bin *bin;
    unsigned count;
    unsigned *order; /* unit indices, bin by bin */
};

static void add_unit(struct bins *bins, hwloc_topology_t topology, hwloc_obj_t object)
{
    hwloc_obj_t memory = rc_near_memory(object);
    unsigned bin = bins->count;

    if (!hwloc_bitmap_intersects(object->cpuset, bins->allowed))
        return;
    /* neighbours follow each other: as a rule it is the last one */
    while (bin > 0 && bins->bin[bin - 1].memory != memory)
        bin--;
    if (bin == 0) {
        bins->bin[bins->count] = (struct bin){
            .memory = memory,
            .package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object),
            .joined = bins->count,
        };
        bin = ++bins->count;
    }
    bins->bin[bin - 1].units++;
    bins->unit[bins->units++] = (struct unit){ object, bin - 1 };
}

/* Fills in all but tasks. 0, or -1 with errno. free_bins is due in both cases. */
static int find_bins(const struct rc_place_request *request, struct bins *bins)
{
    hwloc_topology_t topology = request->topology;
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    size_t most = (size_t)(cores > 0 ? cores : 0) + (size_t)(threads > 0 ? threads : 0) + 1;

    *bins = (struct bins){
        .allowed = request->allowed ? request->allowed : hwloc_topology_get_allowed_cpuset(topology),
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

static void free_bins(struct bins *bins)
{
    free(bins->unit);
    free(bins->bin);
    free(bins->order);
}

/* One task is to span both: the second has the first one's cores from now on. */
static void join_bin(struct bins *bins, unsigned bin, unsigned into)
{
    bins->bin[bin].joined = into;
    bins->bin[into].units += bins->bin[bin].units;
    if (bins->bin[into].package != bins->bin[bin].package)
        bins->bin[into].package = NULL;
}

static unsigned find_joined_bin(const struct bins *bins, unsigned bin)
{
    while (bins->bin[bin].joined != bin)
        bin = bins->bin[bin].joined;
    return bin;
}

/* Would the first have more cores for one more task than the second? */
static bool is_emptier(const struct bin *a, const struct bin *b)
{
    return (uint64_t)a->units * (b->tasks + 1) > (uint64_t)b->units * (a->tasks + 1);
}

/* Sorts the cores by bin, once no task is going to move any more. */
static void sort_units(struct bins *bins)
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
        struct bin *bin = &bins->bin[find_joined_bin(bins, bins->unit[i].bin)];

        bins->order[bin->from + bin->units++] = i;
    }
}

/* Cores of a bin for the next one of its tasks: cpus, cores and shared. 0, or -1 with errno ENOMEM. */
static int hand_out_units(struct bins *bins, unsigned index, struct rc_place *place)
{
    struct bin *bin = &bins->bin[index];
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

/* Tasks that are to be near the same object. */
struct group {
    hwloc_obj_t near;
    unsigned tasks;
    unsigned reach; /* bins with cores near it */
};

struct work {
    const struct rc_place_request *request;
    const hwloc_obj_t *near; /* what each task asks to be near to */
    struct bins bins;
    struct group *group;
    unsigned groups;
    unsigned *group_of; /* task */
    unsigned *bin_of;   /* task */
    bool *reached;      /* bin: scratch of one group */
};

enum { NOWHERE = UINT32_MAX };

static int prepare_bins(struct work *work)
{
    size_t tasks = work->request->tasks;

    if (find_bins(work->request, &work->bins) < 0)
        return -1;
    work->group = calloc(tasks, sizeof(*work->group));
    work->group_of = calloc(tasks, sizeof(*work->group_of));
    work->bin_of = calloc(tasks, sizeof(*work->bin_of));
    work->reached = calloc(work->bins.count, sizeof(*work->reached));
    return work->group && work->group_of && work->bin_of && work->reached ? 0 : -1;
}

static void free_work(struct work *work)
{
    free_bins(&work->bins);
    free(work->group);
    free(work->group_of);
    free(work->bin_of);
    free(work->reached);
}

static void find_groups(struct work *work)
{
    for (unsigned task = 0; task < work->request->tasks; task++) {
        unsigned group = 0;

        while (group < work->groups && work->group[group].near != work->near[task])
            group++;
        if (group == work->groups)
            work->group[work->groups++].near = work->near[task];
        work->group[group].tasks++;
        work->group_of[task] = group;
    }
}

/* Marks the bins with cores near an object, and counts them. */
static unsigned count_reach(struct work *work, hwloc_obj_t near)
{
    unsigned count = 0;

    memset(work->reached, 0, work->bins.count * sizeof(*work->reached));
    for (unsigned i = 0; i < work->bins.units; i++) {
        unsigned bin = find_joined_bin(&work->bins, work->bins.unit[i].bin);

        /* all bins are near the root, whatever a file says of its cores */
        if (!work->reached[bin] &&
            (!near->parent || hwloc_bitmap_intersects(work->bins.unit[i].object->cpuset, near->cpuset))) {
            work->reached[bin] = true;
            count++;
        }
    }
    return count;
}

/* The cores near it may not be allowed: then those further out. */
static void find_reach(struct work *work)
{
    for (unsigned i = 0; i < work->groups; i++) {
        struct group *group = &work->group[i];

        while ((group->reach = count_reach(work, group->near)) == 0 && group->near->parent)
            group->near = group->near->parent;
    }
}

static unsigned find_emptiest_bin(const struct work *work)
{
    unsigned best = NOWHERE;

    for (unsigned i = 0; i < work->bins.count; i++)
        if (work->reached[i] && (best == NOWHERE || is_emptier(&work->bins.bin[i], &work->bins.bin[best])))
            best = i;
    return best;
}

static void join_cores(struct work *work)
{
    unsigned first = NOWHERE;

    for (unsigned i = 0; i < work->bins.count; i++) {
        if (!work->reached[i])
            continue;
        if (first == NOWHERE) {
            first = i;
            continue;
        }
        join_bin(&work->bins, i, first);
        work->reached[i] = false;
    }
}

/* The bin that holds the middle of the task's share of all that the group reaches. */
static unsigned find_bin_by_share(const struct work *work, unsigned task, unsigned tasks)
{
    uint64_t total = 0;
    uint64_t middle;

    for (unsigned i = 0; i < work->bins.count; i++)
        if (work->reached[i])
            total += work->bins.bin[i].units;
    middle = (2 * (uint64_t)task + 1) * total / (2 * (uint64_t)tasks);
    for (unsigned i = 0; i < work->bins.count; i++) {
        if (!work->reached[i])
            continue;
        if (middle < work->bins.bin[i].units)
            return i;
        middle -= work->bins.bin[i].units;
    }
    return find_emptiest_bin(work);
}

static bool has_tasks(const struct work *work)
{
    for (unsigned i = 0; i < work->bins.count; i++)
        if (work->reached[i] && work->bins.bin[i].tasks > 0)
            return true;
    return false;
}

static void seat_group(struct work *work, unsigned group)
{
    unsigned count = count_reach(work, work->group[group].near);
    bool beside_others = has_tasks(work);
    unsigned seated = 0;

    /* fewer tasks than bins, and no other task there: each spans several bins */
    if (!beside_others && count > 1 && work->group[group].tasks < count)
        join_cores(work);
    for (unsigned task = 0; task < work->request->tasks; task++) {
        if (work->group_of[task] != group)
            continue;
        work->bin_of[task] = beside_others ? find_emptiest_bin(work)
                                           : find_bin_by_share(work, seated, work->group[group].tasks);
        seated++;
        if (beside_others)
            work->bins.bin[work->bin_of[task]].tasks++;
    }
    for (unsigned task = 0; !beside_others && task < work->request->tasks; task++)
        if (work->group_of[task] == group)
            work->bins.bin[work->bin_of[task]].tasks++;
}

/* Groups with the fewest bins to choose from come first. */
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
    unsigned best = NOWHERE;

    for (unsigned i = 0; i < work->bins.count; i++) {
        const struct bin *bin = &work->bins.bin[i];

        if (bin->joined != i || bin->tasks >= bin->units ||
            (same_package && (!bin->package || bin->package != work->bins.bin[home].package)))
            continue;
        if (best == NOWHERE || is_emptier(bin, &work->bins.bin[best]))
            best = i;
    }
    return best;
}

/* More tasks than cores in a bin: the last ones move, where there is room. */
static void move_tasks_apart(struct work *work)
{
    for (unsigned task = work->request->tasks; task-- > 0;) {
        unsigned home = work->bin_of[task];
        unsigned other;

        if (work->bins.bin[home].tasks <= work->bins.bin[home].units)
            continue;
        other = find_bin_with_room(work, home, true);
        if (other == NOWHERE)
            other = find_bin_with_room(work, home, false);
        if (other == NOWHERE)
            continue;
        work->bins.bin[home].tasks--;
        work->bins.bin[other].tasks++;
        work->bin_of[task] = other;
    }
}

/* Tasks that ask to be near the same object (the root: anywhere) are seated together
 * in the bins of cores that share a memory near it, those with the least choice
 * first. More tasks than a bin has cores move on, in their package, then anywhere.
 *
 * Fills in cpus, which are there and empty, cores and shared of
 * place[0..tasks-1]. 0, or -1 with errno: ENOMEM; EINVAL, where no allowed
 * hardware thread is in the topology. */
static int hand_out_cores(const struct rc_place_request *request, const hwloc_obj_t *near, struct rc_place *place)
{
    struct work work = { .request = request, .near = near };
    int status = prepare_bins(&work);

    if (status == 0) {
        find_groups(&work);
        find_reach(&work);
        seat_groups(&work);
        move_tasks_apart(&work);
        sort_units(&work.bins);
    }
    for (unsigned i = 0; status == 0 && i < request->tasks; i++)
        status = hand_out_units(&work.bins, work.bin_of[i], &place[i]);
    free_work(&work);
    return status;
}

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
    status = hand_out_cores(request, near, place);
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
