/* SPDX-License-Identifier: BSD-3-Clause */
/* map.h - shared by the files of rollcall-map. */
#pragma once

#include <stdint.h>

#include "placement/placement.h"
#include "resolve/resolve.h"

enum { NOTES_MAX = 8, NOTE_SIZE = 200 };

struct wishes {
    const char *file; /* of --from; NULL: this machine */
    const char *tasks;
    const char *gpus;
    const char *cpus;
};

/* A topology, and the place of each task. */
struct mapping {
    const char *command; /* for errors: "map" or "pins" */
    const char *file;    /* of the topology; NULL: this machine */
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    struct rc_pci_gpus gpus;
    unsigned *chosen; /* the tasks' GPUs, indices in gpus, or RC_PLACE_NO_GPU */
    size_t chosen_count;
    struct rc_nic_list nics;
    unsigned tasks;
    uint32_t rank; /* of this process; RC_UNKNOWN: none of these tasks */
    uint32_t local_rank;
    struct rc_place *place;
    char **cpus; /* hardware threads of each place, as a list */
    char note[NOTES_MAX][NOTE_SIZE];
    unsigned notes;
};

/* Return 0, or -1 after one line on standard error. map_free accepts zeroed and incomplete mappings. */
int map_make(const struct wishes *wishes, struct mapping *mapping);
void map_free(struct mapping *mapping);

/* The steps of map_make that pins uses, in order. Return 0, or -1 after one line on standard error. */

/* Load the topology, GPUs and, at that depth, network cards. */
int map_load(struct mapping *mapping, enum rc_topology_depth depth);

/* Find a GPU for each name of a list: a bus id, a UUID, or an index of all GPUs (listed) or the driver's. Unknown names
 * give RC_PLACE_NO_GPU; the first is *unknown, else RC_ABSENT. */
int map_choose_gpus(struct mapping *mapping, struct rc_str list, bool listed, struct rc_str *unknown);

/* Choose all GPUs that a job can use. */
int map_choose_own_gpus(struct mapping *mapping);

/* Set the CPUs of the tasks: the list; or those of the container or step and, if own_counts, of this process. */
int map_choose_cpus(struct mapping *mapping, struct rc_str list, bool own_counts);

/* Place each task. whole_nodes: allow all usable threads of its cores' NUMA nodes. */
int map_place_tasks(struct mapping *mapping, bool whole_nodes);

/* Return 0, or -1 without memory. */
int map_print_text(const struct mapping *mapping);
void map_print_json(const struct mapping *mapping);

/* `rollcall-map pins [TOPOLOGY.xml]`: answer the request on standard input (lib/resolve/pins.h). On failure print
 * nothing to standard output and a line to standard error, and return an exit status. */
int map_answer_pins(const char *file);

/* Return the names of a task's network card. */
struct rc_pin map_pin_nic(const struct mapping *mapping, unsigned task);

/* Return the value of nic=auto for the i-th variable (rc_nicnames_variable) of a task, until the next call; or NULL. */
const char *map_proposal(const struct mapping *mapping, unsigned task, unsigned i);

/* Return whether the value differs between tasks. */
bool map_proposal_is_own(unsigned i);
