/* SPDX-License-Identifier: BSD-3-Clause */
/* envexec.c - starts a program with any environment block, also one that no shell can make.
 *
 *   envexec FILE PROGRAM ARGUMENT...   FILE: entries, each with a NUL behind it
 *   envexec NULL PROGRAM ARGUMENT...   execve with a null pointer
 *
 * SLURM_TASK_PID=@pid gets the program's own id, as in the first process of a task.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **read_block(const char *path)
{
    FILE *file = fopen(path, "r");
    char **block = calloc(200001, sizeof(*block));
    char *entry = NULL;
    size_t size = 0, n = 0;

    while (file && block && n < 200000 && getdelim(&entry, &size, '\0', file) >= 0) {
        if (strcmp(entry, "SLURM_TASK_PID=@pid") == 0 && asprintf(&entry, "SLURM_TASK_PID=%d", (int)getpid()) < 0)
            _exit(125);
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

int main(int argc, char **argv)
{
    if (argc < 3)
        return 125;
    execve(argv[2], argv + 2, strcmp(argv[1], "NULL") == 0 ? NULL : read_block(argv[1]));
    perror(argv[2]);
    return 126;
}
