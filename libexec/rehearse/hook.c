/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.c - the preload library of a rehearsal: what its shells and filters start.
 *
 * A program of `programs` starts as it is, a script whose first line names a shell starts with that shell, and every
 * other program becomes the stand-in, whether it exists or not. Each has the hook, whatever environment it was given.
 */
#define _GNU_SOURCE
#include "overlay.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/text.h"

#define REHEARSE_SHELLS(names) " " names
#define REHEARSE_FILTERS(names)
static const char shells[] =
#include "programs.def"
    " ";

enum { STRINGS = 1 << 17, HEAD = 256, WORDS = 16 };

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

/* Bounds */

static bool is_too_much(void)
{
    struct sysinfo machine;
    unsigned forks;

    if (!overlay_bounds)
        return false;
    forks = atomic_fetch_add(&overlay_bounds->forks, 1);
    if (forks > REHEARSE_FORKS_MAX || (forks > REHEARSE_PROCESSES_MAX && sysinfo(&machine) == 0 &&
                                       machine.procs > overlay_bounds->processes + REHEARSE_PROCESSES_MAX))
        atomic_store(&overlay_bounds->reached, 1);
    return atomic_load(&overlay_bounds->reached) != 0;
}

HOOK pid_t fork(void)
{
    static pid_t (*real)(void);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    return is_too_much() ? (errno = EAGAIN, -1) : real();
}

HOOK pid_t vfork(void)
{
    return fork();
}

/* What is started in the place of a program */

struct start {
    char *memory; /* of the words, the environment and their texts */
    size_t size;
    size_t used;
    const char *path;
    char **argv;
    char **env;
    struct overlay_place place;
    char head[HEAD + 1];
    char shell[REHEARSE_PATH];
};

__attribute__((format(printf, 2, 3))) static char *put(struct start *start, const char *format, ...)
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

static size_t count(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static void make_environment(struct start *start, char *const *envp)
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

static bool find_shell(struct start *start, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char line[HEAD + 8];
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

static bool is_listed(const struct start *start, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char line[REHEARSE_PATH + HEAD];

    snprintf(line, sizeof(line), "\n%.200s\t%s\n", name, start->place.name);
    return start->place.state == OVERLAY_OUTSIDE && find_line(line);
}

/* Words of the first line: "#!/bin/bash -e", "#!/usr/bin/env -S bash -e". False if it names no shell. */
static bool read_first_line(struct start *start, char **words, size_t *n)
{
    char *rest = start->head + 2;
    char *word;

    rest[strcspn(rest, "\r\n")] = '\0';
    *n = 0;
    while (*n < WORDS && (word = strsep(&rest, " \t")))
        if (*word && !(*n == 0 && strcmp(strrchr(word, '/') ? strrchr(word, '/') : word, "/env") == 0) &&
            !(*n == 0 && *word == '-'))
            words[(*n)++] = word;
    return *n > 0 && find_shell(start, words[0]);
}

static void put_stand_in(struct start *start, const char *path, char *const *argv)
{
    size_t n = count(argv);

    start->path = put(start, "%s/../rollcall-rehearse", own.beside);
    start->argv[0] = put(start, "rollcall-rehearse");
    start->argv[1] = put(start, "stand-in");
    start->argv[2] = put(start, "%s", path);
    start->argv[3] = put(start, "%s", n ? argv[0] : path);
    for (size_t i = 1; i <= n; i++)
        start->argv[3 + i] = argv[i];
}

static int put_file(struct start *start, const char *path, char *const *argv)
{
    const char *file = overlay_path(&start->place);
    struct stat status;
    char *words[WORDS];
    size_t n;
    int fd;

    if (!file || start->place.state == OVERLAY_ABSENT || syscall(SYS_newfstatat, AT_FDCWD, file, &status, 0) < 0) {
        put_stand_in(start, path, argv);
        return 0;
    }
    if (!S_ISREG(status.st_mode) || syscall(SYS_faccessat, AT_FDCWD, file, X_OK) < 0)
        return errno = EACCES, -1;
    if (is_listed(start, path)) {
        start->path = put(start, "%s", start->place.name);
        memcpy(start->argv, argv, (count(argv) + 1) * sizeof(*argv));
        return 0;
    }
    /* pyenv's and asdf's, which look for the program of that name for a long time */
    if (strstr(path, "/shims/")) {
        put_stand_in(start, path, argv);
        return 0;
    }
    fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0);
    n = fd >= 0 ? (size_t)read(fd, start->head, HEAD) : 0;
    close(fd);
    if (n > HEAD)
        n = 0;
    if (strncmp(start->head, "#!", 2) == 0 && read_first_line(start, words, &n)) {
        memcpy(start->argv, words, n * sizeof(*words));
        start->path = start->shell;
        start->argv[n] = put(start, "%s", path);
        memcpy(start->argv + n + 1, argv + 1, count(argv) * sizeof(*argv));
    } else if (strncmp(start->head, "#!", 2) != 0 && n > 0 && !memchr(start->head, '\0', n)) {
        return errno = ENOEXEC, -1;
    } else if (find_shell(start, path)) {
        start->path = start->shell;
        memcpy(start->argv, argv, (count(argv) + 1) * sizeof(*argv));
    } else {
        put_stand_in(start, path, argv);
    }
    return 0;
}

static void end_start(struct start *start)
{
    int error = errno;

    munmap(start->memory, start->size);
    errno = error;
}

/* Decides what is started for a path; end_start frees it. */
static int prepare(struct start *start, const char *path, char *const *argv, char *const *envp)
{
    static const char not_found[] = REHEARSE_NOT_FOUND;
    size_t words = count(argv) + WORDS + 8;
    size_t names = count(envp) + 16;

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
    end_start(start);
    return -1;
}

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
    struct start start;

    if (!*overlay_scratch)
        return (int)syscall(SYS_execve, path, argv, envp);
    if (prepare(&start, path, argv, envp) < 0)
        return -1;
    syscall(SYS_execve, start.path, start.argv, start.env);
    end_start(&start);
    return -1;
}

HOOK int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

/* The first executable file of that name in PATH; a name that is nowhere stays as it is. */
static void find_program(const char *name, char *path, size_t size)
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

HOOK int execvpe(const char *name, char *const argv[], char *const envp[])
{
    char path[REHEARSE_PATH];
    char *words[WORDS] = { (char[]){ "sh" }, path };
    size_t n = count(argv);

    find_program(name, path, sizeof(path));
    execve(path, argv, envp);
    if (errno != ENOEXEC || n + 1 >= WORDS)
        return -1;
    memcpy(words + 2, argv + 1, n * sizeof(*argv));
    return execve("/bin/sh", words, envp);
}

HOOK int execvp(const char *name, char *const argv[])
{
    return execvpe(name, argv, environ);
}

/* Reads the words of execl and its relatives, which end with NULL. */
static void read_words(char **words, size_t most, const char *first, va_list list)
{
    size_t n = 0;

    for (const char *word = first; word && n + 1 < most; word = va_arg(list, const char *))
        words[n++] = *(char **)(void *)&word;
    words[n] = NULL;
}

HOOK int execl(const char *path, const char *word, ...)
{
    char *words[HEAD];
    va_list list;

    va_start(list, word);
    read_words(words, HEAD, word, list);
    va_end(list);
    return execve(path, words, environ);
}

HOOK int execlp(const char *name, const char *word, ...)
{
    char *words[HEAD];
    va_list list;

    va_start(list, word);
    read_words(words, HEAD, word, list);
    va_end(list);
    return execvpe(name, words, environ);
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    static int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const[], char *const[]);
    struct start start;
    int rc;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "posix_spawn");
    if (!*overlay_scratch)
        return real(pid, path, actions, attributes, argv, envp);
    if (is_too_much())
        return EAGAIN;
    if (prepare(&start, path, argv, envp) < 0)
        return errno;
    rc = real(pid, start.path, actions, attributes, start.argv, start.env);
    end_start(&start);
    return rc;
}

HOOK int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    char path[REHEARSE_PATH];

    find_program(name, path, sizeof(path));
    return posix_spawn(pid, path, actions, attributes, argv, envp);
}

/* Libc's own shell gets the environment from here. */
static void *with_environment(const char *function, const char *command, const char *mode)
{
    void *real = dlsym(RTLD_NEXT, function);
    char *none[] = { NULL };
    char **before = environ;
    struct start start;
    void *result;

    if (*overlay_scratch && prepare(&start, "/bin/sh", none, environ) < 0)
        return mode ? NULL : (void *)(intptr_t)-1;
    if (*overlay_scratch)
        environ = start.env;
    result = mode ? (void *)((FILE * (*)(const char *, const char *)) real)(command, mode)
                  : (void *)(intptr_t)((int (*)(const char *))real)(command);
    environ = before;
    if (*overlay_scratch)
        end_start(&start);
    return result;
}

__attribute__((used)) static int run_command(const char *command)
{
    return command ? (int)(intptr_t)with_environment("system", command, NULL) : 1;
}

__attribute__((used)) static FILE *open_command(const char *command, const char *mode)
{
    return with_environment("popen", command, mode);
}

ALSO(system, run_command);
ALSO(popen, open_command);
