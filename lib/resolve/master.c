/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/steps.h"

#include "launcher/hosts.h"
#include "resolve/options.h"
#include "resolve/resolve.h"

/* The MASTER_PORT that all tasks compute. It must not depend on a node's settings: with different
 * net.ipv4.ip_local_port_range two nodes would compute two ports and hang.
 *
 * The window is below the usual starts of these ranges, whose ports outgoing connections could take: 32768 (Linux),
 * 15000 and 10000 (common tunings), 9000 (Oracle); and below Slurm's reserved ports (12000 or 20000 and up),
 * Kubernetes' NodePorts (30000), torchrun's 29400 and 29500, JAX (61440 and up) and enroot (61000 and up). Ports are 1
 * modulo 4: services have round ones: 5000, 5432, 8000, 8080, 8888. A port in use is RC405. */
enum { WINDOW_FIRST = 2401, WINDOW_LAST = 8956, PORTS_EACH = 4, FIRST_PORT = 1024, LAST_PORT = 65535 };

static uint16_t port_in(const uint64_t seed[2], uint32_t first, uint32_t last, uint32_t each)
{
    uint64_t slots = (last - first + 1) / each;

    /* neighbouring jobs share nodes: 61 steps each before they collide */
    return (uint16_t)(first + each * ((seed[0] % slots * 61 + seed[1]) % slots));
}

/* "12000-12003" or "12000,12005": return the first reserved port. */
static uint16_t reserved_port(struct rc_str ports)
{
    struct rc_str rest;
    struct rc_str first = rc_str_split(rc_str_split(ports, '-', &rest), ',', &rest);
    uint32_t port;

    return rc_parse_u32(first, LAST_PORT, &port) ? (uint16_t)port : 0;
}

static bool user_port(struct rc_result *result, uint16_t *port)
{
    struct rc_str user = rc_env_get(&result->env, "MASTER_PORT");
    uint32_t number;

    if (user.n == 0)
        return false;
    if (rc_parse_u32(user, LAST_PORT, &number) && number > 0) {
        *port = (uint16_t)number;
        return true;
    }
    return rc_say(&result->messages, RC403,
                  "MASTER_PORT was %pQ, which is no port; another one is set now; unset it, or give a "
                  "number from %u to %u",
                  &user, (uint32_t)FIRST_PORT, (uint32_t)LAST_PORT);
}

/* The user's port overrides the site's port=, not the user's. */
static bool user_port_stays(struct rc_result *result, const struct rc_options *options, uint16_t users)
{
    struct rc_master *master = &result->master;

    if (users == master->port)
        return false; /* from an earlier rollcall in this task */
    if (!options->port_first || rc_options_is_by_site(options, RC_KEY_port))
        return true;
    return rc_say(&result->messages, RC415,
                  "MASTER_PORT was %u, but port= selects another port; it is %u now; leave one of the two out",
                  (uint32_t)users, (uint32_t)master->port);
}

/* Set the port. Warn if the user's cannot work. */
static void masterport_find(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_options *options = &context->options;
    struct rc_master *master = &result->master;
    uint16_t users = 0;

    master->port = reserved_port(result->facts.reserved_ports);
    master->port_source = result->facts.port_source;
    if (context->told.port) {
        master->port = context->told.port;
        master->port_source = "held by rank 0, which sent it to all nodes";
    } else if (options->port_first) {
        master->port = port_in(result->facts.port_seed, options->port_first, options->port_last, 1);
        master->port_source = rc_options_is_by_site(options, RC_KEY_port) ? "port=, of plugstack.conf"
                                                                          : "port=, as it was asked for";
        master->port_open = options->port_first < options->port_last;
    } else if (!master->port) {
        /* Megatron uses the next two ports as well */
        master->port = port_in(result->facts.port_seed, WINDOW_FIRST, WINDOW_LAST, PORTS_EACH);
        master->port_source = "computed from the launch, the same in all its tasks";
        master->port_open = true;
    }
    /* no other node needs it */
    if (result->launcher->alone && !options->port_first && rc_seen(context->here, RC_LEARN_PORT, RC_ABSENT) &&
        context->here->port) {
        master->port = context->here->port;
        master->port_source = "free on this node";
    }
    master->launch_port = master->port;
    if (!result->stamp_is_outer && !result->outer_master && user_port(result, &users) &&
        user_port_stays(result, options, users)) {
        master->port = users;
        master->port_source = "MASTER_PORT, as it was set";
        master->port_open = false;
        master->port_given = rc_stamp_is_of(&result->stamp, result->facts.scope, result->facts.field[RC_RANK].value)
                                 ? RC_GIVEN_BY_STAMP
                                 : RC_GIVEN_BY_USER;
    }
    master->port_told = context->told.port && context->told.port == master->port;
}

/* Return the launcher's host of RANK 0, or NULL. A list that repeats it is not a list of nodes. */
static const char *launcher_host(struct rc_result *result)
{
    const struct rc_facts *facts = &result->facts;
    char name[RC_HOST_MAX + 1];
    struct rc_str text = RC_ABSENT;

    if (facts->hosts.p && facts->master_node != RC_UNKNOWN && rc_hostlist_nth(facts->hosts, facts->master_node, name) &&
        rc_host_is_name(rc_str(name)) &&
        (facts->master_node == 0 || rc_hostlist_find(facts->hosts, rc_str(name)) == facts->master_node))
        text = rc_str(name);
    else if (facts->master_host.p && rc_host_is_name(facts->master_host))
        text = facts->master_host;
    return text.p ? rc_copy(&result->arena, text) : NULL;
}

/* Return true if the user's MASTER_ADDR can work; else warn. */
static bool user_addr_works(struct rc_result *result, struct rc_str user, const char *instead)
{
    const struct rc_facts *facts = &result->facts;
    uint32_t nnodes = result->identity.field[RC_NNODES];
    uint32_t index;
    bool outside;

    if (!rc_host_is_word(user) || (nnodes != 1 && rc_host_is_loopback(user)))
        return rc_say(&result->messages, RC401,
                      "MASTER_ADDR was %pQ, which cannot work on %u nodes; it is %s now; unset it, or give "
                      "an address by which all nodes reach rank 0's",
                      &user, nnodes, instead);
    index = facts->hosts.p ? rc_hostlist_find(facts->hosts, user) : RC_UNKNOWN;
    /* a batch script exports the job's first node, then srun -w takes others */
    outside = index == RC_UNKNOWN && facts->job_hosts.p && rc_hostlist_find(facts->job_hosts, user) != RC_UNKNOWN;
    if (facts->master_certain && (outside || (index != RC_UNKNOWN && index != facts->master_node)))
        return rc_say(&result->messages, RC402, "MASTER_ADDR was %pQ, but rank 0 is on %s; it is %s now; unset it",
                      &user, instead, instead);
    return true;
}

/* Return true if addr= applies to this host: suffixes need a name. */
static bool takes_suffix(const struct rc_options *options, struct rc_str host)
{
    struct rc_netaddr address;

    return options->addr_kind != RC_ADDRESS_SUFFIX || !rc_netaddr_read(host, &address);
}

/* Apply addr= to the name of RANK 0's node. Return false, with a message, if a suffix cannot apply. */
static bool apply_wish(struct rc_result *result, const struct rc_options *options)
{
    struct rc_master *master = &result->master;
    const char *host = master->addr;
    const char *pass = result->launcher->pass;

    if (options->addr_kind == RC_ADDRESS_SUFFIX)
        master->addr = rc_address_with_suffix(rc_str(host), rc_str(options->addr), &result->arena);
    if (!master->addr)
        return rc_say(&result->messages, RC411,
                      "addr=%s belongs behind the name of rank 0's node, but %s gives %s; nothing is set; use a "
                      "network (addr=10.1.0.0/16), or pass the name: %s%s",
                      options->addr, master->addr_source, host, pass[0] ? pass : "MASTER_ADDR=HOST",
                      rc_options_origin(options, RC_KEY_addr));
    master->kind = options->addr_kind;
    master->wish = rc_format(&result->arena, "%s", options->addr);
    master->addr_source = rc_format(&result->arena, "addr=%s, of %s", options->addr, master->addr_source);
    master->todo = RC_MASTER_VERIFY | RC_MASTER_LOOKUP;
    return true;
}

/* The user's address overrides the site's addr=, not the user's: many scripts set MASTER_ADDR unconditionally. */
static bool user_addr_stays(struct rc_result *result, const struct rc_options *options, struct rc_str user,
                            const char *instead)
{
    struct rc_master *master = &result->master;

    if (!user_addr_works(result, user, instead))
        return false;
    if (!master->wish || rc_options_is_by_site(options, RC_KEY_addr))
        return true;
    return rc_say(&result->messages, RC412,
                  "MASTER_ADDR was %pQ, but addr=%s was asked for; it is %s now; leave one of them out", &user,
                  master->wish, instead);
}

/* Return the launcher's name of RANK 0's node, or the user's if addr= needs a name (RC411). */
static const char *find_host(struct rc_result *result, const struct rc_options *wish, struct rc_str user)
{
    const char *host = launcher_host(result);
    bool useless = !host || (wish && !takes_suffix(wish, rc_str(host)) && takes_suffix(wish, user));

    result->master.addr_source = result->facts.master_source;
    if (!wish || !user.p || !useless || !user_addr_works(result, user, "not set"))
        return host;
    result->master.addr_source = "MASTER_ADDR, as it was set";
    return rc_copy(&result->arena, user);
}

/* A stale address may be an alias or another network's, so resolve and verify it, except with addr=given. A platform's
 * may be a service's. */
static void keep_addr(struct rc_result *result, const struct rc_options *options, struct rc_str user)
{
    bool is_meant = options->addr && options->addr_kind == RC_ADDRESS_GIVEN;

    result->master = (struct rc_master){
        .addr = rc_copy(&result->arena, user),
        .addr_source = "MASTER_ADDR, as it was set",
        .addr_given = RC_GIVEN_BY_USER,
        .todo = !result->launcher->processes[0] ? 0
                : is_meant                      ? RC_MASTER_LOOKUP
                                                : RC_MASTER_VERIFY | RC_MASTER_LOOKUP,
    };
}

/* Another launch's address is unusable: tasks that know better would disagree. */
static bool refuse_without_host(struct rc_result *result)
{
    const struct rc_launcher *launcher = result->launcher;

    if (result->outer_master)
        return rc_say(&result->messages, RC404,
                      "MASTER_ADDR belongs to another launch, and no other variable has the host of rank 0; nothing is "
                      "set; start this launch outside of that one");
    return rc_say(&result->messages, RC404,
                  "%s does not provide the host of rank 0; nothing is set; set MASTER_ADDR to its name or "
                  "address%s%s",
                  launcher->title, launcher->pass[0] ? ": " : "", launcher->pass);
}

static bool find_addr(const struct rc_context *context, struct rc_result *result)
{
    struct rc_master *master = &result->master;
    const struct rc_options *options = &context->options;
    bool has_wish = options->addr && options->addr_kind != RC_ADDRESS_GIVEN && result->identity.field[RC_NNODES] != 1;
    const struct rc_options *wish = has_wish ? options : NULL;
    struct rc_str user = rc_env_get(&result->env, "MASTER_ADDR");
    const char *host;

    if (result->stamp_is_outer || result->outer_master || user.n == 0)
        user = RC_ABSENT;
    master->is_shared = user.p && result->command.is_part && result->identity.field[RC_NNODES] == 1 &&
                        result->facts.job_hosts.p && rc_hostlist_find(result->facts.job_hosts, user) != RC_UNKNOWN;
    if (master->is_shared)
        user = RC_ABSENT;
    host = master->addr = find_host(result, wish, user);
    if (host && !result->facts.master_comes_later && (context->slurm_certain || !rc_str_is(user, host)))
        master->todo = RC_MASTER_LOOKUP;
    if (!result->facts.master_certain)
        master->todo |= RC_MASTER_VERIFY;
    if (host && wish && !apply_wish(result, wish))
        return false;
    if (!host && result->identity.field[RC_NNODES] == 1) {
        master->addr = "127.0.0.1";
        master->addr_source = "all tasks are on one node";
        master->todo = 0;
    }
    /* most scripts set the bare node name, so treat it as unset */
    if (user.p && !rc_str_eq(user, rc_str(master->addr)) && !rc_str_eq(user, rc_str(host)) &&
        user_addr_stays(result, options, user, master->addr ? master->addr : "not set"))
        keep_addr(result, options, user);
    return master->addr || refuse_without_host(result);
}

static void warn_left_over(struct rc_result *result)
{
    const struct rc_master *master = &result->master;
    struct rc_str addr = rc_env_get(&result->env, "MASTER_ADDR");
    struct rc_str port = rc_env_get(&result->env, "MASTER_PORT");

    if (rc_str_is(addr, master->addr) && rc_str_is(port, rc_format(&result->arena, "%u", (uint32_t)master->port)))
        return;
    rc_say(&result->messages, RC417,
           "MASTER_ADDR %pQ and MASTER_PORT %pQ belong to an outer launch by %s; rollcall set them to %s and %u; unset "
           "them before this launch",
           &addr, &port, result->outer_master->title, master->addr, (uint32_t)master->port);
}

bool rc_master_find(const struct rc_context *context, struct rc_result *result)
{
    enum rc_field first = result->mode == RC_MODE_WORKER ? RC_RANK : RC_NODE_RANK;
    struct rc_master *master = &result->master;

    if (!find_addr(context, result)) {
        *master = (struct rc_master){ .addr = NULL };
        return false;
    }
    master->name = master->addr;
    if (context->told.addr) {
        master->addr = rc_format(&result->arena, "%s", context->told.addr);
        master->addr_source = context->told.addr_source ? context->told.addr_source : master->addr_source;
        master->addr_given = RC_GIVEN_BY_LAUNCH;
    }
    if (context->told.own)
        master->own = rc_format(&result->arena, "%s", context->told.own);
    masterport_find(context, result);
    if (result->outer_master)
        warn_left_over(result);
    if (result->identity.field[first] == 0)
        master->todo |= RC_MASTER_HOLD;
    else
        master->todo &= ~(unsigned)RC_MASTER_VERIFY;
    return true;
}
