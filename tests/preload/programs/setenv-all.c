/* SPDX-License-Identifier: BSD-3-Clause */
/* setenv-all.c - uses every function of libc that changes the environment, after the shim did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(void)
{
    static char put[] = "PUT=1";
    unsigned n = 0;
    char name[32];

    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "ADDED_%d", i);
        if (setenv(name, "x", 1))
            return 1;
    }
    if (setenv("RANK", "changed", 1) || putenv(put) || unsetenv("WORLD_SIZE") || unsetenv("ADDED_7"))
        return 1;
    for (char **e = environ; *e; e++)
        n += strncmp(*e, "ADDED_", 6) == 0;
    printf("RANK=%s WORLD_SIZE=%s PUT=%s added=%u\n", getenv("RANK"),
           getenv("WORLD_SIZE") ? getenv("WORLD_SIZE") : "(unset)", getenv("PUT"), n);
    return 0;
}
