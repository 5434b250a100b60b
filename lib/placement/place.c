#include "placement/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "placement/near.h"

/* A core, or a hardware thread that no core holds; the cores of a bin share the
 * nearest memory. Bins that one task has to span are joined into one. */
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

/* Tasks whose GPUs hang from the same object. */
struct group {
    hwloc_obj_t near;
    unsigned tasks;
    unsigned reach; /* bins with cores near it */
};

struct work {
    const struct rc_place_request *request;
    hwloc_const_bitmap_t allowed;
    struct unit *unit;
    unsigned units;
    struct bin *bin;
    unsigned bins;
    struct group *group;
    unsigned groups;
    unsigned *group_of; /* task */
    unsigned *bin_of;   /* task */
    bool *reached;      /* bin: scratch of one group */
    unsigned *order;    /* unit indices, bin by bin */
};

enum { NOWHERE = UINT32_MAX };

static int prepare(struct work *work)
{
    int cores = hwloc_get_nbobjs_by_type(work->request->topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(work->request->topology, HWLOC_OBJ_PU);
    size_t most = (size_t)(cores > 0 ? cores : 0) + (size_t)(threads > 0 ? threads : 0) + 1;
    size_t tasks = work->request->tasks;

    work->unit = calloc(most, sizeof(*work->unit));
    work->bin = calloc(most, sizeof(*work->bin));
    work->group = calloc(tasks, sizeof(*work->group));
    work->group_of = calloc(tasks, sizeof(*work->group_of));
    work->bin_of = calloc(tasks, sizeof(*work->bin_of));
    work->reached = calloc(most, sizeof(*work->reached));
    work->order = calloc(most, sizeof(*work->order));
    return work->unit && work->bin && work->group && work->group_of && work->bin_of && work->reached && work->order
               ? 0
               : -1;
}

static void put_away(struct work *work)
{
    free(work->unit);
    free(work->bin);
    free(work->group);
    free(work->group_of);
    free(work->bin_of);
    free(work->reached);
    free(work->order);
}

static unsigned joined(const struct work *work, unsigned bin)
{
    while (work->bin[bin].joined != bin)
        bin = work->bin[bin].joined;
    return bin;
}

static void add_unit(struct work *work, hwloc_obj_t object)
{
    hwloc_obj_t memory = rc_near_memory(object);
    unsigned bin = work->bins;

    if (!hwloc_bitmap_intersects(object->cpuset, work->allowed))
        return;
    /* neighbours follow each other: as a rule it is the last one */
    while (bin > 0 && work->bin[bin - 1].memory != memory)
        bin--;
    if (bin == 0) {
        work->bin[work->bins] = (struct bin){
            .memory = memory,
            .package = hwloc_get_ancestor_obj_by_type(work->request->topology, HWLOC_OBJ_PACKAGE, object),
            .joined = work->bins,
        };
        bin = ++work->bins;
    }
    work->bin[bin - 1].units++;
    work->unit[work->units++] = (struct unit){ object, bin - 1 };
}

static void find_units(struct work *work)
{
    hwloc_topology_t topology = work->request->topology;

    for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL;)
        add_unit(work, core);
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL;)
        if (!hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu))
            add_unit(work, pu);
}

static void find_groups(struct work *work, const struct rc_place *place)
{
    hwloc_obj_t root = hwloc_get_root_obj(work->request->topology);

    for (unsigned task = 0; task < work->request->tasks; task++) {
        hwloc_obj_t near = place[task].gpu >= 0 ? rc_near_cpus(work->request->gpus->gpu[place[task].gpu].pci) : root;
        unsigned group = 0;

        while (group < work->groups && work->group[group].near != near)
            group++;
        if (group == work->groups)
            work->group[work->groups++].near = near;
        work->group[group].tasks++;
        work->group_of[task] = group;
    }
}

/* Marks the bins with cores near an object, and counts them. */
static unsigned reach(struct work *work, hwloc_obj_t near)
{
    unsigned count = 0;

    memset(work->reached, 0, work->bins * sizeof(*work->reached));
    for (unsigned i = 0; i < work->units; i++) {
        unsigned bin = joined(work, work->unit[i].bin);

        /* the root's are all, whatever somebody wrote into a file */
        if (!work->reached[bin] &&
            (!near->parent || hwloc_bitmap_intersects(work->unit[i].object->cpuset, near->cpuset))) {
            work->reached[bin] = true;
            count++;
        }
    }
    return count;
}

/* The cores near a GPU may not be allowed: then those further out. */
static void find_reach(struct work *work)
{
    for (unsigned i = 0; i < work->groups; i++) {
        struct group *group = &work->group[i];

        while ((group->reach = reach(work, group->near)) == 0 && group->near->parent)
            group->near = group->near->parent;
    }
}

/* Would the first have more cores for one more task than the second? */
static bool emptier(const struct bin *a, const struct bin *b)
{
    return (uint64_t)a->units * (b->tasks + 1) > (uint64_t)b->units * (a->tasks + 1);
}

static unsigned emptiest(const struct work *work)
{
    unsigned best = NOWHERE;

    for (unsigned i = 0; i < work->bins; i++)
        if (work->reached[i] && (best == NOWHERE || emptier(&work->bin[i], &work->bin[best])))
            best = i;
    return best;
}

static void join(struct work *work)
{
    unsigned first = NOWHERE;

    for (unsigned i = 0; i < work->bins; i++) {
        if (!work->reached[i])
            continue;
        if (first == NOWHERE) {
            first = i;
            continue;
        }
        work->bin[i].joined = first;
        work->bin[first].units += work->bin[i].units;
        if (work->bin[first].package != work->bin[i].package)
            work->bin[first].package = NULL;
        work->reached[i] = false;
    }
}

/* The bin that holds the middle of the task's share of all that the group reaches. */
static unsigned by_share(const struct work *work, unsigned task, unsigned tasks)
{
    uint64_t total = 0;
    uint64_t middle;

    for (unsigned i = 0; i < work->bins; i++)
        if (work->reached[i])
            total += work->bin[i].units;
    middle = (2 * (uint64_t)task + 1) * total / (2 * (uint64_t)tasks);
    for (unsigned i = 0; i < work->bins; i++) {
        if (!work->reached[i])
            continue;
        if (middle < work->bin[i].units)
            return i;
        middle -= work->bin[i].units;
    }
    return emptiest(work);
}

static bool somebody_is_there(const struct work *work)
{
    for (unsigned i = 0; i < work->bins; i++)
        if (work->reached[i] && work->bin[i].tasks > 0)
            return true;
    return false;
}

static void seat_group(struct work *work, unsigned group)
{
    unsigned count = reach(work, work->group[group].near);
    bool beside_others = somebody_is_there(work);
    unsigned seated = 0;

    /* fewer tasks than bins, and nobody else there: each spans some */
    if (!beside_others && count > 1 && work->group[group].tasks < count)
        join(work);
    for (unsigned task = 0; task < work->request->tasks; task++) {
        if (work->group_of[task] != group)
            continue;
        work->bin_of[task] = beside_others ? emptiest(work) : by_share(work, seated, work->group[group].tasks);
        seated++;
        if (beside_others)
            work->bin[work->bin_of[task]].tasks++;
    }
    for (unsigned task = 0; !beside_others && task < work->request->tasks; task++)
        if (work->group_of[task] == group)
            work->bin[work->bin_of[task]].tasks++;
}

/* Those who have no choice come first. */
static void seat(struct work *work)
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

static unsigned with_room(const struct work *work, unsigned home, bool same_package)
{
    unsigned best = NOWHERE;

    for (unsigned i = 0; i < work->bins; i++) {
        const struct bin *bin = &work->bin[i];

        if (bin->joined != i || bin->tasks >= bin->units ||
            (same_package && (!bin->package || bin->package != work->bin[home].package)))
            continue;
        if (best == NOWHERE || emptier(bin, &work->bin[best]))
            best = i;
    }
    return best;
}

/* More tasks than cores in a bin: the last ones move, where there is room. */
static void move_apart(struct work *work)
{
    for (unsigned task = work->request->tasks; task-- > 0;) {
        unsigned home = work->bin_of[task];
        unsigned other;

        if (work->bin[home].tasks <= work->bin[home].units)
            continue;
        other = with_room(work, home, true);
        if (other == NOWHERE)
            other = with_room(work, home, false);
        if (other == NOWHERE)
            continue;
        work->bin[home].tasks--;
        work->bin[other].tasks++;
        work->bin_of[task] = other;
    }
}

static void sort_units(struct work *work)
{
    unsigned from = 0;

    for (unsigned i = 0; i < work->bins; i++) {
        if (work->bin[i].joined != i)
            continue;
        work->bin[i].from = from;
        from += work->bin[i].units;
        work->bin[i].units = 0;
    }
    for (unsigned i = 0; i < work->units; i++) {
        struct bin *bin = &work->bin[joined(work, work->unit[i].bin)];

        work->order[bin->from + bin->units++] = i;
    }
}

static int give_cores(struct work *work, unsigned task, struct rc_place *place)
{
    struct bin *bin = &work->bin[work->bin_of[task]];
    uint64_t number = bin->handed++;
    uint64_t first = number % bin->units;
    uint64_t end = first + 1;

    place->shared = bin->tasks > bin->units;
    if (!place->shared) {
        first = number * bin->units / bin->tasks;
        end = (number + 1) * bin->units / bin->tasks;
    }
    for (uint64_t i = first; i < end; i++)
        if (hwloc_bitmap_or(place->cpus, place->cpus, work->unit[work->order[bin->from + i]].object->cpuset) < 0)
            return -1;
    place->cores = (unsigned)(end - first);
    return hwloc_bitmap_and(place->cpus, place->cpus, work->allowed);
}

static enum rc_nearness nearness(const struct work *work, const struct rc_place *place)
{
    hwloc_obj_t near;
    hwloc_obj_t package;

    if (place->gpu < 0)
        return RC_NEAR_UNKNOWN;
    near = rc_near_cpus(work->request->gpus->gpu[place->gpu].pci);
    package = hwloc_get_ancestor_obj_by_type(work->request->topology, HWLOC_OBJ_PACKAGE, near);
    if (near->type == HWLOC_OBJ_PACKAGE)
        package = near;
    if (rc_place_numa(near) < 0 && !package)
        return RC_NEAR_UNKNOWN;
    if (hwloc_bitmap_isincluded(place->cpus, rc_near_memory(near)->cpuset))
        return RC_NEAR_NUMA;
    return package && hwloc_bitmap_isincluded(place->cpus, package->cpuset) ? RC_NEAR_PACKAGE : RC_NEAR_FAR;
}

static int place_nics(const struct work *work, struct rc_place *place)
{
    const struct rc_place_request *request = work->request;
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

static int place_all(struct work *work, struct rc_place *place)
{
    find_units(work);
    if (work->units == 0) {
        errno = EINVAL;
        return -1;
    }
    find_groups(work, place);
    find_reach(work);
    seat(work);
    move_apart(work);
    sort_units(work);
    for (unsigned i = 0; i < work->request->tasks; i++) {
        if (give_cores(work, i, &place[i]) < 0)
            return -1;
        place[i].memory = rc_near_node(work->request->topology, place[i].cpus);
        place[i].nearness = nearness(work, &place[i]);
    }
    return place_nics(work, place);
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
    struct work work = { .request = request, .allowed = request->allowed };
    int status = 0;

    if (!in_range(request)) {
        errno = EINVAL;
        return -1;
    }
    if (!work.allowed)
        work.allowed = hwloc_topology_get_allowed_cpuset(request->topology);
    for (unsigned i = 0; i < request->tasks; i++) {
        place[i] = (struct rc_place){ .cpus = hwloc_bitmap_alloc(), .gpu = -1, .nic = -1, .memory = -1 };
        if (request->chosen_count > 0 && request->chosen[i % request->chosen_count] != RC_PLACE_NO_GPU)
            place[i].gpu = (int)request->chosen[i % request->chosen_count];
        if (!place[i].cpus)
            status = -1;
    }
    if (status == 0)
        status = prepare(&work);
    if (status < 0)
        errno = ENOMEM;
    else
        status = place_all(&work, place);
    put_away(&work);
    if (status < 0)
        rc_place_free(place, request->tasks);
    return status;
}
