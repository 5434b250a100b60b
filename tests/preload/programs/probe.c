/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c - shows a variable in each of the ways in which a program may ask for it.
 *
 *   probe NAME...    getenv NAME=VALUE, environ NAME=VALUE, envp NAME=VALUE
 *
 * Each occurrence in environ and in main's third argument is shown, so a name that stands there twice is seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static void walk(const char *how, char **block, const char *name)
{
    size_t n = strlen(name);

    for (; block && *block; block++)
        if (strncmp(*block, name, n) == 0 && (*block)[n] == '=')
            printf("%s %s\n", how, *block);
}

int main(int argc, char **argv, char **envp)
{
    for (int i = 1; i < argc; i++) {
        const char *value = getenv(argv[i]);

        if (value)
            printf("getenv %s=%s\n", argv[i], value);
        walk("environ", environ, argv[i]);
        walk("envp", envp, argv[i]);
    }
    return 0;
}
