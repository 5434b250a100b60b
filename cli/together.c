/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous/client.h"
#include "rendezvous/discovery.h"
#include "rendezvous/local.h"
#include "system/node.h"

/* How long the first task of a node waits for the others of it, and node 0 for the other nodes. Tasks of a launch
 * start within a second or two, on a busy machine. A reply takes PRINT_MS at most. */
enum { TASKS_MS = 5000, NODES_MS = 10000, PRINT_MS = 2000 };

/* Nodes that cannot meet print one after the other: slurmstepd sends a text in pieces of 1024 bytes (MAX_MSG_LEN), and
 * srun prints them as they come. */
enum { TURN_MS = 100, TURNS_MS = 3000 };

static const char taken[] = "taken";

struct together {
    const struct rc_result *result;
    struct rc_discovery discovery;
    struct rc_endpoint server;
    char where[RC_DISCOVERY_TEXT];
    uint64_t round; /* how often this node's tasks have met before */
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

/* In launcher mode tasks have no ranks of their own, but meet all the same. */
static void find_discovery(const struct rc_result *result, struct rc_discovery *discovery)
{
    static struct rc_result seen;

    seen = *result;
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        seen.identity.field[i] = cli_fact(result, (enum rc_field)i);
    rc_discovery_find(&seen, discovery);
}

static bool append(struct together *t, const char *more)
{
    size_t n = strlen(more);
    char *larger = realloc(t->text, t->size + n + 1);

    if (!larger)
        return false;
    memcpy(larger + t->size, more, n + 1);
    t->text = larger;
    t->size += n;
    return true;
}

static enum cli_part ask_first_task(const struct together *t, const char *name, const char *own)
{
    char reply[sizeof(taken)];
    int n = rc_gather_join(name, cli_fact(t->result, RC_RANK), rc_str(own), TASKS_MS, TASKS_MS, reply, sizeof(reply));

    return n > 0 && strcmp(reply, taken) == 0 ? CLI_PART_SILENT : CLI_PART_ALONE;
}

static bool gather_tasks(struct together *t, const char *name)
{
    uint32_t others = cli_fact(t->result, RC_LOCAL_WORLD_SIZE) - 1;
    struct rc_gathered all = { .list = NULL };
    bool good = true;

    if (others)
        rc_gather_collect(name, cli_fact(t->result, RC_RANK), others, TASKS_MS, &all);
    for (uint32_t i = 0; i < all.count; i++)
        good = good && append(t, all.list[i].said ? all.list[i].said : "");
    rc_gather_reply(&all, good ? rc_str(taken) : RC_STR("no memory"));
    return good;
}

static const char *key(const struct together *t, const char *what, uint32_t node, uint32_t part,
                       char room[RC_STORE_KEY_MAX + 1])
{
    struct rc_arena arena = { .base = room, .size = RC_STORE_KEY_MAX + 1 };

    return rc_format(&arena, "show/%s/%llu/%s/%u/%u", t->discovery.scope, (unsigned long long)t->round, what, node,
                     part);
}

static uint32_t left(int64_t deadline)
{
    int n = rc_milliseconds_left(deadline);

    return n < 1 ? 1 : (uint32_t)n;
}

static bool has_way(const struct rc_discovery *discovery)
{
    return discovery->kind == RC_DISCOVERY_SRUN || (discovery->kind == RC_DISCOVERY_PMIX && discovery->is_near);
}

static bool open_store(struct together *t, int64_t deadline)
{
    char room[RC_STORE_KEY_MAX + 1];

    return rc_discovery_open(&t->discovery, deadline, t->where) == 0 &&
           rc_endpoint_read(rc_str(t->where), &t->server) &&
           rc_store_client_count(&t->server, key(t, "round", cli_fact(t->result, RC_NODE_RANK), 0, room),
                                 left(deadline), &t->round) == 0;
}

/* Takes a node's text, whose last part is shorter than the others. At the end of the time it is put there that the node
 * is too late; what has come meanwhile counts. */
static void take_node(struct together *t, uint32_t node, int64_t deadline)
{
    static char value[RC_STORE_VALUE_MAX + 1];
    char room[RC_STORE_KEY_MAX + 1];
    size_t before = t->size;
    size_t size = RC_STORE_VALUE_MAX;

    for (uint32_t part = 0; size == RC_STORE_VALUE_MAX; part++) {
        const char *name = key(t, "node", node, part, room);

        if (rc_store_client_get(&t->server, name, left(deadline), value, RC_STORE_VALUE_MAX, &size) < 0 &&
            rc_store_client_put(&t->server, name, RC_STR("late"), PRINT_MS, value, RC_STORE_VALUE_MAX, &size) != 0) {
            t->size = before;
            t->text[before] = '\0';
            return;
        }
        value[size] = '\0';
        append(t, value);
    }
}

/* Node 0 leads, unless another node has found that nobody does. */
static void lead_nodes(struct together *t, int64_t deadline)
{
    char room[RC_STORE_KEY_MAX + 1];

    if (rc_store_client_put(&t->server, key(t, "leader", 0, 0, room), RC_STR("here"), left(deadline), NULL, 0, NULL) !=
        1)
        return;
    for (uint32_t node = 1; node < cli_fact(t->result, RC_NNODES); node++)
        take_node(t, node, deadline);
}

static enum cli_part follow_leader(struct together *t, int64_t deadline)
{
    char room[RC_STORE_KEY_MAX + 1];
    const char *leader = key(t, "leader", 0, 0, room);
    char told[8];
    size_t size;

    if (rc_store_client_get(&t->server, leader, left(deadline), told, sizeof(told), &size) < 0 &&
        rc_store_client_put(&t->server, leader, RC_STR("nobody"), PRINT_MS, told, sizeof(told), &size) != 0)
        return CLI_PART_SPEAKS;
    if (size != strlen("here"))
        return CLI_PART_SPEAKS;
    size = RC_STORE_VALUE_MAX;
    for (uint32_t part = 0; size == RC_STORE_VALUE_MAX; part++) {
        struct rc_str rest = { t->text + (size_t)part * RC_STORE_VALUE_MAX,
                               t->size - (size_t)part * RC_STORE_VALUE_MAX };

        size = rest.n = rest.n < RC_STORE_VALUE_MAX ? rest.n : RC_STORE_VALUE_MAX;
        if (rc_store_client_put(&t->server, key(t, "node", cli_fact(t->result, RC_NODE_RANK), part, room), rest,
                                PRINT_MS, NULL, 0, NULL) != 1)
            return CLI_PART_SPEAKS;
    }
    return CLI_PART_SILENT;
}

static enum cli_part meet_nodes(struct together *t)
{
    int64_t deadline = rc_milliseconds() + NODES_MS;
    uint32_t turn = cli_fact(t->result, RC_NODE_RANK);

    if (!has_way(&t->discovery)) {
        poll(NULL, 0, turn < TURNS_MS / TURN_MS ? (int)turn * TURN_MS : TURNS_MS);
        return CLI_PART_NODE;
    }
    if (!open_store(t, deadline))
        return CLI_PART_SPEAKS;
    if (cli_fact(t->result, RC_NODE_RANK) != 0)
        return follow_leader(t, deadline);
    lead_nodes(t, deadline);
    return CLI_PART_SPEAKS;
}

static enum cli_part speak_for_node(struct together *t, const char *name, const char *own)
{
    enum cli_part part = CLI_PART_SPEAKS;

    if (!append(t, own))
        return CLI_PART_ALONE;
    if (gather_tasks(t, name) && cli_fact(t->result, RC_NNODES) > 1)
        part = meet_nodes(t);
    return part;
}

enum cli_part cli_together(const struct rc_result *result, const char *own, char **all)
{
    static struct together t;
    char scope[RC_DISCOVERY_SCOPE + 8];
    struct rc_arena arena = { .base = scope, .size = sizeof(scope) };
    char name[RC_LOCAL_NAME];
    enum cli_part part;

    t = (struct together){ .result = result };
    find_discovery(result, &t.discovery);
    rc_local_name(rc_format(&arena, "show:%s", t.discovery.scope), cli_fact(result, RC_NODE_RANK), name);
    part = cli_fact(result, RC_LOCAL_RANK) == 0 ? speak_for_node(&t, name, own) : ask_first_task(&t, name, own);
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
