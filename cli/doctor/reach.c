/* SPDX-License-Identifier: BSD-3-Clause */
#include "reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knock.h"
#include "rendezvous/storeclient.h"
#include "system/clock.h"
#include "system/interfaces.h"
#include "system/resolver.h"

enum {
    COME_MS = 5000,  /* for the doctors of all nodes to be there */
    KNOCK_MS = 5000, /* for one connection */
    SLACK_MS = 1000,
    REQUEST_MS = 2000, /* for a word at the server that nobody waits for */
    DOOR = 4096,
    KEY = 64,
};

#define CLOSED "closed"

/* The server, and which meeting of the doctors there this one is. */
struct round {
    struct rc_endpoint server;
    char hosts[DOOR];
    uint64_t number;
    uint32_t nodes;
    bool is_last; /* to come */
};

/* What rank 0 says of itself. */
struct door {
    char text[DOOR];
    bool is_open;
    const char *token;
    struct rc_str addresses; /* absent: not all are known */
};

static const char *key(const struct round *round, const char *name, char text[KEY])
{
    snprintf(text, KEY, "doctor/%s/%llu", name, (unsigned long long)round->number);
    return text;
}

static void say(const struct round *round, const char *name, const char *value)
{
    char text[KEY];

    rc_store_client_put(&round->server, key(round, name, text), rc_str(value), REQUEST_MS, NULL, 0, NULL);
}

static bool hear(const struct round *round, const char *name, uint32_t milliseconds, char value[DOOR])
{
    char text[KEY];
    size_t size;

    if (rc_store_client_get(&round->server, key(round, name, text), milliseconds, value, DOOR - 1, &size) < 0 ||
        size >= DOOR)
        return false;
    value[size] = '\0';
    return true;
}

/* False where this step has no server, or it does not answer. */
static bool come(const struct rc_result *result, struct round *round)
{
    struct rc_arena arena = { .base = round->hosts, .size = sizeof(round->hosts) };
    struct rc_str step;
    uint64_t before;

    round->nodes = result->identity.field[RC_NNODES];
    if (!rc_endpoint_of_srun(&result->env, &round->server, &step, &arena) || !result->facts.run_id ||
        !rc_str_is(step, result->facts.run_id) ||
        rc_store_client_count(&round->server, "doctor/come", REQUEST_MS, &before) < 0)
        return false;
    round->number = before / round->nodes;
    round->is_last = before % round->nodes == round->nodes - 1;
    return true;
}

/* "TOKEN ADDRESS...", without addresses where there may be more than are known. */
static void write_door(const char *token, char text[DOOR])
{
    static struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);
    char address[RC_NETADDR_TEXT];
    size_t used = (size_t)snprintf(text, DOOR, "%s", token);

    for (unsigned i = 0; count < RC_INTERFACES_MAX && i < count; i++)
        if (list[i].address.size && !rc_netaddr_is_loopback(&list[i].address))
            used += (size_t)snprintf(text + used, DOOR - used, " %s", rc_netaddr_text(&list[i].address, address));
}

static void open_door(const struct round *round, uint16_t port)
{
    char token[RC_WIRE_TOKEN + 1];
    char text[DOOR];
    pid_t child = -1;

    if (hear(round, "all", COME_MS, text) && rc_wire_new_token(token) == 0)
        child = doctor_answer(port, token);
    if (child > 0)
        write_door(token, text);
    say(round, "door", child > 0 ? text : CLOSED);
    if (child > 0) {
        hear(round, "over", KNOCK_MS + SLACK_MS, text);
        doctor_answer_end(child);
    }
}

static void find_door(const struct round *round, struct door *door)
{
    struct rc_str token;

    if (!hear(round, "door", COME_MS + SLACK_MS, door->text))
        return;
    token = rc_str_split(rc_str(door->text), ' ', &door->addresses);
    door->is_open = token.n == RC_WIRE_TOKEN && rc_wire_is_token(token);
    door->text[token.n] = '\0';
    door->token = door->text;
}

static void leave(const struct round *round)
{
    char text[KEY];
    uint64_t before;

    if (rc_store_client_count(&round->server, key(round, "done", text), REQUEST_MS, &before) == 0 &&
        before == round->nodes - 2)
        say(round, "over", "1");
}

static bool has(struct rc_str addresses, const char *address)
{
    while (addresses.p)
        if (rc_str_is(rc_str_split(addresses, ' ', &addresses), address))
            return true;
    return false;
}

/* The address of rank 0's node is not the one that this node's resolver gives. */
static bool is_elsewhere(const struct door *door, const char *address)
{
    return door->is_open && door->addresses.p && !has(door->addresses, address);
}

static void report(struct findings *findings, const struct rc_master *where, const struct door *door,
                   const struct rc_netaddr *address, int error)
{
    char text[RC_NETADDR_TEXT];

    rc_netaddr_text(address, text);
    if (is_elsewhere(door, text) && strcmp(where->addr, text) != 0)
        doctor_findings_add(findings, FINDING_D209, NULL, 0, NULL,
                            "%s is %s here, but the addresses of rank 0's node are %.*s", where->addr, text,
                            (int)door->addresses.n, door->addresses.p);
    else if (error == ECONNREFUSED)
        doctor_findings_add(
            findings, FINDING_D207, NULL, 0, NULL,
            "%s port %u (%s) refuses, though rank 0 listens there: a firewall that answers with a reset", where->addr,
            (unsigned)where->port, text);
    else if (error == EBADMSG)
        doctor_findings_add(findings, FINDING_D207, NULL, 0, NULL,
                            "%s port %u (%s) is answered by another program than rank 0's", where->addr,
                            (unsigned)where->port, text);
    else
        doctor_findings_add(findings, FINDING_D207, NULL, 0, NULL, "%s port %u (%s) cannot be reached from here: %s",
                            where->addr, (unsigned)where->port, text, strerror(error));
}

/* One address that answers is enough, as it is for torch; the first is what is spoken of. */
static void knock(struct findings *findings, const struct rc_master *where, const struct door *door)
{
    struct rc_addresses addresses = { .count = 0 };
    int64_t deadline = rc_milliseconds() + KNOCK_MS;
    int first = 0;

    if (rc_resolver_ask(where->addr, &addresses) != 0 || addresses.count == 0)
        return;
    for (unsigned i = 0; i < addresses.count; i++) {
        int error = doctor_knock(&addresses.list[i], where->port, door->is_open ? door->token : NULL, deadline);

        if (error == 0)
            return;
        first = first ? first : error;
    }
    report(findings, where, door, &addresses.list[0], first);
}

void doctor_reach(struct findings *findings, const struct rc_result *result)
{
    const struct rc_master *where = &result->master;
    uint32_t nodes = result->identity.field[RC_NNODES];
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    struct door door = { .is_open = false };
    struct round round;
    bool meets;

    if (!getenv(RC_STAMP) || !where->addr || !where->port || nodes == RC_UNKNOWN || nodes < 2 ||
        (local != 0 && local != RC_UNKNOWN))
        return;
    meets = come(result, &round);
    if (meets && round.is_last)
        say(&round, "all", "1");
    if (meets && where->hold)
        open_door(&round, where->port);
    else if (meets)
        find_door(&round, &door);
    if (where->hold)
        return;
    knock(findings, where, &door);
    if (door.is_open)
        leave(&round);
}
