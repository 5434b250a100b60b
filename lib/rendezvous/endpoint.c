/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous/endpoint.h"

#include "base/numbers.h"
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

bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena)
{
    struct rc_str rest;
    struct rc_str token = rc_str_split(rc_env_get(env, RC_SERVER), ' ', &rest);
    struct rc_str port = rc_str_split(rest, ' ', &rest);
    struct rc_str address = rc_env_get(env, "SLURM_LAUNCH_NODE_IPADDR");
    struct rc_str name = rc_env_get(env, "SLURM_SRUN_COMM_HOST");

    if (rest.n == 0 || address.n == 0 ||
        !rc_endpoint_read(rc_str(rc_format(arena, "%S %S %S%s%S", &token, &port, &address, name.n ? " " : "", &name)),
                          endpoint))
        return false;
    *step = rest;
    return true;
}
