/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c - time of one rc_hostlist_nth call: hosts LIST INDEX, prints nanoseconds and the host. */
#include "launcher/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "median.h"

enum { CALLS = 200000, BATCHES = 9 };

static double nanoseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct rc_str list = rc_str(argc > 2 ? argv[1] : NULL);
    uint32_t index = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    char name[RC_HOST_MAX + 1];
    double batch[BATCHES];

    for (unsigned i = 0; i < BATCHES; i++) {
        double start = nanoseconds_now();

        for (unsigned call = 0; call < CALLS; call++)
            if (!rc_hostlist_nth(list, index, name))
                return 1;
        batch[i] = (nanoseconds_now() - start) / CALLS;
    }
    printf("%.1f %s\n", median(batch, BATCHES), name);
    return 0;
}
