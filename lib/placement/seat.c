/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/seat.h"

#include <stdlib.h>
#include <string.h>

#include "placement/bins.h"

/* Tasks that are to be near the same object. */
struct group {
    hwloc_obj_t near;
    unsigned tasks;
    unsigned reach; /* bins with cores near it */
};

struct work {
    const struct rc_seats *wanted;
    struct rc_bins bins;
    struct group *group;
    unsigned groups;
    unsigned *group_of; /* task */
    unsigned *bin_of;   /* task */
    bool *reached;      /* bin: scratch of one group */
};

enum { NOWHERE = UINT32_MAX };

static int prepare_bins(struct work *work)
{
    size_t tasks = work->wanted->tasks;

    if (rc_bins_find(work->wanted->topology, work->wanted->allowed, &work->bins) < 0)
        return -1;
    work->group = calloc(tasks, sizeof(*work->group));
    work->group_of = calloc(tasks, sizeof(*work->group_of));
    work->bin_of = calloc(tasks, sizeof(*work->bin_of));
    work->reached = calloc(work->bins.count, sizeof(*work->reached));
    return work->group && work->group_of && work->bin_of && work->reached ? 0 : -1;
}

static void free_work(struct work *work)
{
    rc_bins_free(&work->bins);
    free(work->group);
    free(work->group_of);
    free(work->bin_of);
    free(work->reached);
}

static void find_groups(struct work *work)
{
    for (unsigned task = 0; task < work->wanted->tasks; task++) {
        unsigned group = 0;

        while (group < work->groups && work->group[group].near != work->wanted->near[task])
            group++;
        if (group == work->groups)
            work->group[work->groups++].near = work->wanted->near[task];
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
        unsigned bin = rc_bins_joined(&work->bins, work->bins.unit[i].bin);

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
        if (work->reached[i] && (best == NOWHERE || rc_bins_emptier(&work->bins.bin[i], &work->bins.bin[best])))
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
        rc_bins_join(&work->bins, i, first);
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
    for (unsigned task = 0; task < work->wanted->tasks; task++) {
        if (work->group_of[task] != group)
            continue;
        work->bin_of[task] = beside_others ? find_emptiest_bin(work)
                                           : find_bin_by_share(work, seated, work->group[group].tasks);
        seated++;
        if (beside_others)
            work->bins.bin[work->bin_of[task]].tasks++;
    }
    for (unsigned task = 0; !beside_others && task < work->wanted->tasks; task++)
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
        const struct rc_bin *bin = &work->bins.bin[i];

        if (bin->joined != i || bin->tasks >= bin->units ||
            (same_package && (!bin->package || bin->package != work->bins.bin[home].package)))
            continue;
        if (best == NOWHERE || rc_bins_emptier(bin, &work->bins.bin[best]))
            best = i;
    }
    return best;
}

/* More tasks than cores in a bin: the last ones move, where there is room. */
static void move_tasks_apart(struct work *work)
{
    for (unsigned task = work->wanted->tasks; task-- > 0;) {
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

int rc_seat_tasks(const struct rc_seats *wanted, struct rc_place *place)
{
    struct work work = { .wanted = wanted };
    int status = prepare_bins(&work);

    if (status == 0) {
        find_groups(&work);
        find_reach(&work);
        seat_groups(&work);
        move_tasks_apart(&work);
        rc_bins_sort(&work.bins);
    }
    for (unsigned i = 0; status == 0 && i < wanted->tasks; i++)
        status = rc_bins_hand_out(&work.bins, work.bin_of[i], &place[i]);
    free_work(&work);
    return status;
}
