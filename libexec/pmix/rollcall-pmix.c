/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall-pmix - a short session with the PMIx server of this task's launcher.
 *
 *   rollcall-pmix job   print the task's numbers and the job's layout (lib/launcher/pmix.c)
 *   rollcall-pmix put   publish the endpoint of the job's server (lib/rendezvous); get reads it
 *
 * The second argument is the limit in milliseconds. Separate, because PMIx keeps a thread and loads plugins. Prints
 * NAME=VALUE lines, or one failure, and returns 0 or 1.
 *
 * Slurm kills the step of a client that disconnects without PMIx_Finalize (src/plugins/mpi/pmix/pmixp_client_v2.c,
 * _errhandler): block signals, and end a wait at the deadline, at a fatal signal, or when standard output is closed;
 * the caller never kills this process. PMIx_Commit has a thread: Slurm answers 31 s late if a querying node has ended
 * (measured). PMIx_Finalize takes up to 2 s (openpmix 4.2.2 and 5.0.7 src/client/pmix_client.c, fin_timeout). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/layout.h"
#include "system/node.h"
#include "system/program.h"

/* Print "failed=KIND WHAT: WHY" (kinds: lib/launcher/pmix.c). Return -1. */
static int fail(const char *kind, const char *what, const char *why)
{
    printf("failed=%s %s%s%s\n", kind, what, *why ? ": " : "", why);
    return -1;
}

/* Load libpmix at run time: one build serves PMIx 4, 5 and 7, and machines without. Only build values: pmix_info_t
 * changes size. */

#define LIBRARY "libpmix.so.2"

static struct {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t count);
    pmix_status_t (*get_nb)(const pmix_proc_t *proc, const char *key, const pmix_info_t *info, size_t count,
                            pmix_value_cbfunc_t function, void *more);
    pmix_status_t (*put)(pmix_scope_t scope, const char *key, pmix_value_t *value);
    pmix_status_t (*commit)(void);
    pmix_status_t (*finalize)(const pmix_info_t *info, size_t count);
    const char *(*error_string)(pmix_status_t status);
} pmix;

/* POSIX's conversion from an object pointer to a function pointer. */
static int find_symbol(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);

    if (!address)
        return fail("library", name, LIBRARY " has no such function");
    memcpy(function, &address, sizeof(address));
    return 0;
}

/* Cut "/a/folder/libpmix.so.2: file too short"; keep another library's name. */
static const char *behind_name(const char *error)
{
    const char *name = strstr(error, LIBRARY ": ");

    return name ? name + strlen(LIBRARY ": ") : error;
}

static int open_library(void)
{
    /* global: its plugins need the library's symbols */
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);

    if (!handle)
        return fail("library", behind_name(dlerror()), "");
    if (find_symbol(handle, "PMIx_Init", &pmix.init) < 0 || find_symbol(handle, "PMIx_Get_nb", &pmix.get_nb) < 0 ||
        find_symbol(handle, "PMIx_Put", &pmix.put) < 0 || find_symbol(handle, "PMIx_Commit", &pmix.commit) < 0 ||
        find_symbol(handle, "PMIx_Finalize", &pmix.finalize) < 0 ||
        find_symbol(handle, "PMIx_Error_string", &pmix.error_string) < 0)
        return -1;
    return 0;
}

enum { DEADLINE_MS = 10000 };

static int64_t deadline;
static int signals = -1;  /* signalfd of the fatal signals */
static int answered = -1; /* eventfd: take_value() was called */
static bool is_over;

/* Before PMIx_Init, whose threads inherit the mask. */
static int prepare_end(int64_t milliseconds)
{
    sigset_t all;

    deadline = rc_milliseconds() + milliseconds;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* the others have no effect here */
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGHUP);
    sigaddset(&all, SIGQUIT);
    signals = signalfd(-1, &all, SFD_CLOEXEC);
    answered = eventfd(0, EFD_CLOEXEC);
    return signals < 0 || answered < 0 ? fail("program", strerror(errno), "") : 0;
}

/* Wait for take_value() until `until`. Return false on a timeout, or when the session is over. */
static bool is_answered(int64_t until)
{
    struct pollfd p[] = { { answered, POLLIN, 0 }, { signals, POLLIN, 0 }, { STDOUT_FILENO, 0, 0 } };
    uint64_t count;

    while (!is_over) {
        int ready = poll(p, 3, rc_milliseconds_left(until < deadline ? until : deadline));

        if (ready > 0 && p[0].revents)
            return read(answered, &count, sizeof(count)) == sizeof(count);
        is_over = (ready > 0 && (p[1].revents || p[2].revents)) || rc_milliseconds() >= deadline;
        if (rc_milliseconds() >= until)
            break;
    }
    return false;
}

static struct {
    pmix_status_t status;
    bool is_number;
    uint32_t number;
    char *text; /* never freed: this process ends soon */
} answer;

/* Called in a thread of libpmix, which frees the value afterwards. */
static void take_value(pmix_status_t status, pmix_value_t *value, void *more)
{
    const uint64_t one = 1;

    (void)more;
    answer.status = status;
    if (status == PMIX_SUCCESS && value && value->type == PMIX_STRING && value->data.string)
        answer.text = strdup(value->data.string);
    answer.is_number = status == PMIX_SUCCESS && value && (value->type == PMIX_UINT32 || value->type == PMIX_UINT16);
    if (answer.is_number)
        answer.number = value->type == PMIX_UINT32 ? value->data.uint32 : value->data.uint16;
    (void)!write(answered, &one, sizeof(one));
}

static pmix_proc_t self;

/* Query a key into `answer`. `key` must outlive the query. */
static bool find_value(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = self;
    pmix_status_t status;

    proc.rank = rank;
    answer.text = NULL;
    answer.is_number = false;
    status = pmix.get_nb(&proc, key, NULL, 0, take_value, NULL);
    if (status != PMIX_SUCCESS)
        answer.status = status;
    else if (!is_answered(deadline))
        answer.status = PMIX_ERR_TIMEOUT;
    return answer.status == PMIX_SUCCESS;
}

/* fail() for a key of a rank, or of the job. */
static int fail_key(const char *key, pmix_rank_t rank, const char *why)
{
    char what[128];

    if (rank == PMIX_RANK_WILDCARD)
        snprintf(what, sizeof(what), "%s of the job", key);
    else
        snprintf(what, sizeof(what), "%s of rank %u", key, rank);
    return fail("answer", what, why);
}

/* A server counts a closed connection, finalized or not, as a participant less in each waiting fence of the node
 * (openpmix v5.0.7 src/mca/ptl/base/ptl_base_sendrecv.c, lost_connection; also 4.2 and 6), so the task keeps it. Of 150
 * launches of Open MPI 5 with three ranks four crashed or hung without that; none with it. */

enum { DESCRIPTORS = 1024 };

static bool was_open[DESCRIPTORS];

/* libpmix calls shutdown() before close(), which would end the copy. Nothing else here calls it. */
__attribute__((visibility("default"))) int shutdown(int fd, int how)
{
    (void)fd, (void)how;
    return 0;
}

/* Before PMIx_Init. */
static void note_descriptors(void)
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

/* After PMIx_Init: copy the connected descriptor, or return -1. */
static int copy_connection(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (!was_open[fd] && is_connected(fd))
            return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return -1;
}

/* The job's layout. Use only values that all servers set correctly: PMIX_NUM_NODES is wrong in PRRTE 3.0.8 (3 ranks on
 * 2 nodes: 2 by prterun's server, 4 by a prted's). */

enum { TASKS_MAX = 16777216, MAP_SIZE = 1 << 20 }; /* rollcall's limit */

/* The node of each rank. */
struct layout {
    uint32_t size;
    uint32_t nodes;
    uint32_t *node;  /* of each rank, numbered by lowest rank */
    uint32_t *tasks; /* on each node */
    struct place {
        uint32_t id;
        const char *host;
    } * place; /* of each node: a number or a name */
};

static int get_number(pmix_rank_t rank, const char *key, uint32_t *number)
{
    if (!find_value(rank, key))
        return fail_key(key, rank, pmix.error_string(answer.status));
    if (!answer.is_number)
        return fail_key(key, rank, "is no number");
    *number = answer.number;
    return 0;
}

static const char *get_text(pmix_rank_t rank, const char *key)
{
    bool found = find_value(rank, key);

    if (found && answer.text && !strpbrk(answer.text, "\r\n"))
        return answer.text;
    fail_key(key, rank, found ? "is no text" : pmix.error_string(answer.status));
    return NULL;
}

/* Slurm 22.05 numbers only the local nodes, and names all (measured). */
static int find_nodes(struct layout *layout)
{
    bool by_name = false;
    uint32_t node = 0;

    for (uint32_t rank = 0; rank < layout->size && !by_name; rank++)
        by_name = !find_value(rank, PMIX_NODEID);
    for (uint32_t rank = 0; rank < layout->size; rank++) {
        struct place place = { .id = 0, .host = "" };
        uint32_t left = layout->nodes;

        if (by_name ? !(place.host = get_text(rank, PMIX_HOSTNAME)) : get_number(rank, PMIX_NODEID, &place.id) < 0)
            return -1;
        /* consecutive ranks are usually on one node, or consecutive ones */
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

/* Print "2(x2),1". */
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

static int print_job(void)
{
    static char text[MAP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct layout layout = { .size = 0 };
    uint32_t local_rank;
    const char *host;
    const char *map;

    if (get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &layout.size) < 0 ||
        get_number(self.rank, PMIX_LOCAL_RANK, &local_rank) < 0 || !(host = get_text(0, PMIX_HOSTNAME)))
        return -1;
    if (layout.size > TASKS_MAX || self.rank >= layout.size)
        return fail_key(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD, "cannot be");
    layout.node = calloc(layout.size, sizeof(*layout.node));
    layout.tasks = calloc(layout.size, sizeof(*layout.tasks));
    layout.place = calloc(layout.size, sizeof(*layout.place));
    if (!layout.node || !layout.tasks || !layout.place)
        return fail("answer", "out of memory", "");
    if (find_nodes(&layout) < 0)
        return -1;
    if (!(map = rc_taskmap_write(layout.node, layout.size, &arena)))
        return fail("answer", "the layout is too long", "");
    printf("rank=%u\nsize=%u\nlocal_rank=%u\nnode=%u\nmap=%s\n", self.rank, layout.size, local_rank,
           layout.node[self.rank], map);
    print_tasks(&layout);
    printf("host=%s\n", host);
    return 0;
}

/* The job's endpoint, published by RANK 0's node. */

#define KEY "rollcall.server"

enum { LINE_SIZE = 4096, PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 50 };

static void *commit(void *more)
{
    take_value(pmix.commit(), NULL, more);
    return NULL;
}

/* Publish standard input's line. Return 0, or -1 after fail(). A key written once needs no fence: Slurm's is no barrier
 * without data, and blocks the others if one task misses it. */
static int put_endpoint(void)
{
    char line[LINE_SIZE];
    pmix_value_t value = { .type = PMIX_STRING, .data.string = line };
    pmix_status_t status;
    pthread_t thread;

    if (!fgets(line, sizeof(line), stdin))
        return fail("program", "nothing to put", "");
    line[strcspn(line, "\n")] = '\0';
    status = pmix.put(PMIX_GLOBAL, KEY, &value);
    if (status == PMIX_SUCCESS)
        status = pthread_create(&thread, NULL, commit, NULL) == 0 && is_answered(deadline) ? answer.status
                                                                                           : PMIX_ERR_TIMEOUT;
    return status == PMIX_SUCCESS ? 0 : fail("server", "PMIx_Put", pmix.error_string(status));
}

/* Print the value as "endpoint=TEXT" when published. Before, PMIx 4 does not answer, and 5 fails at once (measured). */
static int print_endpoint(void)
{
    for (int pause = PAUSE_FIRST_MS; !is_over; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        bool found = find_value(0, KEY);

        if (found && answer.text) {
            printf("endpoint=%s\n", answer.text);
            return 0;
        }
        /* not published yet */
        if (answer.status != PMIX_ERR_NOT_FOUND && answer.status != PMIX_ERR_TIMEOUT)
            return fail_key(KEY, 0, found ? "is no text" : pmix.error_string(answer.status));
        is_answered(rc_milliseconds() + pause);
    }
    return fail_key(KEY, 0, "is not there by the deadline");
}

static const struct verb {
    const char *name;
    int (*answer)(void);
} verbs[] = { { "job", print_job }, { "put", put_endpoint }, { "get", print_endpoint } };

int main(int argc, char **argv)
{
    const struct verb *verb = verbs;
    const struct verb *end = verbs + sizeof(verbs) / sizeof(*verbs);
    uint32_t milliseconds = DEADLINE_MS;
    pmix_status_t status;
    int connection;
    int result;

    while (verb < end && (argc < 2 || strcmp(argv[1], verb->name) != 0))
        verb++;
    if (verb == end || argc > 3 || (argc == 3 && !rc_parse_u32(rc_str(argv[2]), INT32_MAX, &milliseconds))) {
        fputs("usage: rollcall-pmix job|put|get [MILLISECONDS] (see rollcall --help)\n", stderr);
        return 2;
    }
    if (prepare_end(milliseconds) < 0 || open_library() < 0)
        return 1;
    note_descriptors();
    status = pmix.init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fail("server", "PMIx_Init", pmix.error_string(status));
        return 1;
    }
    connection = copy_connection();
    result = verb->answer();
    pmix.finalize(NULL, 0);
    /* the caller's socket (system/program.h, kept); otherwise the connection ends here */
    if (connection >= 0)
        rc_descriptor_send(STDIN_FILENO, connection);
    return result < 0 || fflush(stdout) != 0;
}
