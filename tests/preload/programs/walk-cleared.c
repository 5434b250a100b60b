/* SPDX-License-Identifier: BSD-3-Clause */
/* walk-cleared.c - takes the environment, clears it, then puts it back from the old array.
 *
 * The idiom of daemons that clean their environment. It crashes where a
 * preload has had libc's setenv grow the array, because clearenv() frees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(void)
{
    char **old = environ;
    size_t kept = 0;

    clearenv();
    for (; old && *old; old++)
        if (strchr(*old, '=') && putenv(*old) == 0)
            kept++;
    printf("RANK=%s kept=%s\n", getenv("RANK") ? getenv("RANK") : "", kept ? "some" : "none");
    return 0;
}
