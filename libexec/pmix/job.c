/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

enum { TASKS_MAX = 16777216 }; /* as many as rollcall takes */

/* Where each rank is. */
struct layout {
    uint32_t size;
    uint32_t nodes;
    uint32_t *node;    /* of each rank, in order of the nodes' lowest one */
    uint32_t *tasks;   /* on each node */
    const char **host; /* of each node, where it goes by name */
    uint32_t *id;      /* else the launcher's own number of each node */
    bool by_name;
};

static int get_number(const pmix_proc_t *self, pmix_rank_t rank, const char *key, uint32_t *number)
{
    pmix_status_t status;
    const pmix_value_t *value = pmix_find_value(self, rank, key, &status);

    if (!value)
        return pmix_fail_key(key, rank, pmix_library.error_string(status));
    if (value->type == PMIX_UINT32)
        *number = value->data.uint32;
    else if (value->type == PMIX_UINT16)
        *number = value->data.uint16;
    else
        return pmix_fail_key(key, rank, "is no number");
    return 0;
}

static const char *get_text(const pmix_proc_t *self, pmix_rank_t rank, const char *key)
{
    pmix_status_t status;
    const pmix_value_t *value = pmix_find_value(self, rank, key, &status);

    if (value && value->type == PMIX_STRING && value->data.string && !strpbrk(value->data.string, "\r\n"))
        return value->data.string;
    pmix_fail_key(key, rank, value ? "is no text" : pmix_library.error_string(status));
    return NULL;
}

static void place_rank(struct layout *layout, uint32_t rank, uint32_t node)
{
    layout->node[rank] = node;
    layout->tasks[node]++;
}

/* Neighbours are most often on one node, or on nodes that follow each other. */
static int find_nodes_by_name(const pmix_proc_t *self, struct layout *layout)
{
    uint32_t node = 0;

    layout->by_name = true;
    for (uint32_t rank = 0; rank < layout->size; rank++) {
        const char *host = get_text(self, rank, PMIX_HOSTNAME);
        uint32_t left = layout->nodes;

        if (!host)
            return -1;
        for (; left > 0 && strcmp(host, layout->host[node]) != 0; left--)
            node = (node + 1) % layout->nodes;
        if (left == 0) {
            node = layout->nodes++;
            layout->host[node] = host;
        }
        place_rank(layout, rank, node);
    }
    return 0;
}

/* The nodes, numbered in order of their lowest rank. *by_id gives a node for the
 * launcher's number of it: those are small, and in no order. */
static int find_nodes_by_id(const pmix_proc_t *self, struct layout *layout)
{
    uint32_t room = 0;
    uint32_t *by_id = NULL;
    int status = 0;

    for (uint32_t rank = 0; rank < layout->size && status == 0; rank++) {
        uint32_t id;

        status = get_number(self, rank, PMIX_NODEID, &id);
        if (status == 0 && id >= TASKS_MAX)
            status = pmix_fail_key(PMIX_NODEID, rank, "is too large");
        if (status < 0)
            break;
        if (id >= room) {
            uint32_t *larger = realloc(by_id, ((size_t)id + 1) * 2 * sizeof(*by_id));

            if (!larger) {
                status = pmix_fail("answer", "out of memory", "");
                break;
            }
            by_id = larger;
            memset(by_id + room, 0xff, (((size_t)id + 1) * 2 - room) * sizeof(*by_id));
            room = (id + 1) * 2;
        }
        if (by_id[id] == UINT32_MAX) {
            by_id[id] = layout->nodes;
            layout->id[layout->nodes++] = id;
        }
        place_rank(layout, rank, by_id[id]);
    }
    free(by_id);
    return status;
}

/* Slurm 22.05 numbers the nodes of the ranks on its own node alone, and names
 * all (measured). */
static int find_nodes(const pmix_proc_t *self, struct layout *layout)
{
    pmix_status_t status;

    for (uint32_t rank = 0; rank < layout->size; rank += layout->size - 1) {
        if (!pmix_find_value(self, rank, PMIX_NODEID, &status))
            return find_nodes_by_name(self, layout);
        if (layout->size == 1)
            break;
    }
    return find_nodes_by_id(self, layout);
}

/* "(vector,(0,2,2),(2,1,1))": neighbours that have equally many ranks in a row
 * are one run. */
static void print_map(const struct layout *layout)
{
    uint32_t first = 0;
    uint32_t nodes = 0;
    uint32_t tasks = 0;
    const char *between = "map=(vector,";

    for (uint32_t rank = 0; rank <= layout->size;) {
        uint32_t node = rank < layout->size ? layout->node[rank] : 0;
        uint32_t count = 0;

        while (rank + count < layout->size && layout->node[rank + count] == node)
            count++;
        if (nodes > 0 && count == tasks && node == first + nodes) {
            nodes++;
        } else {
            if (nodes > 0) {
                printf("%s(%u,%u,%u)", between, first, nodes, tasks);
                between = ",";
            }
            first = node;
            nodes = 1;
            tasks = count;
        }
        rank += count ? count : 1;
    }
    puts(")");
}

/* "2(x2),1" */
static void print_tasks(const struct layout *layout)
{
    const char *between = "tasks=";

    for (uint32_t node = 0; node < layout->nodes;) {
        uint32_t repeat = 1;

        while (node + repeat < layout->nodes && layout->tasks[node + repeat] == layout->tasks[node])
            repeat++;
        printf("%s%u", between, layout->tasks[node]);
        if (repeat > 1)
            printf("(x%u)", repeat);
        between = ",";
        node += repeat;
    }
    putchar('\n');
}

static void print_ids(const struct layout *layout)
{
    if (layout->by_name)
        return;
    for (uint32_t node = 0; node < layout->nodes; node++)
        printf("%s%u", node ? "," : "ids=", layout->id[node]);
    putchar('\n');
}

int pmix_print_job(const pmix_proc_t *self)
{
    struct layout layout = { .size = 0 };
    uint32_t local_rank;
    const char *host;
    int status = -1;

    if (get_number(self, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &layout.size) < 0 ||
        get_number(self, self->rank, PMIX_LOCAL_RANK, &local_rank) < 0 || !(host = get_text(self, 0, PMIX_HOSTNAME)))
        return -1;
    if (layout.size > TASKS_MAX || self->rank >= layout.size)
        return pmix_fail_key(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD, "cannot be");
    layout.node = calloc(layout.size, sizeof(*layout.node));
    layout.tasks = calloc(layout.size, sizeof(*layout.tasks));
    layout.host = calloc(layout.size, sizeof(*layout.host));
    layout.id = calloc(layout.size, sizeof(*layout.id));
    if (!layout.node || !layout.tasks || !layout.host || !layout.id)
        pmix_fail("answer", "out of memory", "");
    else
        status = find_nodes(self, &layout);
    if (status == 0) {
        printf("rank=%u\nsize=%u\nlocal_rank=%u\nnode=%u\n", self->rank, layout.size, local_rank,
               layout.node[self->rank]);
        print_map(&layout);
        print_tasks(&layout);
        print_ids(&layout);
        printf("host=%s\n", host);
    }
    free(layout.node);
    free(layout.tasks);
    free(layout.host);
    free(layout.id);
    return status;
}
