/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "console/input.h"
#include "console/usage.h"
#include "effects/look.h"
#include "map.h"
#include "placement/topology.h"
#include "system/gpufiles.h"

/* What nic=auto would set for the tasks of a mapping (lib/resolve/nics.c). */

/* Returns the names of the cards that a job uses, absent where none of them has one. */
static struct rc_str present_names(const char *names)
{
    return *names ? rc_str(names) : RC_ABSENT;
}

int map_proposals_make(const struct mapping *mapping, struct proposals *proposals)
{
    *proposals = (struct proposals){
        .fabric = rc_nics_names(&mapping->nics, rc_nic_card),
        .network = rc_nics_names(&mapping->nics, rc_nic_interface),
        .size = 2 * (mapping->nics.used + 1) * (RC_NIC_NAME + 1),
    };
    proposals->value = malloc(proposals->size);
    if (!proposals->fabric || !proposals->network || !proposals->value)
        return -1;
    proposals->pins.fabric = present_names(proposals->fabric);
    proposals->pins.network = present_names(proposals->network);
    return 0;
}

void map_proposals_free(struct proposals *proposals)
{
    free(proposals->fabric);
    free(proposals->network);
    free(proposals->value);
    *proposals = (struct proposals){ .fabric = NULL };
}

const char *map_proposals_value(const struct proposals *proposals, const struct mapping *mapping, unsigned task,
                                unsigned i)
{
    struct rc_arena arena = { .base = proposals->value, .size = proposals->size };
    const struct rc_nic *nic = mapping->place[task].nic >= 0 ? &mapping->nics.nic[mapping->place[task].nic] : NULL;
    char card[RC_NIC_NAME];
    char interface[RC_NIC_NAME];
    struct rc_pin pin = { .gpu = RC_UNKNOWN };

    if (nic && rc_nic_card(nic, card))
        pin.fabric = rc_str(card);
    if (nic && rc_nic_interface(nic, interface))
        pin.network = rc_str(interface);
    return rc_nicnames_value(i, &proposals->pins, &pin, &arena);
}

bool map_proposals_is_own(unsigned i)
{
    return rc_str_is(rc_nicnames_variable(i), "UCX_NET_DEVICES");
}

/* What rollcall map shows: a topology, and where each task of it goes. */

static void add_note(struct mapping *mapping, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_note(struct mapping *mapping, const char *format, ...)
{
    va_list args;

    if (mapping->notes == NOTES_MAX)
        return;
    va_start(args, format);
    vsnprintf(mapping->note[mapping->notes++], NOTE_SIZE, format, args);
    va_end(args);
}

/* Learns who this process is, where it is a task of a launch. */
struct self {
    uint32_t rank;
    uint32_t local_rank;
    uint32_t local_size;
};

static struct self find_self(void)
{
    static struct rc_here_storage here;
    static struct rc_result result;
    struct input input;
    struct rc_context context;

    input_own(&input);
    context = (struct rc_context){ .env = input.env, .pid = input.pid, .ignore_stamp = true };
    if (rc_here_resolve(&context, &here, &result) != RC_RESOLVED)
        return (struct self){ RC_UNKNOWN, RC_UNKNOWN, RC_UNKNOWN };
    return (struct self){ result.identity.field[RC_RANK], result.identity.field[RC_LOCAL_RANK],
                          result.identity.field[RC_LOCAL_WORLD_SIZE] };
}

static int allocate_chosen(struct mapping *mapping, size_t room)
{
    mapping->chosen = calloc(room + 1, sizeof(*mapping->chosen));
    if (mapping->chosen)
        return 0;
    console_fail("out of memory");
    return -1;
}

static size_t count_entries(const char *list)
{
    size_t count = 1;

    for (; *list; list++)
        count += *list == ',';
    return count;
}

static int take_list(struct mapping *mapping, const char *list)
{
    static struct rc_nvidia_gpus driver;
    struct rc_str rest = rc_str(list);

    if (allocate_chosen(mapping, count_entries(list)) < 0)
        return -1;
    /* the driver's files are this machine's, not those of a file with a topology */
    if (!mapping->file)
        driver.count = rc_nvidia_read_gpus(RC_NVIDIA_FOLDER, driver.gpu);
    while (rest.p) {
        struct rc_str name = rc_str_split(rest, ',', &rest);

        if (!rc_pci_gpus_named(&mapping->gpus, name, &driver, &mapping->chosen[mapping->chosen_count++])) {
            console_fail(
                "map: --gpus: '%.*s' is none of the %zu GPUs here; give indices or PCI bus ids, as 0,1,3b:00.0",
                name.n > 64 ? 64 : (int)name.n, name.p, mapping->gpus.count);
            return -1;
        }
    }
    return 0;
}

/* Reads the list of indices that the runtime shows. Returns 0; 1 where it is no such list;
 * -1 without memory. */
static int take_visible(struct mapping *mapping, const char *list)
{
    struct rc_str rest = rc_str(list);

    if (allocate_chosen(mapping, count_entries(list)) < 0)
        return -1;
    while (rest.p) {
        struct rc_str name = rc_str_split(rest, ',', &rest);
        uint32_t index;

        if (!rc_parse_u32(name, UINT32_MAX - 1, &index) || index >= mapping->gpus.used) {
            mapping->chosen_count = 0;
            return 1;
        }
        mapping->chosen[mapping->chosen_count++] = index;
    }
    return 0;
}

static int take_all(struct mapping *mapping)
{
    free(mapping->chosen);
    if (allocate_chosen(mapping, mapping->gpus.used) < 0)
        return -1;
    for (unsigned i = 0; i < mapping->gpus.used; i++)
        mapping->chosen[mapping->chosen_count++] = i;
    return 0;
}

static int choose_gpus(struct mapping *mapping, const char *list)
{
    const char *visible = NULL;
    const struct rc_gpu_variable *row = rc_gpu_variables;
    int status;

    if (list)
        return take_list(mapping, list);
    /* a topology from a file is another machine's, of whose GPUs this environment says nothing */
    for (; !mapping->file && mapping->gpus.used > 0 && row->name && !visible; row++)
        if (row->vendor == mapping->gpus.gpu[0].vendor)
            visible = getenv(row->name);
    if (!visible)
        return take_all(mapping);
    status = take_visible(mapping, visible);
    if (status <= 0)
        return status;
    add_note(mapping, "%s=%.64s cannot be matched with the GPUs here: all of them are shown", (row - 1)->name, visible);
    return take_all(mapping);
}

static int choose_tasks(struct mapping *mapping, const char *tasks)
{
    struct self self = { RC_UNKNOWN, RC_UNKNOWN, RC_UNKNOWN };

    mapping->rank = mapping->local_rank = RC_UNKNOWN;
    if (!mapping->file)
        self = find_self();
    if (tasks) {
        if (!rc_parse_u32(rc_str(tasks), RC_PLACE_TASKS_MAX, &mapping->tasks) || mapping->tasks == 0) {
            console_fail("map: --tasks=%.64s is not a number of tasks, 1 to %d", tasks, RC_PLACE_TASKS_MAX);
            return -1;
        }
    } else if (self.local_size != RC_UNKNOWN && self.local_size > 0 && self.local_size <= RC_PLACE_TASKS_MAX) {
        mapping->tasks = self.local_size;
    } else {
        mapping->tasks = mapping->chosen_count > 0 ? (unsigned)mapping->chosen_count : 1;
    }
    if (self.local_size == mapping->tasks && self.local_rank < mapping->tasks) {
        mapping->rank = self.rank;
        mapping->local_rank = self.local_rank;
    }
    return 0;
}

static int read_cpus(const char *list, hwloc_bitmap_t cpus)
{
    /* hwloc reads "0-" as a list without an end, and takes a blank for the end of a list */
    size_t n = strlen(list);

    if (n == 0 || strspn(list, "0123456789,-") != n || list[n - 1] == '-' || strstr(list, "--") ||
        hwloc_bitmap_list_sscanf(cpus, list) < 0 || hwloc_bitmap_iszero(cpus)) {
        console_fail("map: --cpus=%.64s is not a list of hardware threads, such as 0-15,64-79", list);
        return -1;
    }
    return 0;
}

/* What the tasks may use: --cpus, or what the container or the step gives. The
 * mask of this very process counts where it stands for no others. */
static int choose_cpus(struct mapping *mapping, const char *list)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_allowed_cpuset(mapping->topology);
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    bool bound;
    int status = -1;

    mapping->allowed = hwloc_bitmap_dup(all);
    if (!mask || !mapping->allowed) {
        console_fail("out of memory");
    } else if (list) {
        status = read_cpus(list, mask);
        if (status == 0 &&
            (hwloc_bitmap_and(mapping->allowed, mask, all) < 0 || hwloc_bitmap_iszero(mapping->allowed))) {
            status = -1;
            console_fail("map: --cpus=%.64s: the topology has none of them", list);
        }
    } else {
        status = 0;
        bound = !mapping->file && hwloc_get_cpubind(mapping->topology, mask, HWLOC_CPUBIND_THREAD) == 0 &&
                hwloc_bitmap_intersects(mask, all) && !hwloc_bitmap_isincluded(all, mask);
        if (bound && (mapping->tasks == 1 || mapping->local_rank == RC_UNKNOWN))
            hwloc_bitmap_and(mapping->allowed, mask, all);
        else if (bound)
            add_note(mapping, "this task is bound to some of the cores already, which a plan would leave as it is");
    }
    hwloc_bitmap_free(mask);
    return status;
}

static void add_notes(struct mapping *mapping)
{
    unsigned shared = 0;
    unsigned apart = 0;
    unsigned unknown = 0;

    for (unsigned i = 0; i < mapping->tasks; i++) {
        const struct rc_place *place = &mapping->place[i];

        shared += place->shared;
        apart += place->nearness == RC_NEAR_PACKAGE || place->nearness == RC_NEAR_FAR;
        unknown += place->gpu >= 0 && place->nearness == RC_NEAR_UNKNOWN;
    }
    if (shared)
        add_note(mapping, "%u of %u tasks share cores: there are fewer cores than tasks", shared, mapping->tasks);
    if (apart)
        add_note(mapping,
                 "%u of %u tasks have cores outside of their GPU's NUMA node: there are not enough free ones in it",
                 apart, mapping->tasks);
    if (unknown)
        add_note(mapping, "the topology does not say where the GPUs hang: the cores are split as without GPUs");
    if (mapping->chosen_count > 0 && mapping->tasks > mapping->chosen_count)
        add_note(mapping, "%u tasks on %zu GPUs: several tasks use the same GPU", mapping->tasks,
                 mapping->chosen_count);
}

int map_make(const struct wishes *wishes, struct mapping *mapping)
{
    char error[RC_TOPOLOGY_ERROR];
    struct rc_place_request request;

    *mapping = (struct mapping){ .file = wishes->file };
    if (rc_topology_load(wishes->file, RC_TOPOLOGY_ALL, &mapping->topology, error) < 0) {
        console_fail("map: cannot read %s", error);
        return -1;
    }
    if (rc_pci_gpus_find(mapping->topology, &mapping->gpus) < 0 ||
        rc_nics_find(mapping->topology, &mapping->nics) < 0) {
        console_fail("out of memory");
        return -1;
    }
    mapping->ids = calloc(mapping->gpus.count + 1, sizeof(*mapping->ids));
    if (!mapping->ids) {
        console_fail("out of memory");
        return -1;
    }
    rc_gpu_ids_find(&mapping->gpus, wishes->file ? NULL : "", mapping->ids);
    if (choose_gpus(mapping, wishes->gpus) < 0 || choose_tasks(mapping, wishes->tasks) < 0 ||
        choose_cpus(mapping, wishes->cpus) < 0)
        return -1;
    mapping->place = calloc(mapping->tasks, sizeof(*mapping->place));
    request = (struct rc_place_request){
        .topology = mapping->topology,
        .allowed = mapping->allowed,
        .gpus = &mapping->gpus,
        .nics = &mapping->nics,
        .tasks = mapping->tasks,
        .chosen = mapping->chosen,
        .chosen_count = mapping->chosen_count,
    };
    if (!mapping->place || rc_place_tasks(&request, mapping->place) < 0) {
        console_fail(errno == EINVAL ? "map: the topology has no core that may be used" : "out of memory");
        return -1;
    }
    add_notes(mapping);
    return 0;
}

void map_free(struct mapping *mapping)
{
    if (mapping->place)
        rc_place_free(mapping->place, mapping->tasks);
    free(mapping->place);
    free(mapping->chosen);
    free(mapping->gpus.gpu);
    free(mapping->ids);
    free(mapping->nics.nic);
    hwloc_bitmap_free(mapping->allowed);
    if (mapping->topology)
        hwloc_topology_destroy(mapping->topology);
    *mapping = (struct mapping){ .tasks = 0 };
}
