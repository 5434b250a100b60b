/* SPDX-License-Identifier: BSD-3-Clause */
/* mask.c - shows the hardware threads that it may run on, then goes elsewhere.
 *
 *   mask                            "0,1 -": its mask, and ROLLCALL_PINNED or "-"
 *   mask CPUS PROGRAM ARGUMENT...   the same, then becomes PROGRAM on CPUS ("0,1"), as numactl does
 *
 * Compiled with any libc.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS = 128, BITS = 64 };

static unsigned long word[WORDS];

static void show(void)
{
    const char *pinned = getenv("ROLLCALL_PINNED");
    const char *comma = "";

    if (syscall(SYS_sched_getaffinity, 0, sizeof(word), word) <= 0)
        _exit(2);
    for (int i = 0; i < WORDS * BITS; i++)
        if (word[i / BITS] >> i % BITS & 1) {
            printf("%s%d", comma, i);
            comma = ",";
        }
    printf(" %s\n", pinned ? pinned : "-");
    fflush(stdout);
}

static void go_to(char *cpus)
{
    memset(word, 0, sizeof(word));
    for (char *cpu = strtok(cpus, ","); cpu; cpu = strtok(NULL, ","))
        word[atoi(cpu) / BITS] |= 1ul << atoi(cpu) % BITS;
    if (syscall(SYS_sched_setaffinity, 0, sizeof(word), word) != 0)
        _exit(3);
}

int main(int argc, char **argv)
{
    show();
    if (argc < 3)
        return 0;
    go_to(argv[1]);
    execvp(argv[2], argv + 2);
    return 4;
}
