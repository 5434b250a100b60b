/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "rendezvous/client.h"
#include "rendezvous/discovery.h"
#include "rendezvous/local.h"
#include "system/node.h"

/* How long the first task of a node waits for the others of it, and node 0 for the other nodes. Tasks of a launch
 * start within a second or two, on a busy machine. A reply takes PRINT_MS at most. */
enum { TASKS_MS = 5000, NODES_MS = 10000, PRINT_MS = 2000 };

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

static uint32_t fact(const struct rc_result *result, enum rc_field field)
{
    return result->facts.field[field].value;
}

bool cli_together_is_possible(const struct rc_result *result)
{
    if (!result->launcher || result->launcher->by_hand || !result->facts.scope)
        return false;
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        if (fact(result, (enum rc_field)i) == RC_UNKNOWN)
            return false;
    return fact(result, RC_WORLD_SIZE) > 1;
}

/* In launcher mode tasks have no ranks of their own, but meet all the same. */
static void find_discovery(const struct rc_result *result, struct rc_discovery *discovery)
{
    static struct rc_result seen;

    seen = *result;
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        seen.identity.field[i] = fact(result, (enum rc_field)i);
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
    int n = rc_gather_join(name, fact(t->result, RC_RANK), rc_str(own), TASKS_MS, TASKS_MS, reply, sizeof(reply));

    return n > 0 && strcmp(reply, taken) == 0 ? CLI_PART_SILENT : CLI_PART_ALONE;
}

static bool gather_tasks(struct together *t, const char *name)
{
    uint32_t others = fact(t->result, RC_LOCAL_WORLD_SIZE) - 1;
    struct rc_gathered all = { .list = NULL };
    bool good = true;

    if (others)
        rc_gather_collect(name, fact(t->result, RC_RANK), others, TASKS_MS, &all);
    for (uint32_t i = 0; i < all.count; i++)
        good = good && append(t, all.list[i].said ? all.list[i].said : "");
    rc_gather_reply(&all, good ? rc_str(taken) : RC_STR("no memory"));
    return good;
}

static const char *key(const struct together *t, const char *what, uint32_t node, char room[RC_STORE_KEY_MAX + 1])
{
    struct rc_arena arena = { .base = room, .size = RC_STORE_KEY_MAX + 1 };

    return rc_format(&arena, "show/%s/%llu/%s/%u", t->discovery.scope, (unsigned long long)t->round, what, node);
}

static uint32_t left(int64_t deadline)
{
    int n = rc_milliseconds_left(deadline);

    return n < 1 ? 1 : (uint32_t)n;
}

static bool open_store(struct together *t, int64_t deadline)
{
    const struct rc_discovery *discovery = &t->discovery;
    char room[RC_STORE_KEY_MAX + 1];

    return (discovery->kind == RC_DISCOVERY_SRUN || (discovery->kind == RC_DISCOVERY_PMIX && discovery->is_near)) &&
           rc_discovery_open(&t->discovery, deadline, t->where) == 0 &&
           rc_endpoint_read(rc_str(t->where), &t->server) &&
           rc_store_client_count(&t->server, key(t, "round", fact(t->result, RC_NODE_RANK), room), left(deadline),
                                 &t->round) == 0;
}

/* Takes a node's text. At the end of the time it is put there that the node is too late; a text that has come meanwhile
 * counts. */
static void take_node(struct together *t, uint32_t node, int64_t deadline)
{
    static char value[RC_STORE_VALUE_MAX + 1];
    char room[RC_STORE_KEY_MAX + 1];
    size_t size = 0;
    const char *name = key(t, "node", node, room);

    if (rc_store_client_get(&t->server, name, left(deadline), value, sizeof(value) - 1, &size) < 0 &&
        rc_store_client_put(&t->server, name, RC_STR("late"), PRINT_MS, value, sizeof(value) - 1, &size) != 0)
        return;
    value[size] = '\0';
    append(t, value);
}

/* Node 0 leads, unless another node has found that nobody does. */
static void lead_nodes(struct together *t, int64_t deadline)
{
    char room[RC_STORE_KEY_MAX + 1];

    if (rc_store_client_put(&t->server, key(t, "leader", 0, room), RC_STR("here"), left(deadline), NULL, 0, NULL) != 1)
        return;
    for (uint32_t node = 1; node < fact(t->result, RC_NNODES); node++)
        take_node(t, node, deadline);
}

static enum cli_part follow_leader(struct together *t, int64_t deadline)
{
    char room[RC_STORE_KEY_MAX + 1];
    const char *leader = key(t, "leader", 0, room);
    char told[8];
    size_t size;

    if (rc_store_client_get(&t->server, leader, left(deadline), told, sizeof(told), &size) < 0 &&
        rc_store_client_put(&t->server, leader, RC_STR("nobody"), PRINT_MS, told, sizeof(told), &size) != 0)
        return CLI_PART_SPEAKS;
    if (size != strlen("here"))
        return CLI_PART_SPEAKS;
    return rc_store_client_put(&t->server, key(t, "node", fact(t->result, RC_NODE_RANK), room),
                               (struct rc_str){ t->text, t->size }, PRINT_MS, NULL, 0, NULL) == 1
               ? CLI_PART_SILENT
               : CLI_PART_SPEAKS;
}

static enum cli_part meet_nodes(struct together *t)
{
    int64_t deadline = rc_milliseconds() + NODES_MS;

    if (!open_store(t, deadline))
        return CLI_PART_SPEAKS;
    if (fact(t->result, RC_NODE_RANK) != 0)
        return follow_leader(t, deadline);
    lead_nodes(t, deadline);
    return CLI_PART_SPEAKS;
}

static enum cli_part speak_for_node(struct together *t, const char *name, const char *own)
{
    enum cli_part part = CLI_PART_SPEAKS;

    if (!append(t, own))
        return CLI_PART_ALONE;
    if (gather_tasks(t, name) && fact(t->result, RC_NNODES) > 1)
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
    rc_local_name(rc_format(&arena, "show:%s", t.discovery.scope), fact(result, RC_NODE_RANK), name);
    part = fact(result, RC_LOCAL_RANK) == 0 ? speak_for_node(&t, name, own) : ask_first_task(&t, name, own);
    if (part == CLI_PART_SPEAKS)
        *all = t.text;
    else
        free(t.text);
    return part;
}
