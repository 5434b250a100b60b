/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall-rehearse - the parts of `rollcall rehearse` that are no Python: see wall.c, standin.c, judge.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wall.h"

extern char **environ;

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";

    if (strcmp(verb, "wall") == 0)
        return rehearse_wall(argc, argv);
    if (strcmp(verb, "stand-in") == 0)
        return rehearse_stand_in(argc, argv);
    if (strcmp(verb, "start") == 0 && argc > 2) {
        /* with the hook, behind the wall */
        execvpe(argv[2], argv + 2, environ);
        fprintf(stderr, "rollcall rehearse: %s: %s\n", argv[2], strerror(errno));
        return errno == ENOENT ? 127 : 126;
    }
    fprintf(stderr, "rollcall-rehearse: %s: `rollcall rehearse` starts this program\n", *verb ? verb : "no verb");
    return 2;
}
