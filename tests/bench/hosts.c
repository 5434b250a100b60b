/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts LIST INDEX - time of one rc_hostlist_nth call. */
#include <stdio.h>
#include <stdlib.h>

#include "launcher/hosts.h"
#include "tests/bench/bench.h"

enum { CALLS = 200000, BATCHES = 9 };

int main(int argc, char **argv)
{
    struct rc_str list = rc_str(argc == 3 ? argv[1] : NULL);
    uint32_t index = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    char name[RC_HOST_MAX + 1];

    for (unsigned batch = 0; batch < BATCHES; batch++) {
        double start = bench_wall();

        for (unsigned call = 0; call < CALLS; call++)
            if (!rc_hostlist_nth(list, index, name))
                return 1;
        printf("%.4f (%s)\n", (bench_wall() - start) / CALLS, name);
    }
    return 0;
}
