/* SPDX-License-Identifier: BSD-3-Clause */
/* map.h - what the files of rollcall-map share. */
#ifndef ROLLCALL_LIBEXEC_MAP_MAP_H
#define ROLLCALL_LIBEXEC_MAP_MAP_H

#include <stdint.h>

#include "placement/gpus.h"
#include "placement/place.h"
#include "resolve/resolve.h"

enum { NOTES_MAX = 8, NOTE_SIZE = 200 };

struct wishes {
    const char *file; /* the file of --from; NULL for this machine */
    const char *tasks;
    const char *gpus;
    const char *cpus;
};

struct mapping {
    const char *file;
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    struct rc_pci_gpus gpus;
    struct rc_gpu_ids *ids; /* the names of each GPU */
    struct rc_nic_list nics;
    unsigned *chosen;
    size_t chosen_count;
    unsigned tasks;
    uint32_t rank;       /* this process's, RC_UNKNOWN where it is none of these tasks */
    uint32_t local_rank; /* likewise */
    struct rc_place *place;
    char note[NOTES_MAX][NOTE_SIZE];
    unsigned notes;
};

/* 0, or -1 after one line on standard error. map_free takes zeroed and
 * half-made ones as well. */
int map_make(const struct wishes *wishes, struct mapping *mapping);
void map_free(struct mapping *mapping);

/* Each returns 0, or -1 without memory. */
int map_print_text(const struct mapping *mapping);
int map_print_json(const struct mapping *mapping);

/* `rollcall-map pins [TOPOLOGY.xml]`: answers the question on standard input (lib/resolve/pins.h). What cannot be
 * answered has nothing on standard output, a line on standard error, and a status. */
int map_answer_pins(const char *file);

struct proposals {
    char *fabric; /* names of all that a job uses */
    char *network;
    char *value;
    size_t size; /* of that */
    struct rc_pins pins;
};

/* 0, or -1 without memory. map_proposals_free takes half-made ones, too. */
int map_proposals_make(const struct mapping *mapping, struct proposals *proposals);
void map_proposals_free(struct proposals *proposals);

/* The value of the i-th variable (rc_nicnames_variable) for a task of the mapping; it
 * lives until the next call. NULL where there is nothing to say. */
const char *map_proposals_value(const struct proposals *proposals, const struct mapping *mapping, unsigned task,
                                unsigned i);

/* Whether the value differs from task to task. */
bool map_proposals_is_own(unsigned i);

/* A mapping as lstopo draws it: the GPU, cores and card of each task in its colour, and a caption.
 *
 * The colours and texts are annotations of the topology (lstopo(1), CUSTOM COLORS), which hwloc's XML keeps. */

/* Annotates the mapping's topology and writes it; "-" is standard output. 0, or -1 after one line on standard error. */
int map_write_xml(struct mapping *mapping, const char *file);

/* The format of a picture in lstopo's words, by its file's ending: .svg, .pdf or .png. NULL for any other. */
const char *map_picture_format(const char *file);

/* Becomes lstopo, which draws the annotated topology into the file; its exit status is the program's then. Returns
 * this one's, after one line on standard error, if there is none. */
int map_draw_picture(struct mapping *mapping, const char *file);

#endif
