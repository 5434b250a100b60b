/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.c - the placement that plugin and command ask for: a request on standard input, pins of resolve/pins.h. */
#include "map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpuset.h"
#include "base/text.h"
#include "console/usage.h"
#include "resolve/pins.h"
#include "system/gpufiles.h"

enum { REQUEST_SIZE = 65536 };

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

/* In a container the topology has all of the machine's GPUs, and the driver's
 * files those that were given to it, which is what its indices count. */
static bool find_gpu(const struct mapping *mapping, struct rc_str name, unsigned *gpu)
{
    const struct rc_nvidia_gpus *driver = &mapping->driver;
    uint32_t number;

    if (driver->count == 0 || !rc_parse_u32(name, UINT32_MAX - 1, &number))
        return rc_pci_gpus_named(&mapping->gpus, name, driver, gpu);
    return number < driver->count && rc_pci_gpus_named(&mapping->gpus, rc_str(driver->gpu[number].address), NULL, gpu);
}

static int choose_gpus(struct mapping *mapping, struct rc_str list)
{
    struct rc_str unknown;

    if (list.n == 0)
        return 0;
    map_read_driver(mapping);
    return rc_str_is(list, "all") ? map_choose_all_gpus(mapping) : map_choose_gpus(mapping, list, find_gpu, &unknown);
}

/* Widens a task's threads to all that may be used of its cores' NUMA nodes. Its number of
 * cores stays its own share, because neighbours compute there as well. */
static int widen_to_numa(struct mapping *mapping)
{
    for (unsigned i = 0; i < mapping->tasks; i++) {
        hwloc_bitmap_t mask = mapping->place[i].cpus;
        hwloc_bitmap_t own = hwloc_bitmap_dup(mask);

        if (!own)
            return console_fail("pins: out of memory");
        for (hwloc_obj_t node = NULL;
             (node = hwloc_get_next_obj_by_type(mapping->topology, HWLOC_OBJ_NUMANODE, node)) != NULL;)
            if (hwloc_bitmap_intersects(node->cpuset, own))
                hwloc_bitmap_or(mask, mask, node->cpuset);
        hwloc_bitmap_and(mask, mask, mapping->allowed);
        /* these threads may lie in no NUMA node */
        hwloc_bitmap_or(mask, mask, own);
        hwloc_bitmap_free(own);
    }
    return 0;
}

static void print_names(struct rc_str fabric, struct rc_str network)
{
    if (fabric.p)
        printf(" fabric=%s", fabric.p);
    if (network.p)
        printf(" network=%s", network.p);
}

static void print_pin(const struct mapping *mapping, unsigned task)
{
    const struct rc_place *place = &mapping->place[task];
    struct pin_names names;
    struct rc_pin pin;

    map_pin_nic(mapping, task, &names, &pin);
    printf("pin cpus=%s cores=%u", mapping->cpus[task], place->cores);
    if (place->gpu >= 0)
        printf(" gpu=%u", (unsigned)(task % mapping->chosen_count));
    print_names(pin.fabric, pin.network);
    puts(place->shared ? " shared=yes" : "");
}

/* Writes all lines as rc_pins_read takes them, or none. */
static int print_pins(const struct mapping *mapping)
{
    for (unsigned i = 0; i < mapping->tasks; i++)
        if (hwloc_bitmap_last(mapping->place[i].cpus) >= RC_CPUS_MAX)
            return console_fail("pins: a hardware thread has a number above %d", RC_CPUS_MAX);
    printf("node");
    print_names(mapping->proposals.pins.fabric, mapping->proposals.pins.network);
    putchar('\n');
    for (unsigned i = 0; i < mapping->tasks; i++)
        print_pin(mapping, i);
    return 0;
}

static enum rc_topology_depth choose_depth(const struct rc_pins_question *question)
{
    if (!question->no_cards)
        return RC_TOPOLOGY_CARDS;
    return question->gpus.n > 0 && rc_pci_gpus_are_there(RC_SYSFS_PCI) ? RC_TOPOLOGY_GPUS : RC_TOPOLOGY_CORES;
}

static int answer_question(struct mapping *mapping, const struct rc_pins_question *question)
{
    mapping->tasks = question->tasks;
    if (map_load(mapping, choose_depth(question)) < 0 || choose_gpus(mapping, question->gpus) < 0 ||
        map_choose_cpus(mapping, question->cpus, true) < 0 || map_place_tasks(mapping) < 0 ||
        (question->bind == RC_PINS_NUMA && widen_to_numa(mapping) != 0) || map_write_cpus(mapping) < 0)
        return STATUS_USAGE;
    return print_pins(mapping);
}

int map_answer_pins(const char *file)
{
    static char buffer[REQUEST_SIZE];
    struct mapping mapping = { .command = "pins", .file = file };
    struct rc_pins_question question = { .tasks = 0 };
    int status;

    if (!rc_pairs_read(read_request(buffer, sizeof(buffer)), '\n', &rc_pins_question_form, &question) ||
        question.tasks == 0)
        return console_fail("pins: that is no request");
    status = answer_question(&mapping, &question);
    map_free(&mapping);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return console_fail("pins: cannot write to standard output: %s", strerror(errno));
}
