/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/stepserver.h"

bool rc_step_server_read(const struct rc_env *env, struct rc_step_server *server)
{
    struct rc_step_server read;

    read.token = rc_str_split(rc_env_get(env, RC_SERVER), ' ', &read.step);
    read.port = rc_str_split(read.step, ' ', &read.step);
    if (read.step.n == 0)
        return false;
    *server = read;
    return true;
}

const char *rc_step_server_write(struct rc_arena *arena, const char *token, uint16_t port, uint32_t job, uint32_t step)
{
    return rc_format(arena, "%s %u %u.%u", token, (uint32_t)port, job, step);
}
