/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory ROUNDS: what it takes rollcall-exchange to say what its node has, with 8 GPUs and 8 network cards (the
 * files of tests/unit/inventorytree.c), in a child as always. Prints the bytes, the median microseconds of a child that
 * does nothing and of the whole, and the processor's for the whole. */
#include "config.h"

#include "inventory/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "median.h"
#include "system/bounded.h"
#include "tests/unit/inventorytree.h"

enum { ROUNDS_MAX = 1000, PATIENCE_MS = 10000 };

extern char **environ;

static double microseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double processor(void)
{
    double all = 0;

    for (int i = 0; i < 2; i++) {
        struct rusage usage;

        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
        all += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return all;
}

static void do_nothing(const void *data, int fd)
{
    (void)data;
    (void)fd;
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    char root[] = "/dev/shm/rollcall-inventory.XXXXXX";
    const struct rc_inventory_request request = { .root = root, .env = (const char *const *)environ };
    double nothing[ROUNDS_MAX], whole[ROUNDS_MAX];
    char text[RC_INVENTORY_SIZE];
    double used = 0;

    if (rounds < 1 || rounds > ROUNDS_MAX || !mkdtemp(root))
        return 2;
    tree_make(root, &tree_healthy);
    for (int i = 0; i < rounds; i++) {
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        double start = microseconds();

        rc_bounded_run(do_nothing, NULL, PATIENCE_MS, text, sizeof(text));
        nothing[i] = microseconds() - start;
        start = microseconds();
        used -= processor();
        rc_inventory_write(&request, PATIENCE_MS, &arena);
        used += processor();
        whole[i] = microseconds() - start;
    }
    tree_remove(root);
    printf("%zu %.0f %.0f %.0f\n", strlen(text), median(nothing, (size_t)rounds), median(whole, (size_t)rounds),
           used / rounds);
    return 0;
}
