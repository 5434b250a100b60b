/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.c - librollcall-pins.so: the workers of torchrun and Lightning on their own cores.
 *
 * rollcall puts it into LD_PRELOAD of a task in launcher mode whose cores are dealt
 * out (lib/resolve/pinning.h). All programs of the task have it from then on, so it is the
 * part of the preload library (preload.c) that binds, and no more: it gives nobody an
 * identity, also where mpirun or srun starts another launch in there. The rules of
 * the house are the same: no libc, nothing imported but environ, nothing said.
 */
#include "config.h"

#include "pin.h"
#include "process.h"
#include "resolve/pinning.h"

static struct rc_env env;
static struct shim_pin pin;
static struct shim_table table;

/* Without an index, which costs more: nearly no process is such a worker. */
static bool has_entry(const char *entry_begin)
{
    for (char **entry = environ; *entry; entry++)
        if (rc_str_starts((struct rc_str){ *entry, SIZE_MAX }, entry_begin))
            return true;
    return false;
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    const char *const *command = shim_command_line(argc, argv, envp);

    if (!environ || !has_entry("LOCAL_RANK=") || !has_entry(RC_PINS "=") || has_entry(RC_PINNED "="))
        return;
    rc_env_index(&env, (const char *const *)environ);
    /* which wins over everything */
    if (!shim_is_privileged(command, env.count) && !rc_str_is(rc_env_get(&env, "ROLLCALL"), "off"))
        shim_pin(&pin, &env, command, &table);
}
