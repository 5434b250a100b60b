/* SPDX-License-Identifier: BSD-3-Clause */
/* inventorytree.h - the files of an imaginary node with GPUs and network cards, in a folder of their own, as the
 * drivers of NVIDIA (535) and Mellanox and Linux 6.8 have them. */
#pragma once

#include <stdbool.h>

/* What the driver says of a GPU that nobody has used yet; without the backslashes it would have trigraphs. */
#define TREE_NO_UUID "GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?"

struct tree_node {
    unsigned gpus;
    unsigned cards;
    unsigned first_bus;      /* where the addresses begin; each device takes four */
    unsigned serial;         /* in UUIDs, serial numbers, GUIDs and LIDs */
    bool backwards;          /* the cards' names are the other way round */
    const char *model;       /* of the GPUs */
    const char *gpu_speed;   /* of the GPUs' links now */
    const char *narrow_gpu;  /* the width of the first GPU's link, else 16 */
    const char *narrow_card; /* likewise of the first card */
    const char *slow_card;   /* the speed of the first card's link */
    const char *port;        /* the state of the first card's port */
    const char *rate;        /* its rate */
    const char *driver;      /* the first line of /proc/driver/nvidia/version */
    const char *kernel;
    const char *memory; /* kB */
    int channel;        /* of IMEX; below 0: none */
};

/* The healthy one that tests start from. */
extern const struct tree_node tree_healthy;

/* Writes a file below the root, with the folders that it needs. */
void tree_file(const char *root, const char *name, const char *text);

void tree_link(const char *root, const char *name, const char *to);

void tree_make(const char *root, const struct tree_node *node);

void tree_remove(const char *root);
