/* SPDX-License-Identifier: BSD-3-Clause */
/* inventory - what it takes to say what a node has, with 8 GPUs and 8 network cards (the files of
 * tests/unit/inventorytree.c), without the program that does it. */
#include "config.h"

#include "inventory/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/unit/inventorytree.h"

enum { ROUNDS = 51 };

extern char **environ;

int main(void)
{
    char root[] = "/dev/shm/rollcall-inventory.XXXXXX";
    char text[RC_INVENTORY_SIZE];

    if (!mkdtemp(root))
        return 2;
    tree_make(root, &tree_healthy);
    for (int i = 0; i < ROUNDS; i++) {
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        double start = bench_wall();

        rc_inventory_write(root, (const char *const *)environ, &arena);
        printf("%.1f (%zu bytes)\n", bench_wall() - start, strlen(text));
    }
    tree_remove(root);
    return 0;
}
