/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous/endpoint.h"

#include "base/numbers.h"
#include "base/stepserver.h"
#include "rendezvous/wire.h"

bool rc_endpoint_read(struct rc_str text, struct rc_endpoint *endpoint)
{
    struct rc_endpoint read;
    struct rc_str rest;
    uint32_t port;

    read.token = rc_str_split(text, ' ', &rest);
    if (!rc_wire_is_token(read.token) || !rc_parse_u32(rc_str_split(rest, ' ', &read.hosts), UINT16_MAX, &port) ||
        port == 0 || read.hosts.n == 0)
        return false;
    read.port = (uint16_t)port;
    *endpoint = read;
    return true;
}

const char *rc_endpoint_write(const struct rc_endpoint *endpoint, struct rc_arena *arena)
{
    return rc_format(arena, "%S %u %S", &endpoint->token, (uint32_t)endpoint->port, &endpoint->hosts);
}

bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena)
{
    struct rc_step_server server;
    struct rc_str address = rc_env_get(env, "SLURM_LAUNCH_NODE_IPADDR");
    struct rc_str name = rc_env_get(env, "SLURM_SRUN_COMM_HOST");

    if (!rc_step_server_read(env, &server) || address.n == 0 ||
        !rc_endpoint_read(
            rc_str(rc_format(arena, "%S %S %S%s%S", &server.token, &server.port, &address, name.n ? " " : "", &name)),
            endpoint))
        return false;
    *step = server.step;
    return true;
}

bool rc_endpoint_is_own_step(const struct rc_env *env, struct rc_str step)
{
    struct rc_str number;
    struct rc_str job = rc_str_split(step, '.', &number);

    return rc_str_eq(job, rc_env_get(env, "SLURM_JOB_ID")) && rc_str_eq(number, rc_env_get(env, "SLURM_STEP_ID"));
}
