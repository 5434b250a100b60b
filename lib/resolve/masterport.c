/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/masterport.h"

/* Clear of torchrun's 29400 and 29500 and of most services; all but the last also
 * of what JAX (61440 and up) and enroot (61000 and up) compute from the job's number. */
static const struct {
    uint16_t first;
    uint16_t last;
} windows[] = {
    { 20480, 28671 },
    { 10240, 14335 },
    { 4096, 9215 },
    { 61440, 65535 },
};

enum { PORTS_EACH = 4, SMALLEST_WINDOW = 256, FIRST_PORT = 1024, LAST_PORT = 65535 };

static uint16_t port_in(const uint64_t seed[2], uint32_t first, uint32_t last)
{
    uint64_t slots = (last - first + 1) / PORTS_EACH;

    /* neighbouring jobs share nodes: 61 steps each before they can meet */
    return (uint16_t)(first + PORTS_EACH * ((seed[0] % slots * 61 + seed[1]) % slots));
}

uint16_t rc_masterport_compute(const uint64_t seed[2], uint16_t first, uint16_t last, bool *outside)
{
    *outside = true;
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++)
        if (last < first || last == 0 || windows[i].last < first || windows[i].first > last)
            return port_in(seed, windows[i].first, windows[i].last);
    if (first >= FIRST_PORT + SMALLEST_WINDOW)
        return port_in(seed, FIRST_PORT, first - 1u);
    if (last <= LAST_PORT - SMALLEST_WINDOW)
        return port_in(seed, last + 1u, LAST_PORT);
    *outside = false;
    return port_in(seed, windows[0].first, windows[0].last);
}

/* "12000-12003" or "12000,12005": the first port that Slurm reserved. */
static uint16_t reserved_port(struct rc_str ports)
{
    uint32_t port;
    size_t n = 0;

    while (n < ports.n && ports.p[n] >= '0' && ports.p[n] <= '9')
        n++;
    return rc_parse_u32((struct rc_str){ ports.p, n }, LAST_PORT, &port) ? (uint16_t)port : 0;
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
    rc_message_add(&result->messages, RC403,
                   rc_format(&result->arena,
                             "MASTER_PORT was %q, which is no port; another one is set now; unset it, or give a "
                             "number from %u to %u",
                             &user, (uint32_t)FIRST_PORT, (uint32_t)LAST_PORT));
    return false;
}

/* Of a range each launch takes its own, as far as it goes. */
static uint16_t wished_port(const uint64_t seed[2], const struct rc_options *options)
{
    uint32_t span = options->port_last - options->port_first + 1u;

    return (uint16_t)(options->port_first + (seed[0] % span * 61 + seed[1]) % span);
}

/* The user's own port goes before the administrator's wish, not before the user's. */
static bool user_port_stays(struct rc_result *result, const struct rc_options *options, uint16_t users)
{
    struct rc_master *master = &result->master;

    if (users == master->port)
        return false; /* an equal one is our own, of an earlier rollcall in this task */
    if (!options->port_by_user)
        return true;
    rc_message_add(&result->messages, RC415,
                   rc_format(&result->arena,
                             "MASTER_PORT was %u, but port= asks for another one; it is %u now; leave one of them out",
                             (uint32_t)users, (uint32_t)master->port));
    return false;
}

void rc_masterport_find(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_options *options = &context->options;
    struct rc_master *master = &result->master;
    const char *ports = result->launcher->ports;
    uint16_t users = 0;
    bool outside = true;

    master->port = reserved_port(result->facts.reserved_ports);
    master->port_source = result->facts.port_source;
    if (context->told_port) {
        master->port = context->told_port;
        master->port_source = "held by rank 0, which told all nodes";
    } else if (options->port_first) {
        master->port = wished_port(result->facts.port_seed, options);
        master->port_source = "port=, as it was asked for";
    } else if (!master->port) {
        master->port = rc_masterport_compute(result->facts.port_seed, context->local_port_first,
                                             context->local_port_last, &outside);
        master->port_source = "computed from the launch, the same in all its tasks";
    }
    master->launch_port = master->port;
    if (!result->stamp_is_outer && !result->outer_master && user_port(result, &users) &&
        user_port_stays(result, options, users)) {
        master->port = users;
        master->port_source = "MASTER_PORT, as it was set";
        master->port_given = rc_stamp_is_of(&result->stamp, result->facts.scope, result->facts.field[RC_RANK].value)
                                 ? RC_GIVEN_BY_STAMP
                                 : RC_GIVEN_BY_USER;
    } else if (!outside) {
        rc_message_add(&result->messages, RC406,
                       rc_format(&result->arena,
                                 "outgoing connections may take any port from %u to %u here, also master port %u; it "
                                 "is used all the same; have ip_local_port_range made smaller%s%s",
                                 (uint32_t)context->local_port_first, (uint32_t)context->local_port_last,
                                 (uint32_t)master->port, ports[0] ? ", or use " : "", ports));
    }
}
