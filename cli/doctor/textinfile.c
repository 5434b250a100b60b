/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memmem */
#include "textinfile.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies up to the next zero byte, or up to the end. */
static void copy_text(const char *from, const char *end, char *text, size_t size)
{
    size_t n = strnlen(from, (size_t)(end - from));

    if (n >= size)
        n = size - 1;
    memcpy(text, from, n);
    text[n] = '\0';
}

static bool search_open_file(int fd, const char *text, char *rest, size_t size)
{
    struct stat file;
    const char *map;
    const char *found;
    size_t length;

    if (fstat(fd, &file) < 0 || file.st_size <= 0)
        return false;
    length = (size_t)file.st_size;
    map = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    found = memmem(map, length, text, strlen(text));
    if (found && rest)
        copy_text(found + strlen(text), map + length, rest, size);
    munmap((void *)(uintptr_t)map, length);
    return found != NULL;
}

bool doctor_text_in_file(const char *path, const char *text, char *rest, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && search_open_file(fd, text, rest, size);

    if (fd >= 0)
        close(fd);
    return found;
}
