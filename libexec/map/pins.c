/* SPDX-License-Identifier: BSD-3-Clause */
#include "map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpuset.h"
#include "base/text.h"
#include "console/usage.h"
#include "placement/place.h"
#include "placement/topology.h"
#include "resolve/pins.h"
#include "system/gpufiles.h"

enum { REQUEST_SIZE = 65536 };

struct work {
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    struct rc_pci_gpus gpus;
    struct rc_nvidia_gpus
        driver; /* what its files say; nothing of a file with a topology, which is another machine's */
    struct rc_nic_list nics;
    unsigned *chosen;
    size_t chosen_count;
    struct rc_place *place;
    unsigned tasks;
};

static int out_of_memory(void)
{
    return console_fail("pins: out of memory");
}

/* Returns all of standard input, absent where it is too long or cannot be read. */
static struct rc_str read_request(char *buffer, size_t size)
{
    size_t used = 0;
    ssize_t n;

    while ((n = read(STDIN_FILENO, buffer + used, size - used)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || (used += (size_t)n) == size)
            return RC_ABSENT;
    }
    return (struct rc_str){ buffer, used };
}

/* Narrows the threads of the topology to those that may be used. */
static int choose_cpus(struct work *work, struct rc_str list)
{
    struct rc_cpuset cpus;
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    int status = 0;

    work->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(work->topology));
    if (!mask || !work->allowed) {
        status = out_of_memory();
    } else if (!list.p) {
        if (hwloc_get_cpubind(work->topology, mask, HWLOC_CPUBIND_THREAD) == 0)
            hwloc_bitmap_and(work->allowed, work->allowed, mask);
    } else if (!rc_cpuset_read(list, &cpus)) {
        status = console_fail("pins: cpus=%.*s is not a list of hardware threads", list.n > 64 ? 64 : (int)list.n,
                              list.p);
    } else {
        for (unsigned i = 0; i < RC_CPUS_MAX; i++)
            if (cpus.word[i / 64] >> (i % 64) & 1)
                hwloc_bitmap_set(mask, i);
        hwloc_bitmap_and(work->allowed, work->allowed, mask);
    }
    hwloc_bitmap_free(mask);
    return status;
}

/* In a container the topology has all of the machine's GPUs, and the driver's
 * files those that were given to it, which is what its indices count. */
static bool find_gpu(const struct work *work, struct rc_str name, unsigned *index)
{
    const struct rc_nvidia_gpus *driver = &work->driver;
    uint32_t number;

    if (driver->count == 0 || !rc_parse_u32(name, UINT32_MAX - 1, &number))
        return rc_pci_gpus_named(&work->gpus, name, driver, index);
    return number < driver->count && rc_pci_gpus_named(&work->gpus, rc_str(driver->gpu[number].address), NULL, index);
}

static int choose_all(struct work *work)
{
    const struct rc_nvidia_gpu *gpu = work->driver.gpu;
    size_t count = work->driver.count;

    work->chosen_count = count > 0 ? count : work->gpus.used;
    work->chosen = calloc(work->chosen_count + 1, sizeof(*work->chosen));
    if (!work->chosen)
        return out_of_memory();
    for (unsigned i = 0; i < work->chosen_count; i++) {
        work->chosen[i] = i;
        if (count > 0 && !rc_pci_gpus_named(&work->gpus, rc_str(gpu[i].address), NULL, &work->chosen[i]))
            work->chosen[i] = RC_PLACE_NO_GPU;
    }
    return 0;
}

static int choose_gpus(struct work *work, struct rc_str list)
{
    size_t room = 1;

    if (rc_str_is(list, "all"))
        return choose_all(work);
    for (size_t i = 0; i < list.n; i++)
        room += list.p[i] == ',';
    work->chosen = calloc(room, sizeof(*work->chosen));
    if (!work->chosen)
        return out_of_memory();
    for (struct rc_str rest = list.n > 0 ? list : RC_ABSENT; rest.p; work->chosen_count++) {
        struct rc_str name = rc_str_split(rest, ',', &rest);

        if (!find_gpu(work, name, &work->chosen[work->chosen_count]))
            work->chosen[work->chosen_count] = RC_PLACE_NO_GPU;
    }
    return 0;
}

static int place_tasks(struct work *work, uint32_t tasks)
{
    struct rc_place_request request = {
        .topology = work->topology,
        .allowed = work->allowed,
        .gpus = &work->gpus,
        .nics = &work->nics,
        .tasks = tasks,
        .chosen = work->chosen,
        .chosen_count = work->chosen_count,
    };

    work->place = calloc(tasks, sizeof(*work->place));
    if (!work->place)
        return out_of_memory();
    if (rc_place_tasks(&request, work->place) < 0)
        return errno == EINVAL ? console_fail("pins: the topology has no core that may be used") : out_of_memory();
    work->tasks = tasks;
    return 0;
}

/* Widens a task's threads to all that may be used of its cores' NUMA nodes. Its number of
 * cores stays its own share, because neighbours compute there as well. */
static int widen_to_numa(struct work *work)
{
    for (unsigned i = 0; i < work->tasks; i++) {
        hwloc_bitmap_t mask = work->place[i].cpus;
        hwloc_bitmap_t own = hwloc_bitmap_dup(mask);

        if (!own)
            return out_of_memory();
        for (hwloc_obj_t node = NULL;
             (node = hwloc_get_next_obj_by_type(work->topology, HWLOC_OBJ_NUMANODE, node)) != NULL;)
            if (hwloc_bitmap_intersects(node->cpuset, own))
                hwloc_bitmap_or(mask, mask, node->cpuset);
        hwloc_bitmap_and(mask, mask, work->allowed);
        /* these threads may lie in no NUMA node */
        hwloc_bitmap_or(mask, mask, own);
        hwloc_bitmap_free(own);
    }
    return 0;
}

static int print_node(const struct rc_nic_list *nics)
{
    char *fabric = rc_nics_names(nics, rc_nic_card);
    char *network = rc_nics_names(nics, rc_nic_interface);
    int status = fabric && network ? 0 : -1;

    if (status == 0)
        printf("node%s%s%s%s\n", *fabric ? " fabric=" : "", fabric, *network ? " network=" : "", network);
    free(fabric);
    free(network);
    return status;
}

static void print_pin(const struct work *work, unsigned task, const char *cpus)
{
    const struct rc_place *pin = &work->place[task];
    const struct rc_nic *nic = pin->nic >= 0 ? &work->nics.nic[pin->nic] : NULL;
    char name[RC_NIC_NAME];

    printf("pin cpus=%s cores=%u", cpus, pin->cores);
    if (pin->gpu >= 0)
        printf(" gpu=%u", (unsigned)(task % work->chosen_count));
    if (nic && rc_nic_card(nic, name))
        printf(" fabric=%s", name);
    if (nic && rc_nic_interface(nic, name))
        printf(" network=%s", name);
    puts(pin->shared ? " shared=yes" : "");
}

/* Writes all lines as rc_pins_read takes them, or none. */
static int print_pins(const struct work *work)
{
    char **cpus = calloc(work->tasks, sizeof(*cpus));
    int status = cpus ? 0 : -1;

    for (unsigned i = 0; status == 0 && i < work->tasks; i++) {
        if (hwloc_bitmap_last(work->place[i].cpus) >= RC_CPUS_MAX)
            status = -1;
        else if (hwloc_bitmap_list_asprintf(&cpus[i], work->place[i].cpus) < 0)
            status = -1;
    }
    if (status == 0)
        status = print_node(&work->nics);
    for (unsigned i = 0; status == 0 && i < work->tasks; i++)
        print_pin(work, i, cpus[i]);
    for (unsigned i = 0; cpus && i < work->tasks; i++)
        free(cpus[i]);
    free(cpus);
    return status == 0 ? 0
                       : console_fail("pins: out of memory, or a hardware thread with a number above %d", RC_CPUS_MAX);
}

static enum rc_topology_depth choose_depth(const struct rc_pins_question *question)
{
    if (!question->no_cards)
        return RC_TOPOLOGY_CARDS;
    return question->gpus.n > 0 && rc_pci_gpus_are_there(RC_SYSFS_PCI) ? RC_TOPOLOGY_GPUS : RC_TOPOLOGY_CORES;
}

static int answer_question(struct work *work, const struct rc_pins_question *question, const char *file)
{
    char error[RC_TOPOLOGY_ERROR];
    int status;

    if (rc_topology_load(file, choose_depth(question), &work->topology, error) < 0)
        return console_fail("pins: cannot read %s", error);
    if (rc_pci_gpus_find(work->topology, &work->gpus) < 0 ||
        (!question->no_cards && rc_nics_find(work->topology, &work->nics) < 0))
        return out_of_memory();
    if (!file && question->gpus.n > 0)
        work->driver.count = rc_nvidia_read_gpus(RC_NVIDIA_FOLDER, work->driver.gpu);
    if ((status = choose_gpus(work, question->gpus)) == 0 && (status = choose_cpus(work, question->cpus)) == 0 &&
        (status = place_tasks(work, question->tasks)) == 0 &&
        (question->bind != RC_PINS_NUMA || (status = widen_to_numa(work)) == 0))
        status = print_pins(work);
    return status;
}

static void put_away(struct work *work)
{
    if (work->place)
        rc_place_free(work->place, work->tasks);
    free(work->place);
    free(work->chosen);
    free(work->gpus.gpu);
    free(work->nics.nic);
    hwloc_bitmap_free(work->allowed);
    if (work->topology)
        hwloc_topology_destroy(work->topology);
}

int map_answer_pins(const char *file)
{
    static char buffer[REQUEST_SIZE];
    static struct work work;
    struct rc_pins_question question = { .tasks = 0 };
    int status;

    if (!rc_pairs_read(read_request(buffer, sizeof(buffer)), '\n', &rc_pins_question_form, &question) ||
        question.tasks == 0)
        return console_fail("pins: that is no request");
    status = answer_question(&work, &question, file);
    put_away(&work);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return console_fail("pins: cannot write to standard output: %s", strerror(errno));
}
