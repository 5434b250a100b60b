/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c - wall time of a program under two environment blocks, in turns: A B A B ...
 *
 *   spawn ROUNDS BLOCK-A BLOCK-B PROGRAM [ARGUMENT]...
 *
 * A block is a file of entries with a NUL behind each; SLURM_TASK_PID=@pid gets the
 * program's own id, as in the first process of a task. Prints the median time
 * of A and of B in nanoseconds and the median of the ratios of neighbours: what
 * a noisy machine does to both of a pair cancels out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "median.h"

static char **read_block(const char *path)
{
    FILE *file = fopen(path, "r");
    char **block = calloc(10001, sizeof(*block));
    char *entry = NULL;
    size_t size = 0, n = 0;

    if (!file || !block) {
        perror(path);
        exit(2);
    }
    while (n < 10000 && getdelim(&entry, &size, '\0', file) >= 0) {
        block[n++] = entry;
        entry = NULL;
        size = 0;
    }
    fclose(file);
    return block;
}

static double nanoseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void be_program(char **argv, char **block)
{
    char task[32];

    for (char **entry = block; *entry; entry++) {
        if (strcmp(*entry, "SLURM_TASK_PID=@pid") == 0) {
            snprintf(task, sizeof(task), "SLURM_TASK_PID=%d", (int)getpid());
            *entry = task;
        }
    }
    execve(argv[0], argv, block);
    _exit(127);
}

static double run_once(char **argv, char **block)
{
    double start = nanoseconds_now();
    int status;
    pid_t pid = fork();

    if (pid == 0)
        be_program(argv, block);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
        fprintf(stderr, "%s: could not be run, or failed\n", argv[0]);
        exit(2);
    }
    return nanoseconds_now() - start;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 4 ? strtoul(argv[1], NULL, 10) : 0;
    double *a = calloc(rounds + 1, sizeof(*a));
    double *b = calloc(rounds + 1, sizeof(*b));
    double *ratio = calloc(rounds + 1, sizeof(*ratio));

    if (!rounds || !a || !b || !ratio)
        return 2;
    char **block_a = read_block(argv[2]);
    char **block_b = read_block(argv[3]);

    for (size_t i = 0; i < rounds; i++) {
        /* which of the two is first alternates as well */
        if (i % 2) {
            b[i] = run_once(argv + 4, block_b);
            a[i] = run_once(argv + 4, block_a);
        } else {
            a[i] = run_once(argv + 4, block_a);
            b[i] = run_once(argv + 4, block_b);
        }
        ratio[i] = b[i] / a[i];
    }
    printf("%.0f %.0f %.4f\n", median(a, rounds), median(b, rounds), median(ratio, rounds));
    return 0;
}
