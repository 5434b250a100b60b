/* SPDX-License-Identifier: BSD-3-Clause */
/* envexec.c - starts a program with any environment block, also one that no shell can make.
 *
 *   envexec FILE PROGRAM ARGUMENT...   FILE: entries, each with a NUL behind it
 *   envexec NULL PROGRAM ARGUMENT...   execve with a null pointer
 *   envexec --time FILE PROGRAM ARGUMENT...   in a child; prints its microseconds, from fork to its end
 *
 * SLURM_TASK_PID=@pid gets the program's own id, as in the first process of a task.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **read_block(const char *path)
{
    FILE *file = fopen(path, "r");
    char **block = calloc(200001, sizeof(*block));
    char *entry = NULL;
    size_t size = 0, n = 0;

    while (file && block && n < 200000 && getdelim(&entry, &size, '\0', file) >= 0) {
        block[n++] = entry;
        entry = NULL;
        size = 0;
    }
    if (!file || !block || ferror(file)) {
        perror(path);
        _exit(125);
    }
    fclose(file);
    return block;
}

static int execute(char **block, char **argv)
{
    char task[32];

    for (char **entry = block; entry && *entry; entry++) {
        if (strcmp(*entry, "SLURM_TASK_PID=@pid") == 0) {
            snprintf(task, sizeof(task), "SLURM_TASK_PID=%d", (int)getpid());
            *entry = task;
        }
    }
    execve(argv[0], argv, block);
    perror(argv[0]);
    return 126;
}

static int execute_timed(char **block, char **argv)
{
    struct timespec start, end;
    int status;
    pid_t pid;

    clock_gettime(CLOCK_MONOTONIC, &start);
    pid = fork();
    if (pid == 0)
        _exit(execute(block, argv));
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return 125;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f\n", (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) / 1e3);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--time") == 0)
        return execute_timed(read_block(argv[2]), argv + 3);
    if (argc < 3)
        return 125;
    return execute(strcmp(argv[1], "NULL") == 0 ? NULL : read_block(argv[1]), argv + 2);
}
