/* SPDX-License-Identifier: BSD-3-Clause */
#include "reachability.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "rendezvous/storeclient.h"
#include "resolve/identity.h"
#include "system/clock.h"
#include "system/interfaces.h"
#include "system/resolver.h"

enum {
    ARRIVE_MS = 5000, /* wait for the doctors of all nodes */
    PROBE_MS = 5000,  /* for all connections to one name */
    SLACK_MS = 1000,
    REQUEST_MS = 2000, /* for a request that the server answers at once */
    LISTENER_TEXT = 4096,
    KEY_TEXT = 64,
};

#define NOT_LISTENING "closed"

/* One check of a step by the doctors of its nodes, through the store of srun's server. */
struct round {
    struct rc_endpoint server;
    char hosts[LISTENER_TEXT];
    uint64_t number; /* the number of this check in the step */
    uint32_t nodes;
    bool is_last; /* this node is the last one to arrive */
};

/* What rank 0's doctor tells about its listener. */
struct listener {
    char text[LISTENER_TEXT];
    bool is_listening;
    const char *token;
    struct rc_str addresses; /* the addresses of rank 0's node; absent where not all are known */
};

static const char *format_key(const struct round *round, const char *name, char text[KEY_TEXT])
{
    snprintf(text, KEY_TEXT, "doctor/%s/%llu", name, (unsigned long long)round->number);
    return text;
}

static void put_value(const struct round *round, const char *name, const char *value)
{
    char text[KEY_TEXT];

    rc_store_client_put(&round->server, format_key(round, name, text), rc_str(value), REQUEST_MS, NULL, 0, NULL);
}

static bool await_value(const struct round *round, const char *name, uint32_t milliseconds, char value[LISTENER_TEXT])
{
    char text[KEY_TEXT];
    size_t size;

    if (rc_store_client_get(&round->server, format_key(round, name, text), milliseconds, value, LISTENER_TEXT - 1,
                            &size) < 0 ||
        size >= LISTENER_TEXT)
        return false;
    value[size] = '\0';
    return true;
}

/* False where this step has no server, or the server does not answer. */
static bool join_round(const struct rc_result *result, struct round *round)
{
    struct rc_arena arena = { .base = round->hosts, .size = sizeof(round->hosts) };
    struct rc_str step;
    uint64_t before;

    round->nodes = result->identity.field[RC_NNODES];
    if (!rc_endpoint_of_srun(&result->env, &round->server, &step, &arena) || !result->facts.run_id ||
        !rc_str_is(step, result->facts.run_id) ||
        rc_store_client_count(&round->server, "doctor/arrived", REQUEST_MS, &before) < 0)
        return false;
    round->number = before / round->nodes;
    round->is_last = before % round->nodes == round->nodes - 1;
    return true;
}

/* "TOKEN ADDRESS..."; no addresses where the list of interfaces is full, as there may be more. */
static void format_listener(const char *token, char text[LISTENER_TEXT])
{
    static struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);
    char address[RC_NETADDR_TEXT];
    size_t used = (size_t)snprintf(text, LISTENER_TEXT, "%s", token);

    for (unsigned i = 0; count < RC_INTERFACES_MAX && i < count; i++)
        if (list[i].address.size && !rc_netaddr_is_loopback(&list[i].address))
            used += (size_t)snprintf(text + used, LISTENER_TEXT - used, " %s",
                                     rc_netaddr_text(&list[i].address, address));
}

static void serve_probes(const struct round *round, uint16_t port)
{
    char token[RC_WIRE_TOKEN + 1];
    char text[LISTENER_TEXT];
    pid_t child = -1;

    if (await_value(round, "all", ARRIVE_MS, text) && rc_wire_new_token(token) == 0)
        child = doctor_listener_start(port, token);
    if (child > 0)
        format_listener(token, text);
    put_value(round, "listener", child > 0 ? text : NOT_LISTENING);
    if (child > 0) {
        await_value(round, "over", PROBE_MS + SLACK_MS, text);
        doctor_listener_stop(child);
    }
}

static void read_listener(const struct round *round, struct listener *listener)
{
    struct rc_str token;

    if (!await_value(round, "listener", ARRIVE_MS + SLACK_MS, listener->text))
        return;
    token = rc_str_split(rc_str(listener->text), ' ', &listener->addresses);
    listener->is_listening = token.n == RC_WIRE_TOKEN && rc_wire_is_token(token);
    listener->text[token.n] = '\0';
    listener->token = listener->text;
}

static void leave_round(const struct round *round)
{
    char text[KEY_TEXT];
    uint64_t before;

    if (rc_store_client_count(&round->server, format_key(round, "done", text), REQUEST_MS, &before) == 0 &&
        before == round->nodes - 2)
        put_value(round, "over", "1");
}

static bool contains_address(struct rc_str addresses, const char *address)
{
    while (addresses.p)
        if (rc_str_is(rc_str_split(addresses, ' ', &addresses), address))
            return true;
    return false;
}

/* Whether this node's resolver gives an address that rank 0's node does not have. */
static bool is_elsewhere(const struct listener *listener, const char *address)
{
    return listener->is_listening && listener->addresses.p && !contains_address(listener->addresses, address);
}

static void report_failure(struct findings *findings, const struct rc_master *where, const struct listener *listener,
                           const struct rc_netaddr *address, int error)
{
    char text[RC_NETADDR_TEXT];

    rc_netaddr_text(address, text);
    if (is_elsewhere(listener, text) && strcmp(where->addr, text) != 0)
        doctor_findings_add(findings, FINDING_D209, NULL, 0, NULL,
                            "%s is %s here, but the addresses of rank 0's node are %.*s", where->addr, text,
                            (int)listener->addresses.n, listener->addresses.p);
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

/* One address that answers is enough, as it is for torch. A finding names the first one. */
static void probe_master(struct findings *findings, const struct rc_master *where, const struct listener *listener)
{
    struct rc_addresses addresses = { .count = 0 };
    int64_t deadline = rc_milliseconds() + PROBE_MS;
    int first = 0;

    if (rc_resolver_ask(where->addr, &addresses) != 0 || addresses.count == 0)
        return;
    for (unsigned i = 0; i < addresses.count; i++) {
        int error = doctor_probe(&addresses.list[i], where->port, listener->is_listening ? listener->token : NULL,
                                 deadline);

        if (error == 0)
            return;
        first = first ? first : error;
    }
    report_failure(findings, where, listener, &addresses.list[0], first);
}

void doctor_reachability(struct findings *findings, const struct rc_result *result)
{
    const struct rc_master *where = &result->master;
    uint32_t nodes = rc_identity_guess_nodes(result);
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    struct listener listener = { .is_listening = false };
    struct round round;
    bool joined;

    if (!getenv(RC_STAMP) || !where->addr || !where->port || nodes == RC_UNKNOWN || nodes < 2 ||
        (local != 0 && local != RC_UNKNOWN))
        return;
    joined = join_round(result, &round);
    if (joined && round.is_last)
        put_value(&round, "all", "1");
    if (joined && (where->todo & RC_MASTER_HOLD))
        serve_probes(&round, where->port);
    else if (joined)
        read_listener(&round, &listener);
    if (where->todo & RC_MASTER_HOLD)
        return;
    probe_master(findings, where, &listener);
    if (listener.is_listening)
        leave_round(&round);
}
