/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "console/input.h"
#include "console/usage.h"
#include "effects/here.h"
#include "leaf.h"
#include "rendezvous/storeclient.h"
#include "system/clock.h"

enum { PART_SIZE = 16000, PARTS_MAX = 256, KEY_SIZE = 96, TEXT_SIZE = 4096 };

/* For what stands at the server already: one request; all of them once the time is over, and then each. */
enum { REQUEST_MS = 10000, AFTER_MS = 5000, EACH_MS = 20 };

/* This task, and where its step's server is. */
struct place {
    char text[TEXT_SIZE];
    struct rc_endpoint server;
    char step[32];
    uint64_t scope;
    uint32_t node;
    uint32_t nodes;
    bool first;  /* of its node */
    bool prints; /* for all of them */
    int64_t deadline;
};

static struct rc_result result;

static uint32_t own_rank(void)
{
    uint32_t rank;

    /* as rollcall has set it, order=node and all */
    if (rc_parse_u32(rc_env_get(&result.env, "RANK"), RC_MAX_TASKS, &rank))
        return rank;
    return result.identity.field[RC_RANK];
}

static void describe(struct leaf *leaf)
{
    struct rc_str host = rc_env_get(&result.env, "SLURMD_NODENAME");

    leaf->node = result.identity.field[RC_NODE_RANK];
    leaf->rank = own_rank();
    leaf->number = result.facts.field[RC_RANK].value;
    leaf->tasks = result.identity.field[RC_LOCAL_WORLD_SIZE];
    leaf->numbers = rc_env_get(&result.env, "SLURM_GTIDS");
    if (host.n && host.n < sizeof(leaf->host))
        memcpy(leaf->host, host.p, host.n);
    else
        gethostname(leaf->host, sizeof(leaf->host) - 1);
}

static int find(struct place *place)
{
    static struct rc_here_storage here;
    struct rc_arena arena = { .base = place->text, .size = sizeof(place->text) };
    struct rc_context context;
    struct input input;
    struct rc_str step;

    input_own(&input);
    context = (struct rc_context){ .env = input.env, .pid = input.pid, .ignore_stamp = true };
    if (rc_here_resolve(&context, &here, &result) != RC_RESOLVED || result.identity.field[RC_NODE_RANK] == RC_UNKNOWN ||
        result.identity.field[RC_NNODES] == RC_UNKNOWN) {
        console_fail("map: --step: this is no task of a step; use srun --ddp rollcall map --step");
        return -1;
    }
    if (!rc_endpoint_of_srun(&result.env, &place->server, &step, &arena) || step.n >= sizeof(place->step)) {
        console_fail(
            "map: --step: there is no rendezvous server beside srun to meet at; use srun --ddp rollcall map --step, without "
            "exchange=off and exchange=pmix");
        return -1;
    }
    memcpy(place->step, step.p, step.n);
    place->scope = rc_hash(result.facts.scope, strlen(result.facts.scope));
    place->node = result.identity.field[RC_NODE_RANK];
    place->nodes = result.identity.field[RC_NNODES];
    place->first = result.identity.field[RC_LOCAL_RANK] == 0 || result.identity.field[RC_LOCAL_RANK] == RC_UNKNOWN;
    place->prints = place->first && (own_rank() == RC_UNKNOWN ? place->node == 0 : own_rank() == 0);
    return 0;
}

/* What stands at the server stays, and a task may ask twice: each node counts its maps. */
static void make_key(char key[KEY_SIZE], const struct place *place, uint64_t time, uint32_t node, unsigned part)
{
    snprintf(key, KEY_SIZE, "map/%016" PRIx64 "/%" PRIu64 "/%" PRIu32 "/%u", place->scope, time, node, part);
}

static uint32_t left(const struct place *place)
{
    int64_t now = rc_milliseconds();

    if (now < place->deadline)
        return (uint32_t)(place->deadline - now);
    if (now + EACH_MS < place->deadline + AFTER_MS)
        return AFTER_MS / 10;
    return EACH_MS;
}

static int count_time(const struct place *place, uint64_t *time)
{
    char key[KEY_SIZE];

    snprintf(key, sizeof(key), "map/%016" PRIx64 "/%" PRIu32, place->scope, place->node);
    return rc_store_client_count(&place->server, key, REQUEST_MS, time);
}

/* "PARTS\n" and its beginning; then the rest. */
static int leave(const struct place *place, uint64_t time, const char *text, size_t size)
{
    size_t parts = (size + PART_SIZE - 1) / PART_SIZE;
    char *part = malloc(PART_SIZE + KEY_SIZE);
    int rc = part ? 0 : -ENOMEM;

    if (parts > PARTS_MAX)
        rc = -E2BIG;
    /* the first one last: who has it finds all of them */
    for (size_t i = parts; i-- > 0 && rc >= 0;) {
        size_t n = size - i * PART_SIZE < PART_SIZE ? size - i * PART_SIZE : PART_SIZE;
        int head = i == 0 ? snprintf(part, KEY_SIZE, "%zu\n", parts) : 0;
        char key[KEY_SIZE];

        memcpy(part + head, text + i * PART_SIZE, n);
        make_key(key, place, time, place->node, (unsigned)i);
        rc = rc_store_client_put(&place->server, key, (struct rc_str){ part, (size_t)head + n }, REQUEST_MS, NULL, 0,
                                 NULL);
    }
    free(part);
    return rc < 0 ? rc : 0;
}

/* A node's text, to be freed; NULL where it does not come, with the reason in *rc. */
static char *take(const struct place *place, uint64_t time, uint32_t node, size_t *size, int *rc)
{
    char *part = malloc(RC_STORE_VALUE_MAX);
    char *text = NULL;
    size_t used = 0;
    uint32_t parts = 1;

    *rc = part ? 0 : -ENOMEM;
    for (unsigned i = 0; i < parts && *rc == 0; i++) {
        struct rc_str rest;
        char key[KEY_SIZE];
        size_t n;

        make_key(key, place, time, node, i);
        *rc = rc_store_client_get(&place->server, key, i > 0 ? REQUEST_MS : left(place), part, RC_STORE_VALUE_MAX, &n);
        if (*rc < 0)
            break;
        rest = (struct rc_str){ part, n };
        if (i == 0 && (!rc_parse_u32(rc_str_split(rest, '\n', &rest), PARTS_MAX, &parts) || !rest.p)) {
            *rc = -EPROTO;
            break;
        }
        if (!text && !(text = malloc((size_t)parts * RC_STORE_VALUE_MAX))) {
            *rc = -ENOMEM;
            break;
        }
        memcpy(text + used, rest.p, rest.n);
        used += rest.n;
    }
    free(part);
    if (*rc < 0) {
        free(text);
        return NULL;
    }
    *size = used;
    return text;
}

/* This node's; a node without a map leaves word of that, so that nobody waits for it. */
static int leave_own(const struct place *place, const struct wishes *wishes, bool json, uint64_t time)
{
    struct leaf leaf = { .node = 0 };
    char *text;
    size_t size;
    int made;
    int rc;

    describe(&leaf);
    made = leaf_draw(wishes, json, &leaf);
    text = leaf_write(&leaf, &size);
    rc = text ? leave(place, time, text, size) : -ENOMEM;
    free(text);
    leaf_free(&leaf);
    if (rc < 0 && made == 0)
        console_fail("map: --step: cannot leave this node's map at the step's rendezvous server: %s", strerror(-rc));
    return rc < 0 ? -1 : made;
}

static int collect(const struct place *place, uint64_t time, bool json, uint32_t seconds)
{
    struct leaf *leaf = calloc(place->nodes, sizeof(*leaf));
    int status = leaf ? STATUS_RESOLVED : console_fail("out of memory");

    for (uint32_t node = 0; leaf && node < place->nodes; node++) {
        size_t size;
        int rc;
        char *text = take(place, time, node, &size, &rc);

        leaf[node].node = node;
        if (text && !leaf_read(text, size, &leaf[node])) {
            free(text);
            rc = -EPROTO;
        }
        if (leaf[node].body.p)
            continue;
        status = STATUS_CONTRADICTION;
        if (leaf[node].host[0])
            console_fail("map: --step: %s has no map, as its own line says", leaf[node].host);
        else if (rc == -ETIMEDOUT)
            console_fail("map: --step: node %" PRIu32 " of %" PRIu32 " has left no map within %" PRIu32 " s", node,
                         place->nodes, seconds);
        else
            console_fail("map: --step: node %" PRIu32 "'s map cannot be had: %s", node, strerror(-rc));
    }
    if (leaf && leaves_print(leaf, place->nodes, place->step, json) < 0)
        status = console_fail("cannot write the map");
    for (uint32_t node = 0; leaf && node < place->nodes; node++)
        leaf_free(&leaf[node]);
    free(leaf);
    return status;
}

int step_show(const struct wishes *wishes, bool json, uint32_t seconds)
{
    static struct place place;
    uint64_t time;
    int made;
    int rc;

    if (find(&place) < 0)
        return STATUS_USAGE;
    if (!place.first)
        return STATUS_RESOLVED;
    rc = count_time(&place, &time);
    if (rc < 0)
        return console_fail("map: --step: the step's rendezvous server does not answer: %s", strerror(-rc));
    made = leave_own(&place, wishes, json, time);
    place.deadline = rc_milliseconds() + (int64_t)seconds * 1000;
    rc = place.prints ? collect(&place, time, json, seconds) : STATUS_RESOLVED;
    return made < 0 ? STATUS_USAGE : rc;
}
