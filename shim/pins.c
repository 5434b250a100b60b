/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.c - librollcall-pins.so: the workers of torchrun and Lightning on their own cores.
 *
 * rollcall puts it into LD_PRELOAD of a task in launcher mode whose workers get cores (lib/resolve/pins.h). All
 * programs of the task load it, so it is only the part of the preload library (preload.c) that binds. It sets no
 * identity, also where mpirun or srun starts another launch in the task. It follows the same rules: no libc, no import
 * but environ, no output.
 */
#include "config.h"

#include "resolve/pins.h"
#include "shim.h"

static struct rc_env env;
static struct shim_pin pin;
static struct shim_table table;

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    const char *const *command = shim_command_line(argc, argv, envp);
    struct rc_str keys;

    rc_env_index(&env, (const char *const *)environ);
    /* ROLLCALL=off wins over everything, also with keys behind it */
    if (!shim_is_privileged(command, env.count) &&
        !rc_str_is(rc_str_split(rc_env_get(&env, "ROLLCALL"), ',', &keys), "off"))
        shim_pin(&pin, &env, command, &table);
}
