/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous/client.h"
#include "rendezvous/discovery.h"
#include "rendezvous/local.h"
#include "system/node.h"

/* Wait of a node's first task for the others, and of node 0 for other nodes: tasks of a launch start within 2 s of each
 * other on a busy machine. A reply takes at most PRINT_MS. */
enum { TASKS_MS = 5000, NODES_MS = 10000, PRINT_MS = 2000 };

/* Nodes that cannot meet print in turn: slurmstepd sends texts in pieces of 1024 bytes (MAX_MSG_LEN), which srun would
 * mix. */
enum { TURN_MS = 100, TURNS_MS = 3000 };

static const char taken[] = "taken";

struct together {
    const struct rc_result *result;
    struct rc_discovery discovery;
    char *text;
    size_t size;
};

bool cli_together_is_possible(const struct rc_result *result)
{
    if (!result->launcher || result->launcher->by_hand || !result->facts.scope ||
        (result->mode != RC_MODE_TORCHRUN && isatty(STDIN_FILENO)))
        return false;
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        if (cli_fact(result, (enum rc_field)i) == RC_UNKNOWN)
            return false;
    return cli_fact(result, RC_WORLD_SIZE) > 1;
}

/* In launcher mode tasks have no ranks, but can meet. */
static void find_discovery(const struct rc_result *result, struct rc_discovery *discovery)
{
    static struct rc_result seen;

    seen = *result;
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        seen.identity.field[i] = cli_fact(result, (enum rc_field)i);
    rc_discovery_find(&seen, discovery);
}

static bool append(struct together *t, struct rc_str more)
{
    char *larger = realloc(t->text, t->size + more.n + 1);

    if (!larger)
        return false;
    memcpy(larger + t->size, more.p, more.n);
    t->text = larger;
    t->size += more.n;
    t->text[t->size] = '\0';
    return true;
}

/* In the node's first task: collect all texts, its text first. An rc_server_decide. */
static struct rc_str take_all(void *more, const struct rc_roll_call *call)
{
    struct together *t = more;
    bool good = true;

    for (uint32_t i = 0; i < call->gather->count; i++)
        good = good && append(t, call->gather->list[i].value);
    return good ? rc_str(taken) : RC_STR("no memory");
}

static enum cli_part ask_first_task(const char *name, const struct rc_gather_request *own)
{
    struct rc_reply reply;
    bool is_taken;

    if (cli_join_node(name, own, TASKS_MS, 2 * TASKS_MS, &reply) < 0)
        return CLI_PART_ALONE;
    is_taken = rc_str_is((struct rc_str){ reply.text, reply.size }, taken);
    free(reply.text);
    return is_taken ? CLI_PART_SILENT : CLI_PART_ALONE;
}

static bool has_way(const struct rc_discovery *discovery)
{
    return discovery->kind == RC_DISCOVERY_SRUN || (discovery->kind == RC_DISCOVERY_PMIX && discovery->is_near);
}

/* Number the rounds of the nodes' first tasks by those of their nodes. */
static const char *open_server(const struct together *t, int64_t deadline, struct rc_endpoint *server, char *where,
                               struct rc_arena *arena)
{
    static const struct rc_tools tools = { .exchange = NULL };
    const char *name = rc_format(arena, "show/%s/%u", t->discovery.scope, cli_fact(t->result, RC_NODE_RANK));
    char who[RC_CLIENT_SELF];
    uint64_t round;

    if (rc_discovery_open(&t->discovery, &tools, deadline, where) < 0 || !rc_endpoint_read(rc_str(where), server) ||
        rc_client_self(who) < 0 ||
        rc_client_number(server, name, rc_str(who), rc_milliseconds_of_request(deadline), &round) < 0)
        return NULL;
    return rc_format(arena, "show/%s/all/%llu", t->discovery.scope, (unsigned long long)round);
}

/* The lowest node gets all texts. */
static enum cli_part take_nodes(struct together *t, uint32_t node, const struct rc_gathered *gathered)
{
    struct rc_str list = gathered->list;
    struct rc_str value;
    uint32_t member;

    if (gathered->count > 0 && !list.n)
        return CLI_PART_SILENT;
    while (rc_gathered_next(&list, &member, &value))
        if (member != node && !append(t, value))
            break;
    return CLI_PART_SPEAKS;
}

static enum cli_part meet_nodes(struct together *t)
{
    int64_t deadline = rc_milliseconds() + NODES_MS;
    uint32_t node = cli_fact(t->result, RC_NODE_RANK);
    char room[2 * RC_GATHER_NAME_MAX];
    struct rc_arena arena = { .base = room, .size = sizeof(room) };
    char where[RC_DISCOVERY_TEXT];
    struct rc_endpoint server;
    struct rc_gathered gathered;
    struct rc_reply reply;
    const char *name;
    enum cli_part part = CLI_PART_SPEAKS;

    if (!has_way(&t->discovery)) {
        poll(NULL, 0, node < TURNS_MS / TURN_MS ? (int)node * TURN_MS : TURNS_MS);
        return CLI_PART_NODE;
    }
    name = open_server(t, deadline, &server, where, &arena);
    if (!name || rc_client_gather(&server,
                                  &(struct rc_gather_request){ .name = rc_str(name),
                                                               .member = node,
                                                               .of = cli_fact(t->result, RC_NNODES),
                                                               .each = rc_milliseconds_of_request(deadline),
                                                               .most = rc_milliseconds_of_request(deadline),
                                                               .to_first = true,
                                                               .value = { t->text, t->size } },
                                  rc_milliseconds_of_request(deadline) + PRINT_MS, &reply, NULL) < 0)
        return CLI_PART_SPEAKS;
    if (rc_gathered_read((struct rc_str){ reply.text, reply.size }, &gathered) == 0)
        part = take_nodes(t, node, &gathered);
    free(reply.text);
    return part;
}

int cli_gather_node(const char *name, const struct rc_gather_request *own, rc_server_decide *decide, void *more)
{
    static const struct rc_server_settings brief = { .owner = 0 };
    int listener[RC_LISTENERS_MAX] = { rc_local_listen(name), -1 };
    struct rc_server *server;
    int rc;

    if (listener[0] < 0)
        return listener[0];
    rc = rc_server_create(listener, RC_LOCAL_TOKEN, &server);
    if (rc < 0)
        return rc;
    rc_server_gather(server, own);
    rc = rc_server_find(server, RC_GATHER_ROLL) ? rc_server_run(server, -1, &brief, decide, more) : -ENOMEM;
    rc_server_destroy(server);
    return rc;
}

int cli_join_node(const char *name, const struct rc_gather_request *own, uint32_t milliseconds, uint32_t patience,
                  struct rc_reply *reply)
{
    char text[RC_CLIENT_SELF + RC_LOCAL_NAME + 8];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    int64_t deadline = rc_milliseconds() + milliseconds;
    struct rc_endpoint first;
    int rc;

    rc_endpoint_read(rc_str(rc_local_endpoint(name, &arena)), &first);
    do {
        rc = rc_local_await(name, deadline);
        if (rc == 0)
            rc = rc_client_gather(&first, own, patience, reply, NULL);
        /* the server ended meanwhile, with an earlier round of this node */
    } while (rc_client_has_ended(rc) && rc_milliseconds() < deadline);
    return rc;
}

enum cli_part cli_together(const struct rc_result *result, const char *own, char **all)
{
    static struct together t;
    char scope[RC_DISCOVERY_SCOPE + 8];
    struct rc_arena arena = { .base = scope, .size = sizeof(scope) };
    const struct rc_gather_request request = {
        .name = RC_STR(RC_GATHER_ROLL),
        .member = cli_fact(result, RC_LOCAL_RANK),
        .of = cli_fact(result, RC_LOCAL_WORLD_SIZE),
        .each = TASKS_MS,
        .most = TASKS_MS,
        .value = rc_str(own),
    };
    char name[RC_LOCAL_NAME];
    enum cli_part part;

    t = (struct together){ .result = result };
    find_discovery(result, &t.discovery);
    rc_local_name(rc_format(&arena, "show:%s", t.discovery.scope), cli_fact(result, RC_NODE_RANK), name);
    if (cli_fact(result, RC_LOCAL_RANK) != 0)
        return ask_first_task(name, &request);
    if (cli_gather_node(name, &request, take_all, &t) < 0 || !t.text)
        part = append(&t, rc_str(own)) ? CLI_PART_SPEAKS : CLI_PART_ALONE;
    else
        part = cli_fact(result, RC_NNODES) > 1 ? meet_nodes(&t) : CLI_PART_SPEAKS;
    if (part == CLI_PART_SPEAKS || part == CLI_PART_NODE)
        *all = t.text;
    else
        free(t.text);
    return part;
}

void cli_together_head(const struct rc_result *result, enum cli_part part, size_t count)
{
    static const char slurm[] = "for one table of all nodes\n"
                                "use srun --mpi=pmix or srun --ddp (rollcall exec needs neither)";
    static const char pmix[] = "for one table of all nodes\n"
                               "use srun --ddp, or begin the step at the job's first node";
    const char *cure = rc_pmix_server_is_own(result) ? pmix : slurm;
    bool has_cure = result->launcher->pmix_server == RC_PMIX_SERVER_SLURM;
    bool has_reason = result->mode == RC_MODE_NONE || result->mode == RC_MODE_LAUNCHER;
    uint32_t world = cli_fact(result, RC_WORLD_SIZE);
    uint32_t nodes = cli_fact(result, RC_NNODES);
    char name[RC_NODE_NAME_SIZE];

    printf("%s%s%s: %u tasks on %u node%s, mode %s%s%s\n", result->launcher->title, result->facts.run_id ? ", " : "",
           result->facts.run_id ? result->facts.run_id : "", (unsigned)world, (unsigned)nodes, nodes == 1 ? "" : "s",
           rc_mode_name(result->mode), has_reason ? ": " : "", has_reason ? result->mode_reason : "");
    if (part == CLI_PART_NODE && count == cli_fact(result, RC_LOCAL_WORLD_SIZE)) {
        printf("%zu task%s on %s; each node prints a table of its tasks: %s\n", count, count == 1 ? "" : "s",
               rc_node_name(name), has_cure ? cure : "only srun's tasks share one");
    } else if (count < world) {
        printf("%zu of %u tasks answered; the others timed out, or are printed separately\n", count, (unsigned)world);
    }
    putchar('\n');
}
