/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/layout.h"
#include "pmix.h"
#include "system/program.h"

/* Libpmix, opened at run time: the few functions that are used of it, and how a failure is told.
 *
 * One build runs with PMIx 4, 5 and 7, and a rollcall that was built with PMIx is installed where there is none.
 * Nothing of the library's own structures is made here but values: the size of others (pmix_info_t) is not the same in
 * all releases, a value's head is. */

#define LIBRARY "libpmix.so.2"

struct pmix_library pmix_library;

int pmix_fail(const char *kind, const char *what, const char *why)
{
    printf("failed=%s %s%s%s\n", kind, what, *why ? ": " : "", why);
    return -1;
}

/* POSIX's way from an object's address to a function's. */
static int find_symbol(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);

    if (!address)
        return pmix_fail("library", name, LIBRARY " has no such function");
    memcpy(function, &address, sizeof(address));
    return 0;
}

/* "/a/folder/libpmix.so.2: file too short"; another library's name stays. */
static const char *behind_name(const char *error)
{
    const char *name = strstr(error, LIBRARY ": ");

    return name ? name + strlen(LIBRARY ": ") : error;
}

int pmix_open_library(void)
{
    /* global: its plugins look for the library's names */
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);

    if (!handle)
        return pmix_fail("library", behind_name(dlerror()), "");
    if (find_symbol(handle, "PMIx_Init", &pmix_library.init) < 0 ||
        find_symbol(handle, "PMIx_Get", &pmix_library.get) < 0 ||
        find_symbol(handle, "PMIx_Put", &pmix_library.put) < 0 ||
        find_symbol(handle, "PMIx_Commit", &pmix_library.commit) < 0 ||
        find_symbol(handle, "PMIx_Finalize", &pmix_library.finalize) < 0 ||
        find_symbol(handle, "PMIx_Error_string", &pmix_library.error_string) < 0)
        return -1;
    return 0;
}

const pmix_value_t *pmix_find_value(const pmix_proc_t *self, pmix_rank_t rank, const char *key, pmix_status_t *status)
{
    pmix_proc_t proc = *self;
    pmix_value_t *value = NULL;

    proc.rank = rank;
    *status = pmix_library.get(&proc, key, NULL, 0, &value);
    return *status == PMIX_SUCCESS ? value : NULL;
}

int pmix_fail_key(const char *key, pmix_rank_t rank, const char *why)
{
    char what[128];

    if (rank == PMIX_RANK_WILDCARD)
        snprintf(what, sizeof(what), "%s of the job", key);
    else
        snprintf(what, sizeof(what), "%s of rank %u", key, rank);
    return pmix_fail("answer", what, why);
}

/* The connection to the PMIx server, which the task keeps after this program has ended.
 *
 * A server takes the end of a process's connection, finalized or not, for one participant less in every fence that
 * waits on that node (openpmix v5.0.7 src/mca/ptl/base/ptl_base_sendrecv.c, lost_connection; so in 4.2 and 6). If
 * another rank is in its MPI_Init already, its fence then ends too early, or never: of 150 launches of Open MPI 5
 * with three ranks, four crashed or hung; none since the connection ends with the task. */

enum { DESCRIPTORS = 1024 };

static bool was_open[DESCRIPTORS];

/* libpmix shuts its socket down before it closes it, which would end the connection for the copy as well. Nothing
 * else in this program calls it. */
__attribute__((visibility("default"))) int shutdown(int fd, int how)
{
    (void)fd, (void)how;
    return 0;
}

void pmix_connection_expect(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static bool is_connected(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 &&
           (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

int pmix_connection_copy(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (!was_open[fd] && is_connected(fd))
            return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return -1;
}

void pmix_connection_hand_over(int copy)
{
    if (copy >= 0)
        rc_descriptor_send(STDIN_FILENO, copy);
}

/* What the PMIx server says of the job and of this task. */

enum { TASKS_MAX = 16777216, MAP_SIZE = 1 << 20 }; /* as many as rollcall takes */

/* Where each rank is. */
struct layout {
    uint32_t size;
    uint32_t nodes;
    uint32_t *node;  /* of each rank, in order of the nodes' lowest one */
    uint32_t *tasks; /* on each node */
    struct place {
        uint32_t id;
        const char *host;
    } * place; /* of each node: its number or its name */
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

/* By the launcher's numbers of the nodes. Slurm 22.05 numbers those of the ranks on its own node alone, and names all
 * (measured). */
static int find_nodes(const pmix_proc_t *self, struct layout *layout)
{
    pmix_status_t status;
    bool by_name = false;
    uint32_t node = 0;

    for (uint32_t rank = 0; rank < layout->size && !by_name; rank++)
        by_name = !pmix_find_value(self, rank, PMIX_NODEID, &status);
    for (uint32_t rank = 0; rank < layout->size; rank++) {
        struct place place = { .id = 0, .host = "" };
        uint32_t left = layout->nodes;

        if (by_name ? !(place.host = get_text(self, rank, PMIX_HOSTNAME))
                    : get_number(self, rank, PMIX_NODEID, &place.id) < 0)
            return -1;
        /* neighbours are most often on one node, or on nodes that follow each other */
        for (; left > 0 && (place.id != layout->place[node].id || strcmp(place.host, layout->place[node].host) != 0);
             left--)
            node = (node + 1) % layout->nodes;
        if (left == 0) {
            node = layout->nodes++;
            layout->place[node] = place;
        }
        layout->node[rank] = node;
        layout->tasks[node]++;
    }
    return 0;
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

int pmix_print_job(const pmix_proc_t *self)
{
    static char text[MAP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct layout layout = { .size = 0 };
    uint32_t local_rank;
    const char *host;
    const char *map;
    int status = -1;

    if (get_number(self, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &layout.size) < 0 ||
        get_number(self, self->rank, PMIX_LOCAL_RANK, &local_rank) < 0 || !(host = get_text(self, 0, PMIX_HOSTNAME)))
        return -1;
    if (layout.size > TASKS_MAX || self->rank >= layout.size)
        return pmix_fail_key(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD, "cannot be");
    layout.node = calloc(layout.size, sizeof(*layout.node));
    layout.tasks = calloc(layout.size, sizeof(*layout.tasks));
    layout.place = calloc(layout.size, sizeof(*layout.place));
    if (!layout.node || !layout.tasks || !layout.place)
        pmix_fail("answer", "out of memory", "");
    else
        status = find_nodes(self, &layout);
    if (status == 0 && !(map = rc_taskmap_write(layout.node, layout.size, &arena)))
        status = pmix_fail("answer", "the layout is too long", "");
    if (status == 0) {
        printf("rank=%u\nsize=%u\nlocal_rank=%u\nnode=%u\nmap=%s\n", self->rank, layout.size, local_rank,
               layout.node[self->rank], map);
        print_tasks(&layout);
        printf("host=%s\n", host);
    }
    free(layout.node);
    free(layout.tasks);
    free(layout.place);
    return status;
}
