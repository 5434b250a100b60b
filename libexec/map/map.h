/* SPDX-License-Identifier: BSD-3-Clause */
/* map.h - what the files of rollcall-map share. */
#pragma once

#include <stdint.h>

#include "placement/placement.h"
#include "resolve/resolve.h"

enum { NOTES_MAX = 8, NOTE_SIZE = 200 };

struct wishes {
    const char *file; /* the file of --from; NULL for this machine */
    const char *tasks;
    const char *gpus;
    const char *cpus;
};

/* A topology, and where each task of it goes. */
struct mapping {
    const char *command; /* which is answered, for its errors: "map" or "pins" */
    const char *file;    /* of the topology; NULL for this machine */
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    struct rc_pci_gpus gpus;
    unsigned *chosen; /* the tasks' GPUs, as places in gpus, or RC_PLACE_NO_GPU */
    size_t chosen_count;
    struct rc_nic_list nics;
    unsigned tasks;
    uint32_t rank;       /* this process's, RC_UNKNOWN where it is none of these tasks */
    uint32_t local_rank; /* likewise */
    struct rc_place *place;
    char **cpus; /* the hardware threads of each place, as a list */
    char note[NOTES_MAX][NOTE_SIZE];
    unsigned notes;
};

/* 0, or -1 after one line on standard error. map_free takes zeroed and half-made ones as well. */
int map_make(const struct wishes *wishes, struct mapping *mapping);
void map_free(struct mapping *mapping);

/* The steps of map_make that pins takes, too, in their order. Those with a status return 0, or -1 after one line on
 * standard error. */

/* The topology, GPUs and, as deep as that, network cards. */
int map_load(struct mapping *mapping, enum rc_topology_depth depth);

/* A GPU for each name of a list: a bus id, a UUID, or an index, of all GPUs (listed) or of those that the driver has.
 * RC_PLACE_NO_GPU for a name that is none; the first of these is *unknown, absent without one. */
int map_choose_gpus(struct mapping *mapping, struct rc_str list, bool listed, struct rc_str *unknown);

/* All GPUs that a job can use. */
int map_choose_own_gpus(struct mapping *mapping);

/* What the tasks may use: the list; without one what the container or the step gives, and of that, where
 * own_counts, what this very process is bound to. */
int map_choose_cpus(struct mapping *mapping, struct rc_str list, bool own_counts);

/* The place of each task. whole_nodes: a task gets all threads that may be used of its cores' NUMA nodes. */
int map_place_tasks(struct mapping *mapping, bool whole_nodes);

/* 0, or -1 without memory. */
int map_print_text(const struct mapping *mapping);
void map_print_json(const struct mapping *mapping);

/* `rollcall-map pins [TOPOLOGY.xml]`: answers the question on standard input (lib/resolve/pins.h). What cannot be
 * answered has nothing on standard output, a line on standard error, and a status. */
int map_answer_pins(const char *file);

/* The names of a task's network card. */
struct rc_pin map_pin_nic(const struct mapping *mapping, unsigned task);

/* The value that nic=auto would give the i-th variable (rc_nicnames_variable) for a task; it
 * lives until the next call. NULL where there is nothing to say. */
const char *map_proposal(const struct mapping *mapping, unsigned task, unsigned i);

/* Whether the value differs from task to task. */
bool map_proposal_is_own(unsigned i);
