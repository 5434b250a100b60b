/* SPDX-License-Identifier: BSD-3-Clause */
/* programs.c - where the programs of programs.def are on this machine. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wall.h"

#define REHEARSE_SHELLS(names)  names " "
#define REHEARSE_FILTERS(names) names " "
static const char names[] =
#include "programs.def"
    ;

/* The loader that a program names; false for a static one and for what is no program. */
static bool read_loader(const char *path, char *loader, size_t size)
{
    FILE *file = fopen(path, "re");
    ElfW(Ehdr) head;
    ElfW(Phdr) part = { .p_type = PT_NULL };
    size_t n = 0;

    if (file && fread(&head, sizeof(head), 1, file) == 1 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0) {
        for (unsigned i = 0; i < head.e_phnum && part.p_type != PT_INTERP; i++)
            if (fseek(file, (long)(head.e_phoff + i * sizeof(part)), SEEK_SET) < 0 ||
                fread(&part, sizeof(part), 1, file) != 1)
                break;
        if (part.p_type == PT_INTERP && part.p_filesz <= size && fseek(file, (long)part.p_offset, SEEK_SET) == 0)
            n = fread(loader, 1, part.p_filesz, file);
    }
    if (file)
        fclose(file);
    return n > 0 && loader[n - 1] == '\0';
}

static void list_program(FILE *list, const char *name, const char *folder, const char *own_loader)
{
    char path[2 * PATH_MAX];
    char real[PATH_MAX];
    char loader[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (realpath(path, real) && stat(real, &status) == 0 && S_ISREG(status.st_mode) &&
        !(status.st_mode & (S_ISUID | S_ISGID)) && access(real, X_OK) == 0 &&
        read_loader(real, loader, sizeof(loader)) && strcmp(loader, own_loader) == 0)
        fprintf(list, "%s\t%s\n", name, real);
}

int wall_list_programs(const char *folder)
{
    char path[PATH_MAX];
    char loader[PATH_MAX] = "";
    char name[32];
    const char *search = getenv("PATH");
    FILE *list;

    read_loader("/proc/self/exe", loader, sizeof(loader));
    snprintf(path, sizeof(path), "%s/programs", folder);
    list = fopen(path, "we");
    if (!list)
        return -1;
    fprintf(list, "\n");
    for (const char *word = names; *word; word += strcspn(word, " ") + 1) {
        const char *part = "/usr/local/bin:/usr/bin:/bin";

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, " "), word);
        for (unsigned i = 0; i < 2 && part; i++, part = search)
            for (const char *p = part; *p; p += strcspn(p, ":") + (p[strcspn(p, ":")] == ':')) {
                snprintf(path, sizeof(path), "%.*s", (int)strcspn(p, ":"), p);
                if (*path == '/')
                    list_program(list, name, path, loader);
            }
    }
    fprintf(list, "-\t%s\n", loader);
    return fclose(list);
}
