/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.c - placement for plugin and command: a request on standard input, pins of resolve/pins.h. */
#include "map.h"

#include <stdio.h>

#include "base/text.h"
#include "console/output.h"
#include "resolve/pins.h"
#include "system/gpufiles.h"

enum { REQUEST_SIZE = 65536 };

static void print_names(struct rc_str fabric, struct rc_str network)
{
    if (fabric.n)
        printf(" fabric=%s", fabric.p);
    if (network.n)
        printf(" network=%s", network.p);
}

static void print_pin(const struct mapping *mapping, unsigned task)
{
    const struct rc_place *place = &mapping->place[task];
    struct rc_pin pin = map_pin_nic(mapping, task);

    printf("pin cpus=%s cores=%u", mapping->cpus[task], place->cores);
    if (place->gpu >= 0)
        printf(" gpu=%u", (unsigned)(task % mapping->chosen_count));
    print_names(pin.fabric, pin.network);
    puts(place->shared ? " shared=yes" : "");
}

static void print_pins(const struct mapping *mapping)
{
    printf("node");
    print_names(rc_str(mapping->nics.cards), rc_str(mapping->nics.interfaces));
    putchar('\n');
    for (unsigned i = 0; i < mapping->tasks; i++)
        print_pin(mapping, i);
}

static enum rc_topology_depth choose_depth(const struct rc_pins_question *question)
{
    struct rc_here here;

    if (!question->no_cards)
        return RC_TOPOLOGY_CARDS;
    rc_device_files_find(&here);
    return question->gpus.n > 0 && here.gpu_files > 0 ? RC_TOPOLOGY_GPUS : RC_TOPOLOGY_CORES;
}

static int choose_gpus(struct mapping *mapping, struct rc_str list)
{
    struct rc_str unknown;

    if (list.n == 0)
        return 0;
    return rc_str_is(list, "all") ? map_choose_own_gpus(mapping) : map_choose_gpus(mapping, list, false, &unknown);
}

static int answer_question(struct mapping *mapping, const struct rc_pins_question *question)
{
    mapping->tasks = question->tasks;
    if (map_load(mapping, choose_depth(question)) < 0 || choose_gpus(mapping, question->gpus) < 0 ||
        map_choose_cpus(mapping, question->cpus, true) < 0 ||
        map_place_tasks(mapping, question->bind == RC_PINS_NUMA) < 0)
        return STATUS_USAGE;
    print_pins(mapping);
    return STATUS_RESOLVED;
}

int map_answer_pins(const char *file)
{
    static char text[REQUEST_SIZE];
    struct mapping mapping = { .command = "pins", .file = file };
    struct rc_pins_question question = { .tasks = 0 };
    struct rc_str request = { text, fread(text, 1, sizeof(text), stdin) };
    int status;

    if (request.n == sizeof(text) || !rc_pairs_read(request, '\n', &rc_pins_question_form, &question) ||
        question.tasks == 0)
        return console_fail("pins: that is no request");
    status = answer_question(&mapping, &question);
    map_free(&mapping);
    return status;
}
