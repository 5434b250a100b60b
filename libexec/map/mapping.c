/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpuset.h"
#include "base/text.h"
#include "console/input.h"
#include "console/output.h"
#include "effects/look.h"
#include "map.h"

enum { VALUE_SIZE = 65536 };

struct rc_pin map_pin_nic(const struct mapping *mapping, unsigned task)
{
    const struct rc_nic *nic = mapping->place[task].nic >= 0 ? &mapping->nics.nic[mapping->place[task].nic] : NULL;

    return (struct rc_pin){
        .fabric = rc_str(nic ? nic->card : NULL),
        .network = rc_str(nic ? nic->interface : NULL),
        .gpu = RC_UNKNOWN,
    };
}

const char *map_proposal(const struct mapping *mapping, unsigned task, unsigned i)
{
    static char value[VALUE_SIZE];
    struct rc_arena arena = { .base = value, .size = sizeof(value) };
    struct rc_pins pins = { .fabric = rc_str(mapping->nics.cards), .network = rc_str(mapping->nics.interfaces) };
    struct rc_pin pin = map_pin_nic(mapping, task);

    return rc_nicnames_value(i, &pins, &pin, &arena);
}

bool map_proposal_is_own(unsigned i)
{
    return rc_str_is(rc_nicnames_variable(i), "UCX_NET_DEVICES");
}

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

/* Return this process; its numbers are unknown outside of a launch, or with another machine's topology. */
static const struct rc_result *find_self(const struct mapping *mapping)
{
    static struct rc_here_storage here;
    static struct rc_result result;
    struct input input;
    struct rc_context context;

    input_own(&input);
    context = (struct rc_context){ .env = input.env, .pid = input.pid, .ignore_stamp = true };
    if (rc_here_resolve(&context, &here, &result) != RC_RESOLVED || mapping->file) {
        memset(result.identity.field, UINT8_MAX, sizeof(result.identity.field));
        result.gpus.all = RC_ABSENT;
    }
    return &result;
}

static int out_of_memory(const struct mapping *mapping)
{
    console_fail("%s: out of memory", mapping->command);
    return -1;
}

int map_load(struct mapping *mapping, enum rc_topology_depth depth)
{
    char error[RC_TOPOLOGY_ERROR];

    if (rc_topology_load(mapping->file, depth, &mapping->topology, error) < 0) {
        console_fail("%s: cannot read %s", mapping->command, error);
        return -1;
    }
    if (rc_pci_gpus_find(mapping->topology, &mapping->gpus) < 0 ||
        (depth >= RC_TOPOLOGY_CARDS && rc_nics_find(mapping->topology, &mapping->nics) < 0))
        return out_of_memory(mapping);
    if (!mapping->file)
        rc_pci_gpus_name(&mapping->gpus, "");
    return 0;
}

static bool find_gpu(const struct mapping *mapping, struct rc_str name, bool listed, unsigned *gpu)
{
    uint32_t number;

    if (listed || !rc_parse_u32(name, UINT32_MAX, &number))
        return rc_pci_gpus_named(&mapping->gpus, name, gpu);
    return rc_pci_gpus_own(&mapping->gpus, number, gpu);
}

static int allocate_chosen(struct mapping *mapping, size_t room)
{
    free(mapping->chosen);
    mapping->chosen_count = 0;
    mapping->chosen = calloc(room + 1, sizeof(*mapping->chosen));
    return mapping->chosen ? 0 : out_of_memory(mapping);
}

int map_choose_gpus(struct mapping *mapping, struct rc_str list, bool listed, struct rc_str *unknown)
{
    struct rc_str rest = list;

    *unknown = RC_ABSENT;
    if (allocate_chosen(mapping, rc_str_pieces(list, ',')) < 0)
        return -1;
    while (rest.p) {
        struct rc_str name = rc_str_split(rest, ',', &rest);
        unsigned *gpu = &mapping->chosen[mapping->chosen_count++];

        if (find_gpu(mapping, name, listed, gpu))
            continue;
        *gpu = RC_PLACE_NO_GPU;
        if (!unknown->p)
            *unknown = name;
    }
    return 0;
}

int map_choose_own_gpus(struct mapping *mapping)
{
    if (allocate_chosen(mapping, mapping->gpus.used) < 0)
        return -1;
    while (rc_pci_gpus_own(&mapping->gpus, (unsigned)mapping->chosen_count, &mapping->chosen[mapping->chosen_count]))
        mapping->chosen_count++;
    return 0;
}

static bool read_cpus(struct rc_str list, hwloc_bitmap_t mask)
{
    struct rc_cpuset cpus;

    if (!rc_cpuset_read(list, &cpus))
        return false;
    for (unsigned i = 0; i < RC_CPUS_MAX; i++)
        if (cpus.word[i / 64] >> (i % 64) & 1)
            hwloc_bitmap_set(mask, i);
    return true;
}

static int narrow_to_list(struct mapping *mapping, struct rc_str list, hwloc_bitmap_t mask)
{
    const char *wrong = NULL;

    if (!read_cpus(list, mask))
        wrong = " is not a list of hardware threads, such as 0-15,64-79";
    else if (hwloc_bitmap_and(mapping->allowed, mapping->allowed, mask) < 0)
        return out_of_memory(mapping);
    else if (hwloc_bitmap_iszero(mapping->allowed))
        wrong = ": the topology has none of them";
    if (!wrong)
        return 0;
    console_fail("%s: cpus=%.*s%s", mapping->command, list.n > 64 ? 64 : (int)list.n, list.p, wrong);
    return -1;
}

static int narrow_to_own(struct mapping *mapping, bool own_counts, hwloc_bitmap_t mask)
{
    if (mapping->file || hwloc_get_cpubind(mapping->topology, mask, HWLOC_CPUBIND_THREAD) < 0 ||
        !hwloc_bitmap_intersects(mask, mapping->allowed) || hwloc_bitmap_isincluded(mapping->allowed, mask))
        return 0;
    if (own_counts)
        return hwloc_bitmap_and(mapping->allowed, mapping->allowed, mask) < 0 ? out_of_memory(mapping) : 0;
    add_note(mapping, "this task is bound to some of the cores already, which a plan would leave as it is");
    return 0;
}

int map_choose_cpus(struct mapping *mapping, struct rc_str list, bool own_counts)
{
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    int status;

    mapping->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(mapping->topology));
    if (!mask || !mapping->allowed)
        status = out_of_memory(mapping);
    else if (list.p)
        status = narrow_to_list(mapping, list, mask);
    else
        status = narrow_to_own(mapping, own_counts, mask);
    hwloc_bitmap_free(mask);
    return status;
}

/* Allow a task all usable threads of its cores' NUMA nodes. Its number of cores stays, because neighbours run there. */
static int widen_to_nodes(const struct mapping *mapping, hwloc_bitmap_t mask)
{
    hwloc_bitmap_t own = hwloc_bitmap_dup(mask);

    if (!own)
        return -1;
    for (hwloc_obj_t node = NULL;
         (node = hwloc_get_next_obj_by_type(mapping->topology, HWLOC_OBJ_NUMANODE, node)) != NULL;)
        if (hwloc_bitmap_intersects(node->cpuset, own))
            hwloc_bitmap_or(mask, mask, node->cpuset);
    hwloc_bitmap_and(mask, mask, mapping->allowed);
    /* these threads may be outside of any NUMA node */
    hwloc_bitmap_or(mask, mask, own);
    hwloc_bitmap_free(own);
    return 0;
}

int map_place_tasks(struct mapping *mapping, bool whole_nodes)
{
    struct rc_place_request request = {
        .topology = mapping->topology,
        .allowed = mapping->allowed,
        .gpus = &mapping->gpus,
        .nics = &mapping->nics,
        .tasks = mapping->tasks,
        .chosen = mapping->chosen,
        .chosen_count = mapping->chosen_count,
    };

    mapping->place = calloc(mapping->tasks, sizeof(*mapping->place));
    mapping->cpus = calloc(mapping->tasks, sizeof(*mapping->cpus));
    if (!mapping->place || !mapping->cpus)
        return out_of_memory(mapping);
    if (rc_place_tasks(&request, mapping->place) < 0) {
        if (errno != EINVAL)
            return out_of_memory(mapping);
        console_fail("%s: the topology has no core that may be used", mapping->command);
        return -1;
    }
    for (unsigned i = 0; i < mapping->tasks; i++)
        if ((whole_nodes && widen_to_nodes(mapping, mapping->place[i].cpus) < 0) ||
            hwloc_bitmap_list_asprintf(&mapping->cpus[i], mapping->place[i].cpus) < 0)
            return out_of_memory(mapping);
    return 0;
}

/* The variables that select GPUs, by vendor. */
static const struct {
    enum rc_gpu_vendor vendor;
    const char *name;
} variables[] = {
#define ROLLCALL_GPU_LIST(id, vendor, name) { RC_GPU_##vendor, name },
#include "launcher/gpulist.def"
#undef ROLLCALL_GPU_LIST
};

static int choose_gpus(struct mapping *mapping, const char *list, const struct rc_result *self)
{
    const struct rc_gpus *own = &self->gpus;
    uint32_t tasks = self->facts.field[RC_LOCAL_WORLD_SIZE].value;
    size_t count = sizeof(variables) / sizeof(*variables);
    const char *visible = NULL;
    struct rc_str unknown = RC_ABSENT;
    size_t i = 0;

    /* with a device cgroup the variables count from 0; Slurm's numbers are the machine's, but not a container's */
    if (!list && own->all.p && !rc_str_eq(own->all, own->seen) && rc_gpu_list_counts(own->seen)) {
        if (map_choose_gpus(mapping, own->all, false, &unknown) < 0)
            return -1;
        if (!unknown.p)
            return 0;
    }
    /* a topology from a file is another machine's, to which this environment does not apply */
    for (; !mapping->file && mapping->gpus.used > 0 && i < count && !visible; i++)
        if (variables[i].vendor == mapping->gpus.gpu[0].vendor)
            visible = getenv(variables[i].name);
    if (!list && !visible)
        return map_choose_own_gpus(mapping);
    if (!list && tasks > 1 && tasks != RC_UNKNOWN && rc_gpus_are_bound(&self->env)) {
        add_note(mapping, "%s has the GPUs of this task alone: all of the node's are shown", variables[i - 1].name);
        return map_choose_own_gpus(mapping);
    }
    if (map_choose_gpus(mapping, rc_str(list ? list : visible), list != NULL, &unknown) < 0)
        return -1;
    if (!unknown.p)
        return 0;
    if (list) {
        console_fail("map: --gpus: '%.*s' is none of the %zu GPUs here; give indices or PCI bus ids, as 0,1,3b:00.0",
                     unknown.n > 64 ? 64 : (int)unknown.n, unknown.p, mapping->gpus.count);
        return -1;
    }
    add_note(mapping, "%s=%.64s cannot be matched with the GPUs here: all of them are shown", variables[i - 1].name,
             visible);
    return map_choose_own_gpus(mapping);
}

static int choose_tasks(struct mapping *mapping, const char *tasks, const uint32_t *self)
{
    uint32_t here = self[RC_LOCAL_WORLD_SIZE];

    mapping->rank = mapping->local_rank = RC_UNKNOWN;
    if (tasks) {
        if (!rc_parse_u32(rc_str(tasks), RC_PLACE_TASKS_MAX, &mapping->tasks) || mapping->tasks == 0) {
            console_fail("map: --tasks=%.64s is not a number of tasks, 1 to %d", tasks, RC_PLACE_TASKS_MAX);
            return -1;
        }
    } else if (here > 0 && here <= RC_PLACE_TASKS_MAX) {
        mapping->tasks = here;
    } else {
        mapping->tasks = mapping->chosen_count > 0 ? (unsigned)mapping->chosen_count : 1;
    }
    if (here == mapping->tasks && self[RC_LOCAL_RANK] < mapping->tasks) {
        mapping->rank = self[RC_RANK];
        mapping->local_rank = self[RC_LOCAL_RANK];
    }
    return 0;
}

static void add_notes(struct mapping *mapping)
{
    unsigned shared = 0;
    unsigned apart = 0;
    unsigned unknown = 0;

    for (unsigned i = 0; i < mapping->tasks; i++) {
        const struct rc_place *place = &mapping->place[i];
        hwloc_obj_t near = place->gpu >= 0 ? rc_near_cpus(mapping->gpus.gpu[place->gpu].pci) : NULL;

        shared += place->shared;
        if (near && !near->parent && rc_near_numa(mapping->topology, near) < 0)
            unknown++;
        else if (near && !hwloc_bitmap_isincluded(place->cpus, rc_near_memory(near)->cpuset))
            apart++;
    }
    if (shared)
        add_note(mapping, "%u of %u tasks share cores: there are fewer cores than tasks", shared, mapping->tasks);
    if (apart)
        add_note(mapping,
                 "%u of %u tasks have cores outside of their GPU's NUMA node: there are not enough free ones in it",
                 apart, mapping->tasks);
    if (unknown)
        add_note(mapping,
                 "the topology does not show where the GPUs are attached: the cores are split as without GPUs");
    if (mapping->chosen_count > 0 && mapping->tasks > mapping->chosen_count)
        add_note(mapping, "%u tasks on %zu GPU%s: several tasks use the same GPU", mapping->tasks,
                 mapping->chosen_count, mapping->chosen_count == 1 ? "" : "s");
}

int map_make(const struct wishes *wishes, struct mapping *mapping)
{
    const struct rc_result *self;

    *mapping = (struct mapping){ .command = "map", .file = wishes->file };
    self = find_self(mapping);
    if (map_load(mapping, RC_TOPOLOGY_ALL) < 0 || choose_gpus(mapping, wishes->gpus, self) < 0 ||
        choose_tasks(mapping, wishes->tasks, self->identity.field) < 0 ||
        map_choose_cpus(mapping, rc_str(wishes->cpus), mapping->tasks == 1 || mapping->local_rank == RC_UNKNOWN) < 0 ||
        map_place_tasks(mapping, false) < 0)
        return -1;
    add_notes(mapping);
    return 0;
}

void map_free(struct mapping *mapping)
{
    if (mapping->place)
        rc_place_free(mapping->place, mapping->tasks);
    for (unsigned i = 0; mapping->cpus && i < mapping->tasks; i++)
        free(mapping->cpus[i]);
    free(mapping->cpus);
    free(mapping->place);
    free(mapping->chosen);
    free(mapping->gpus.gpu);
    rc_nics_free(&mapping->nics);
    hwloc_bitmap_free(mapping->allowed);
    if (mapping->topology)
        hwloc_topology_destroy(mapping->topology);
    *mapping = (struct mapping){ .tasks = 0 };
}
