/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.c - librollcall-pins.so: bind the workers of torchrun and Lightning.
 *
 * All programs of a task in launcher mode load it, so it sets no identity, and follows preload.c's rules: no libc, no
 * import but environ, no output. */
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
    /* ROLLCALL=off overrides everything, even with keys after it */
    if (!shim_is_privileged(command, env.count) &&
        !rc_str_is(rc_str_split(rc_env_get(&env, "ROLLCALL"), ',', &keys), "off"))
        shim_pin(&pin, &env, command, &table);
}
