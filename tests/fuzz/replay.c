/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - main of a harness without libFuzzer: PROGRAM FILE|FOLDER... runs each file's bytes once.
 *
 * Says how many there were. An input that takes a minute ends the process.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECONDS = 60, PATH_SIZE = 4096 };

static unsigned count;

static void run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&data, &size);
    int c;

    if (!file || !copy) {
        perror(path);
        exit(2);
    }
    while ((c = getc(file)) != EOF)
        putc(c, copy);
    fclose(file);
    fclose(copy);
    count++;
    alarm(SECONDS);
    fprintf(stderr, "%s\r", path);
    LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    free(data);
}

static void run_path(const char *path)
{
    struct stat status;
    struct dirent *entry;
    DIR *folder;

    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        run_file(path);
        return;
    }
    folder = opendir(path);
    if (!folder) {
        perror(path);
        exit(2);
    }
    while ((entry = readdir(folder))) {
        char name[PATH_SIZE];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        run_path(name);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    fprintf(stderr, "\n%u inputs\n", count);
    return 0;
}
