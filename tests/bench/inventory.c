/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory ROUNDS: what it takes rollcall-exchange to say what its node has, with 8 GPUs and 8 network cards (the
 * files of tests/unit/inventorytree.c), without the program that does it. Prints the bytes, the median microseconds and
 * the processor's. */
#include "config.h"

#include "inventory/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "median.h"
#include "tests/unit/inventorytree.h"

enum { ROUNDS_MAX = 1000 };

extern char **environ;

static double microseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double processor(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    char root[] = "/dev/shm/rollcall-inventory.XXXXXX";
    double taken[ROUNDS_MAX];
    char text[RC_INVENTORY_SIZE];
    double used = 0;

    if (rounds < 1 || rounds > ROUNDS_MAX || !mkdtemp(root))
        return 2;
    tree_make(root, &tree_healthy);
    for (int i = 0; i < rounds; i++) {
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        double start = microseconds();

        used -= processor();
        rc_inventory_write(root, (const char *const *)environ, &arena);
        used += processor();
        taken[i] = microseconds() - start;
    }
    tree_remove(root);
    printf("%zu %.0f %.0f\n", strlen(text), median(taken, (size_t)rounds), used / rounds);
    return 0;
}
