/* SPDX-License-Identifier: BSD-3-Clause */
/* reset.c - clears its environment and sets a few names anew, as daemons and sudo do, then starts a program.
 *
 *   reset NAME=VALUE... -- PROGRAM ARGUMENT...
 *
 * A line "left NAME=VALUE" for whatever getenv or environ still show between clearenv and setenv.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    char **a = argv + 1;

    (void)argc;
    if (clearenv() || getenv("RANK") || getenv("ROLLCALL_SCOPE"))
        printf("left RANK=%s\n", getenv("RANK"));
    for (char **e = environ; e && *e; e++)
        printf("left %s\n", *e);
    fflush(stdout);
    for (; *a && strcmp(*a, "--") != 0; a++) {
        char *value = strchr(*a, '=');

        if (!value)
            return 2;
        *value = '\0';
        if (setenv(*a, value + 1, 1))
            return 2;
    }
    if (!*a || !a[1])
        return 2;
    execvp(a[1], a + 1);
    return 127;
}
