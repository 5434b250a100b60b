/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/program.h"

static bool is_program(const char *path)
{
    struct stat file;

    return access(path, X_OK) == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

bool rc_program_find(const char *folders, const char *name, char path[PATH_MAX])
{
    while (folders && *folders) {
        size_t n = strcspn(folders, ":");

        if (n > 0 && snprintf(path, PATH_MAX, "%.*s/%s", (int)n, folders, name) < PATH_MAX && is_program(path))
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Compare like the runtime: compiler-rt asan_linux.cpp, IsDynamicRTName. */
static bool lists_asan(int fd, const ElfW(Dyn) *entry, uint64_t names)
{
    char name[64];

    for (; entry->d_tag != DT_NULL; entry++) {
        ssize_t n = entry->d_tag == DT_NEEDED ? pread(fd, name, sizeof(name) - 1, (off_t)(names + entry->d_un.d_val))
                                              : 0;

        name[n > 0 ? n : 0] = '\0';
        if (strstr(name, "libasan.so") || strstr(name, "libclang_rt.asan"))
            return true;
    }
    return false;
}

static bool is_linked_with_asan(int fd)
{
    enum { SEGMENTS = 32, ENTRIES = 128 };
    ElfW(Ehdr) header;
    ElfW(Phdr) segment[SEGMENTS];
    ElfW(Dyn) entry[ENTRIES + 1] = { { .d_tag = DT_NULL } };
    uint64_t names = 0;

    if (!read_at(fd, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) || header.e_phnum > SEGMENTS ||
        !read_at(fd, header.e_phoff, segment, header.e_phnum * sizeof(*segment)))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        size_t size = segment[i].p_filesz < sizeof(*entry) * ENTRIES ? segment[i].p_filesz : sizeof(*entry) * ENTRIES;

        if (segment[i].p_type == PT_DYNAMIC && !read_at(fd, segment[i].p_offset, entry, size))
            return false;
    }
    for (const ElfW(Dyn) *e = entry; e->d_tag != DT_NULL; e++)
        for (unsigned i = 0; i < header.e_phnum; i++)
            if (e->d_tag == DT_STRTAB && segment[i].p_type == PT_LOAD &&
                e->d_un.d_ptr - segment[i].p_vaddr < segment[i].p_filesz)
                names = e->d_un.d_ptr - segment[i].p_vaddr + segment[i].p_offset;
    return names && lists_asan(fd, entry, names);
}

/* A script's first line names its interpreter. */
static bool needs_asan(const char *folders, const char *word, bool is_interpreter)
{
    char path[PATH_MAX];
    char line[256] = "";
    char *rest = line;
    bool found = false;
    int fd;

    if (strchr(word, '/') ? snprintf(path, sizeof(path), "%s", word) >= PATH_MAX || !is_program(path)
                          : !rc_program_find(folders, word, path))
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (!is_interpreter && pread(fd, line, sizeof(line) - 1, 0) > 2 && line[0] == '#' && line[1] == '!') {
        rest += 2;
        rest[strcspn(rest, "\n")] = '\0';
        for (char *next; !found && (next = strsep(&rest, " \t"));)
            found = needs_asan(folders, next, true);
    } else {
        found = is_linked_with_asan(fd);
    }
    close(fd);
    return found;
}

bool rc_program_needs_asan(const char *folders, const char *const *words)
{
    enum { WORDS_MAX = 16 };

    for (unsigned i = 0; words && words[i] && i < WORDS_MAX; i++)
        if (*words[i] && *words[i] != '-' && needs_asan(folders, words[i], false))
            return true;
    return false;
}
