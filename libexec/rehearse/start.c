/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

#define REHEARSE_SHELLS(names) " " names
#define REHEARSE_FILTERS(names)
static const char shells[] =
#include "programs.def"
    " ";

enum { STRINGS = 1 << 17 };

extern char **environ;

/* What the wall or the program before has handed on, as NAME=VALUE; prelude.sh and the program lie beside the hook. */
static struct {
    const char *library;
    const char *folder;
    const char *who;
    const char *output;
    uint32_t depth;
    const char *programs;
    size_t programs_size;
    char beside[REHEARSE_PATH];
} own;

static const char *value_of(const char *entry, const char *name)
{
    size_t n = strlen(name);

    return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

static void *map_file(const char *name, int protection, size_t *size)
{
    char path[REHEARSE_PATH];
    struct stat status;
    void *memory = MAP_FAILED;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", overlay_scratch, name);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, (protection & PROT_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC, 0);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        *size = (size_t)status.st_size;
        memory = mmap(NULL, *size, protection, MAP_SHARED, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Keeps the rehearsal's own names; shows a program what its user has set. BASH_ENV is bash's until prelude.sh. */
static void hide_names(void)
{
    bool is_bash = strcmp(program_invocation_short_name, "bash") == 0;
    bool is_own = strcmp(program_invocation_short_name, "rollcall-rehearse") == 0;
    char **to = environ;

    for (char **entry = environ; *entry; entry++) {
        char *text = *entry;
        bool is_hidden = true;

        if (value_of(text, "LD_PRELOAD"))
            own.library = value_of(text, "LD_PRELOAD");
        else if (value_of(text, REHEARSE_FOLDER))
            own.folder = text;
        else if (value_of(text, REHEARSE_AT))
            overlay_at = text;
        else if (value_of(text, REHEARSE_WHO))
            own.who = text;
        else if (value_of(text, REHEARSE_OUTPUT))
            own.output = text;
        else if (value_of(text, REHEARSE_DEPTH))
            rc_parse_u32(rc_str(value_of(text, REHEARSE_DEPTH)), REHEARSE_DEPTH_MAX, &own.depth);
        else if (value_of(text, REHEARSE_USERS "LD_PRELOAD") || (value_of(text, REHEARSE_USERS "BASH_ENV") && !is_bash))
            is_hidden = false, text += is_own ? 0 : strlen(REHEARSE_USERS);
        else
            is_hidden = value_of(text, "BASH_ENV") && !is_bash;
        if (!is_hidden || is_own)
            *to++ = text;
    }
    *to = NULL;
}

__attribute__((constructor)) static void begin(void)
{
    size_t size;

    for (char **entry = environ; entry && *entry; entry++)
        if (value_of(*entry, REHEARSE_FOLDER))
            overlay_scratch = value_of(*entry, REHEARSE_FOLDER);
    overlay_bounds = *overlay_scratch ? map_file("bounds", PROT_READ | PROT_WRITE, &size) : NULL;
    own.programs = overlay_bounds ? map_file("programs", PROT_READ, &own.programs_size) : NULL;
    if (!own.programs) {
        overlay_scratch = "";
        return;
    }
    hide_names();
    snprintf(own.beside, sizeof(own.beside), "%s", own.library ? own.library : "");
    if (strrchr(own.beside, '/'))
        *strrchr(own.beside, '/') = '\0';
}

/* The first executable file of that name in PATH; a name that is nowhere stays as it is. */
void rehearse_start_find(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    struct overlay_place place;
    struct stat status;

    for (const char *p = folders ? folders : "/usr/bin:/bin"; !strchr(name, '/'); p++) {
        size_t n = strcspn(p, ":");

        snprintf(path, size, "%.*s%s%s", (int)n, p, n ? "/" : "./", name);
        if (overlay_find(AT_FDCWD, path, true, &place) == 0 && overlay_path(&place) &&
            syscall(SYS_newfstatat, AT_FDCWD, overlay_path(&place), &status, 0) == 0 && S_ISREG(status.st_mode) &&
            syscall(SYS_faccessat, AT_FDCWD, overlay_path(&place), X_OK) == 0)
            return;
        p += n;
        if (!*p)
            break;
    }
    snprintf(path, size, "%s%s", strchr(name, '/') ? "" : REHEARSE_NOT_FOUND, name);
}

static bool is_in_path(const char *folder, size_t n)
{
    const char *folders = getenv("PATH");

    for (const char *p = folders ? folders : ""; *p; p += strspn(p, ":")) {
        size_t length = strcspn(p, ":");

        if (length == n && memcmp(p, folder, n) == 0)
            return true;
        p += length;
    }
    return false;
}

__attribute__((format(printf, 2, 3))) static char *put(struct rehearse_start *start, const char *format, ...)
{
    char *text = start->memory + start->used;
    size_t room = start->size - start->used;
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(text, room, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= room)
        return text;
    start->used += (size_t)n + 1;
    return text;
}

static void make_environment(struct rehearse_start *start, char *const *envp)
{
    const char *at = overlay_at;
    const char *who = own.who;
    char **to = start->env;

    for (; envp && *envp; envp++) {
        const char *preload = value_of(*envp, "LD_PRELOAD");
        const char *bash_env = value_of(*envp, "BASH_ENV");

        if (value_of(*envp, REHEARSE_AT))
            at = *envp;
        else if (value_of(*envp, REHEARSE_WHO))
            who = *envp;
        else if (strncmp(*envp, REHEARSE_FOLDER, strlen(REHEARSE_FOLDER)) == 0 &&
                 !value_of(*envp, REHEARSE_USERS "LD_PRELOAD") && !value_of(*envp, REHEARSE_USERS "BASH_ENV"))
            continue;
        else if (preload && strcmp(preload, own.library) != 0)
            *to++ = put(start, REHEARSE_USERS "%s", *envp);
        else if (bash_env && strncmp(bash_env, own.beside, strlen(own.beside)) != 0)
            *to++ = put(start, REHEARSE_USERS "%s", *envp);
        else if (!preload && !bash_env)
            *to++ = *(char **)(size_t)envp;
    }
    *to++ = put(start, "LD_PRELOAD=%s", own.library);
    *to++ = put(start, "BASH_ENV=%s/prelude.sh", own.beside);
    *to++ = put(start, REHEARSE_DEPTH "=%u", own.depth + 1);
    *to++ = put(start, "%s", own.folder);
    if (at)
        *to++ = put(start, "%s", at);
    if (who)
        *to++ = put(start, "%s", who);
    if (own.output)
        *to++ = put(start, "%s", own.output);
    *to = NULL;
}

/* In `programs`, whose lines are NAME TAB PATH. */
static const char *find_line(const char *text)
{
    return memmem(own.programs, own.programs_size, text, strlen(text));
}

static bool find_shell(struct rehearse_start *start, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char line[REHEARSE_HEAD + 8];
    const char *found;

    snprintf(line, sizeof(line), " %s ", name);
    if (!*name || !strstr(shells, line))
        return false;
    snprintf(line, sizeof(line), "\n%s\t", name);
    found = find_line(line);
    if (found)
        snprintf(start->shell, sizeof(start->shell), "%.*s", (int)strcspn(found + strlen(line), "\n"),
                 found + strlen(line));
    return found != NULL;
}

static bool is_listed(const struct rehearse_start *start, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char line[REHEARSE_PATH + REHEARSE_HEAD];

    snprintf(line, sizeof(line), "\n%.200s\t%s\n", name, start->place.name);
    return start->place.state == OVERLAY_OUTSIDE && find_line(line);
}

/* Words of the first line: "#!/bin/bash -e", "#!/usr/bin/env -S bash -e". False if it names no shell. */
static bool read_first_line(struct rehearse_start *start, char **words, size_t *n)
{
    char *rest = start->head + 2;
    char *word;

    rest[strcspn(rest, "\r\n")] = '\0';
    *n = 0;
    while (*n < REHEARSE_WORDS && (word = strsep(&rest, " \t")))
        if (*word && !(*n == 0 && strcmp(strrchr(word, '/') ? strrchr(word, '/') : word, "/env") == 0) &&
            !(*n == 0 && *word == '-'))
            words[(*n)++] = word;
    return *n > 0 && find_shell(start, words[0]);
}

static void put_stand_in(struct rehearse_start *start, const char *path, char *const *argv)
{
    size_t n = rehearse_count(argv);

    start->path = put(start, "%s/../rollcall-rehearse", own.beside);
    start->argv[0] = put(start, "rollcall-rehearse");
    start->argv[1] = put(start, "stand-in");
    start->argv[2] = put(start, "%s", path);
    start->argv[3] = put(start, "%s", n ? argv[0] : path);
    for (size_t i = 1; i <= n; i++)
        start->argv[3 + i] = argv[i];
}

/* dash tries each folder of PATH with execve. Return true if the program is in another one. */
static bool is_elsewhere(const char *path)
{
    const char *name = strrchr(path, '/');
    bool is_dash = strcmp(program_invocation_short_name, "sh") == 0 ||
                   strcmp(program_invocation_short_name, "dash") == 0;
    char found[REHEARSE_PATH];

    if (!is_dash || !name || !is_in_path(path, (size_t)(name - path)))
        return false;
    rehearse_start_find(name + 1, found, sizeof(found));
    return strncmp(found, REHEARSE_NOT_FOUND, strlen(REHEARSE_NOT_FOUND)) != 0;
}

static int put_file(struct rehearse_start *start, const char *path, char *const *argv)
{
    const char *file = overlay_path(&start->place);
    struct stat status;
    char *words[REHEARSE_WORDS];
    size_t n;
    int fd;

    if (!file || start->place.state == OVERLAY_ABSENT || syscall(SYS_newfstatat, AT_FDCWD, file, &status, 0) < 0) {
        if (is_elsewhere(path))
            return errno = ENOENT, -1;
        put_stand_in(start, path, argv);
        return 0;
    }
    if (!S_ISREG(status.st_mode) || syscall(SYS_faccessat, AT_FDCWD, file, X_OK) < 0)
        return errno = EACCES, -1;
    if (is_listed(start, path)) {
        start->path = put(start, "%s", start->place.name);
        memcpy(start->argv, argv, (rehearse_count(argv) + 1) * sizeof(*argv));
        return 0;
    }
    /* pyenv's and asdf's, which look for the program of that name for a long time */
    if (strstr(path, "/shims/")) {
        put_stand_in(start, path, argv);
        return 0;
    }
    fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0);
    n = fd >= 0 ? (size_t)read(fd, start->head, REHEARSE_HEAD) : 0;
    close(fd);
    if (n > REHEARSE_HEAD)
        n = 0;
    if (strncmp(start->head, "#!", 2) == 0 && read_first_line(start, words, &n)) {
        memcpy(start->argv, words, n * sizeof(*words));
        start->path = start->shell;
        start->argv[n] = put(start, "%s", path);
        memcpy(start->argv + n + 1, argv + 1, rehearse_count(argv) * sizeof(*argv));
    } else if (strncmp(start->head, "#!", 2) != 0 && n > 0 && !memchr(start->head, '\0', n)) {
        return errno = ENOEXEC, -1;
    } else if (find_shell(start, path)) {
        start->path = start->shell;
        memcpy(start->argv, argv, (rehearse_count(argv) + 1) * sizeof(*argv));
    } else {
        put_stand_in(start, path, argv);
    }
    return 0;
}

void rehearse_start_end(struct rehearse_start *start)
{
    int error = errno;

    munmap(start->memory, start->size);
    errno = error;
}

/* Decides what is started for a path; end_start frees it. */
int rehearse_start_prepare(struct rehearse_start *start, const char *path, char *const *argv, char *const *envp)
{
    static const char not_found[] = REHEARSE_NOT_FOUND;
    size_t words = rehearse_count(argv) + REHEARSE_WORDS + 8;
    size_t names = rehearse_count(envp) + 16;

    if (own.depth >= REHEARSE_DEPTH_MAX) {
        overlay_note("depth", path);
        return errno = ELOOP, -1;
    }
    start->used = (words + names) * sizeof(char *);
    start->size = start->used + STRINGS;
    start->memory = mmap(NULL, start->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start->memory == MAP_FAILED)
        return -1;
    start->argv = (char **)(void *)start->memory;
    start->env = start->argv + words;
    memset(start->head, 0, sizeof(start->head));
    make_environment(start, envp);
    if (strncmp(path, not_found, strlen(not_found)) == 0) {
        put_stand_in(start, path + strlen(not_found), argv);
        start->argv[3] = start->argv[2];
        return 0;
    }
    if (overlay_find(AT_FDCWD, path, true, &start->place) == 0 && put_file(start, path, argv) == 0)
        return 0;
    rehearse_start_end(start);
    return -1;
}
