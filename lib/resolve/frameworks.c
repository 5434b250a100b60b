/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/frameworks.h"

#include "resolve/master.h"
#include "resolve/result.h"

enum { LAST_PORT = 65535, DEVICES_MAX = 32 };

/* JAX takes the port behind MASTER_PORT: a script may use torch as well, and MASTER_PORT
 * is torch's. Ports are computed in blocks (master.c), so no other step has this one. */
static const char *jax_coordinator(struct rc_result *result)
{
    const struct rc_master *master = &result->master;
    uint32_t port = master->port + 1u;

    if (!master->addr || master->port == 0 || port > LAST_PORT)
        return NULL;
    return rc_master_endpoint(result, port);
}

static const char *jax_local_devices(struct rc_result *result)
{
    uint32_t visible = result->visible.count;
    uint32_t count = visible != RC_UNKNOWN ? visible : result->facts.gpus.value;
    const char *list = "0";

    if (result->mode == RC_MODE_WORKER)
        return visible == 1 && result->identity.field[RC_LOCAL_WORLD_SIZE] > 1 ? list : NULL;
    if (count == RC_UNKNOWN || count < 2 || count > DEVICES_MAX)
        return NULL;
    for (uint32_t i = 1; i < count; i++)
        list = rc_format(&result->arena, "%s,%u", list, i);
    return list;
}

static const char *torchrun_signals(struct rc_result *result)
{
    return result->mode == RC_MODE_LAUNCHER ? "SIGTERM,SIGINT,SIGHUP,SIGQUIT,SIGUSR1,SIGUSR2" : NULL;
}

struct rc_framework_variable rc_framework_variable(struct rc_result *result, enum rc_framework_index index)
{
    struct rc_framework_variable none = { .value = NULL };

    /* a table of pointers would need relocations in the preload library */
    switch (index) {
#define ROLLCALL_FRAMEWORK(name, function, source, reason) \
    case RC_FRAMEWORK_##function:                          \
        return (struct rc_framework_variable){ RC_STR(name), function(result), source, reason };
#include "resolve/frameworks.def"
#undef ROLLCALL_FRAMEWORK
    case RC_FRAMEWORK_COUNT:
        break;
    }
    return none;
}
