/* SPDX-License-Identifier: BSD-3-Clause */
/* hostlist_stream - lib/launcher/hosts.h as a filter: NUL-ended lists in, a line of JSON each out.
 *
 *   null                  not a host list
 *   [COUNT, "n1", "n2"]   the first hosts, at most LISTED; each one has been
 *                         looked up again by rc_hostlist_find
 * Output is flushed before the program waits for input.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/hosts.h"

enum { LISTED = 5000 };

static void put_hosts(struct rc_str list)
{
    uint32_t count;
    char name[RC_HOST_MAX + 1];
    char again[RC_HOST_MAX + 1];

    if (!rc_hostlist_count(list, &count)) {
        fputs("null\n", stdout);
        return;
    }
    printf("[%" PRIu32, count);
    for (uint32_t i = 0; i < count && i < LISTED; i++) {
        if (!rc_hostlist_nth(list, i, name)) {
            printf(", \"host %" PRIu32 " is counted but not there\"", i);
            continue;
        }
        /* a name that comes twice is found in its first place */
        uint32_t found = rc_hostlist_find(list, rc_str(name));
        if (found > i || !rc_hostlist_nth(list, found, again) || strcmp(name, again) != 0)
            printf(", \"%s is found at %" PRIu32 " instead of %" PRIu32 "\"", name, found, i);
        else
            printf(", \"%s\"", name);
    }
    if (count < UINT32_MAX && rc_hostlist_nth(list, count, name))
        fputs(", \"a host more than are counted\"", stdout);
    fputs("]\n", stdout);
}

int main(void)
{
    char *buffer = NULL;
    size_t room = 0;
    ssize_t length;

    while ((length = getdelim(&buffer, &room, '\0', stdin)) > 0) {
        size_t size = (size_t)length - (buffer[length - 1] == '\0');
        char *copy = malloc(size ? size : 1);
        if (!copy)
            return 2;
        memcpy(copy, buffer, size);
        put_hosts((struct rc_str){ copy, size });
        free(copy);
        if (fflush(stdout) != 0)
            return 2;
    }
    free(buffer);
    return 0;
}
