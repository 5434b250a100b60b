/* SPDX-License-Identifier: BSD-3-Clause */
#include "items.h"

#include <stddef.h>

const char *const *rc_spank_environment(spank_t spank)
{
    char **block = NULL;

    if (spank_get_item(spank, S_JOB_ENV, &block) != ESPANK_SUCCESS)
        return NULL;
    return (const char *const *)block;
}

const char *const *rc_spank_command(spank_t spank)
{
    char **argv = NULL;
    int argc = 0;

    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc <= 0 || !argv)
        return NULL;
    return (const char *const *)argv;
}

bool rc_spank_number(spank_t spank, spank_item_t item, uint32_t *value)
{
    uint32_t number;

    if (spank_get_item(spank, item, &number) != ESPANK_SUCCESS)
        return false;
    *value = number;
    return true;
}

bool rc_spank_is_first(const struct rc_env *env)
{
    return rc_str_is(rc_env_get(env, "SLURM_PROCID"), "0");
}
