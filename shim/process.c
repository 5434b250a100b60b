/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <elf.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "system/sys.h"

/* A loader that passes no arguments leaves random values here. The kernel puts argc,
 * argv and envp one after the other, so values that match that layout and end at the
 * environment are real. (A constructor that ran before this one may have moved the
 * environment; then the command is not known.) */
const char *const *shim_command_line(int argc, char **argv, char **envp)
{
    if (envp != environ || argc < 1 || (uintptr_t)argv % alignof(char *) != 0 ||
        (uintptr_t)envp != (uintptr_t)argv + ((size_t)argc + 1) * sizeof(*argv) || argv[argc])
        return NULL;
    return (const char *const *)argv;
}

/* AT_SECURE is in the auxiliary vector, which follows the environment as the kernel left
 * it. That is where argv is known, too. Where another library has moved the environment
 * before, the user's ids tell; file capabilities are not seen then. */
bool shim_is_privileged(const char *const *argv, unsigned variables)
{
    const unsigned long *auxiliary = (const unsigned long *)(const void *)(environ + variables + 1);

    if (!argv)
        return rc_sys_changes_user();
    for (; auxiliary[0] != AT_NULL; auxiliary += 2)
        if (auxiliary[0] == AT_SECURE)
            return auxiliary[1] != 0;
    return false;
}
