/* rollcall-pmix - asks the PMIx server of the launcher that started this task who the task is.
 *
 * A program of its own, because PMIx must not stay connected in an application
 * (Slurm ends a step in which a connected process ends without a word), keeps a
 * thread, and reads whatever plugins it finds: none of that belongs into the
 * process that becomes the user's. One session: PMIx_Init, some PMIx_Get, which
 * the library answers from what came with PMIx_Init, and PMIx_Finalize.
 *
 * Prints the lines that lib/pmixjob.h explains, all of them or one that says
 * what failed, and ends with 0 or 1. It may not take longer than DEADLINE
 * seconds: a server that hangs ends it by SIGALRM.
 *
 * libpmix is opened at run time, so that one build runs with PMIx 4, 5 and 7 and
 * a rollcall that was built with PMIx is installed where there is none. Nothing
 * is taken from the server but what is right in all of them: the number of nodes
 * (PMIX_NUM_NODES), for one, is not (measured with PRRTE 3.0.8: for 3 ranks on 2
 * nodes 2 by prterun's own server, 4 by a prted's), and is counted here.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LIBRARY "libpmix.so.2"

enum {
    DEADLINE = 10,        /* seconds; the caller waits a little longer */
    TASKS_MAX = 16777216, /* as many as rollcall takes */
};

static struct {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t count);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char *key, const pmix_info_t *info, size_t count,
                         pmix_value_t **value);
    pmix_status_t (*finalize)(const pmix_info_t *info, size_t count);
    const char *(*error_string)(pmix_status_t status);
} library;

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

static int fail(const char *kind, const char *what, const char *why)
{
    printf("failed=%s %s%s%s\n", kind, what, *why ? ": " : "", why);
    return -1;
}

static void *symbol(void *handle, const char *name)
{
    void *address = dlsym(handle, name);

    if (!address)
        fail("library", name, LIBRARY " has no such function");
    return address;
}

/* "/a/folder/libpmix.so.2: file too short"; another library's name stays. */
static const char *behind_name(const char *error)
{
    const char *name = strstr(error, LIBRARY ": ");

    return name ? name + strlen(LIBRARY ": ") : error;
}

static int open_library(void)
{
    /* global: its plugins look for the library's names */
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    void *functions[4];

    if (!handle)
        return fail("library", behind_name(dlerror()), "");
    if (!(functions[0] = symbol(handle, "PMIx_Init")) || !(functions[1] = symbol(handle, "PMIx_Get")) ||
        !(functions[2] = symbol(handle, "PMIx_Finalize")) || !(functions[3] = symbol(handle, "PMIx_Error_string")))
        return -1;
    /* POSIX's way from an object's address to a function's */
    memcpy(&library.init, &functions[0], sizeof(library.init));
    memcpy(&library.get, &functions[1], sizeof(library.get));
    memcpy(&library.finalize, &functions[2], sizeof(library.finalize));
    memcpy(&library.error_string, &functions[3], sizeof(library.error_string));
    return 0;
}

/* No info: its size is not the same in all releases, a value's head is. What is
 * returned is not freed: this process ends soon. */
static const pmix_value_t *find(const pmix_proc_t *self, pmix_rank_t rank, const char *key, pmix_status_t *status)
{
    pmix_proc_t proc = *self;
    pmix_value_t *value = NULL;

    proc.rank = rank;
    *status = library.get(&proc, key, NULL, 0, &value);
    return *status == PMIX_SUCCESS ? value : NULL;
}

static int missing(const char *key, pmix_rank_t rank, const char *why)
{
    char what[128];

    if (rank == PMIX_RANK_WILDCARD)
        snprintf(what, sizeof(what), "%s of the job", key);
    else
        snprintf(what, sizeof(what), "%s of rank %u", key, rank);
    return fail("answer", what, why);
}

static int get_number(const pmix_proc_t *self, pmix_rank_t rank, const char *key, uint32_t *number)
{
    pmix_status_t status;
    const pmix_value_t *value = find(self, rank, key, &status);

    if (!value)
        return missing(key, rank, library.error_string(status));
    if (value->type == PMIX_UINT32)
        *number = value->data.uint32;
    else if (value->type == PMIX_UINT16)
        *number = value->data.uint16;
    else
        return missing(key, rank, "is no number");
    return 0;
}

static const char *get_text(const pmix_proc_t *self, pmix_rank_t rank, const char *key)
{
    pmix_status_t status;
    const pmix_value_t *value = find(self, rank, key, &status);

    if (value && value->type == PMIX_STRING && value->data.string && !strpbrk(value->data.string, "\r\n"))
        return value->data.string;
    missing(key, rank, value ? "is no text" : library.error_string(status));
    return NULL;
}

static void place(struct layout *layout, uint32_t rank, uint32_t node)
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
        place(layout, rank, node);
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
            status = missing(PMIX_NODEID, rank, "is too large");
        if (status < 0)
            break;
        if (id >= room) {
            uint32_t *larger = realloc(by_id, ((size_t)id + 1) * 2 * sizeof(*by_id));

            if (!larger) {
                status = fail("answer", "out of memory", "");
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
        place(layout, rank, by_id[id]);
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
        if (!find(self, rank, PMIX_NODEID, &status))
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

static int ask(const pmix_proc_t *self)
{
    struct layout layout = { .size = 0 };
    uint32_t local_rank;
    const char *host;
    int status = -1;

    if (get_number(self, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &layout.size) < 0 ||
        get_number(self, self->rank, PMIX_LOCAL_RANK, &local_rank) < 0 || !(host = get_text(self, 0, PMIX_HOSTNAME)))
        return -1;
    if (layout.size > TASKS_MAX || self->rank >= layout.size)
        return missing(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD, "cannot be");
    layout.node = calloc(layout.size, sizeof(*layout.node));
    layout.tasks = calloc(layout.size, sizeof(*layout.tasks));
    layout.host = calloc(layout.size, sizeof(*layout.host));
    layout.id = calloc(layout.size, sizeof(*layout.id));
    if (!layout.node || !layout.tasks || !layout.host || !layout.id)
        fail("answer", "out of memory", "");
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

/* Whatever the launcher left ignored or blocked. */
static void set_deadline(void)
{
    sigset_t alarms;

    signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(DEADLINE);
}

int main(void)
{
    pmix_proc_t self;
    pmix_status_t status;
    int answer;

    /* nobody waits for an answer once the caller is gone */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_deadline();
    memset(&self, 0, sizeof(self));
    if (open_library() < 0)
        return 1;
    status = library.init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fail("server", "PMIx_Init", library.error_string(status));
        return 1;
    }
    answer = ask(&self);
    library.finalize(NULL, 0);
    return answer < 0 || fflush(stdout) != 0;
}
