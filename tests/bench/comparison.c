/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison ROUNDS NODES TASKS-A-NODE: what it takes srun's server to read and check the roll of so many nodes. Prints
 * the median milliseconds where they say nothing of what they have, where they all have the same, and where no two
 * have. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "entries.h"
#include "median.h"
#include "roll/check.h"

enum { ROUNDS_MAX = 100 };

static double milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static char *make_entries(uint32_t nodes, uint32_t tasks, enum entries_items items, struct rc_str *entry)
{
    char *all = malloc((size_t)nodes * ENTRIES_SIZE);
    struct rc_arena arena = { .base = all, .size = (size_t)nodes * ENTRIES_SIZE };

    for (uint32_t i = 0; all && i < nodes; i++) {
        const char *text = entries_write(i, nodes, tasks, items, &arena);

        if (!text) {
            free(all);
            return NULL;
        }
        entry[i] = rc_str(text);
    }
    return all;
}

/* Negative where an entry is none, or where other findings come than are to. */
static double measure(const struct rc_str *entry, uint32_t nodes, bool differ, struct rc_roll *roll)
{
    static char text[RC_CHECK_ARENA];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_roll_known known = { .item_lines = RC_ITEM_LINES };
    struct rc_messages findings = { .count = 0 };
    double start = milliseconds();
    bool good = true;

    for (uint32_t i = 0; i < nodes; i++)
        good = rc_roll_read(entry[i], &roll[i]) && good;
    good = rc_roll_check(roll, nodes, &known, &findings, NULL, &arena) && good;
    good = good && findings.count == (differ ? RC_ITEM_LINES + 1 : 0);
    return good ? milliseconds() - start : -1;
}

int main(int argc, char **argv)
{
    int rounds = argc == 4 ? atoi(argv[1]) : 0;
    uint32_t nodes = argc == 4 ? (uint32_t)atoi(argv[2]) : 0;
    uint32_t tasks = argc == 4 ? (uint32_t)atoi(argv[3]) : 0;
    struct rc_str *entry = calloc(nodes + 1u, sizeof(*entry));
    struct rc_roll *roll = calloc(nodes + 1u, sizeof(*roll));

    if (rounds < 1 || rounds > ROUNDS_MAX || nodes < 2 || tasks < 1 || !entry || !roll)
        return 2;
    for (enum entries_items items = ENTRIES_WITHOUT; items <= ENTRIES_ALL_DIFFERENT; items++) {
        char *all = make_entries(nodes, tasks, items, entry);
        double took[ROUNDS_MAX];

        for (int i = 0; i < rounds; i++) {
            took[i] = all ? measure(entry, nodes, items == ENTRIES_ALL_DIFFERENT, roll) : -1;
            if (took[i] < 0)
                return 1;
        }
        free(all);
        printf("%.1f ", median(took, (size_t)rounds));
    }
    putchar('\n');
    free(entry);
    free(roll);
    return 0;
}
