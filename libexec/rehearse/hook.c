/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.c - the functions of libc that start programs, in the shells and filters of a rehearsal. */
#define _GNU_SOURCE
#include "start.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

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

/* Landlock does not limit sockets of files. Without this a script of zsh reaches those of its user's programs. */
HOOK int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    struct sockaddr_un to = { .sun_family = AF_UNSPEC };
    char ours[sizeof(to.sun_path)];

    memcpy(&to, address, size < sizeof(to) ? size : sizeof(to) - 1);
    snprintf(ours, sizeof(ours), "%s/socket", overlay_scratch);
    if (*overlay_scratch && to.sun_family == AF_UNIX && strcmp(to.sun_path, ours) != 0)
        return errno = EACCES, -1;
    return (int)syscall(SYS_connect, fd, address, size);
}

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
    struct rehearse_start start;

    if (!*overlay_scratch)
        return (int)syscall(SYS_execve, path, argv, envp);
    if (rehearse_start_prepare(&start, path, argv, envp) < 0)
        return -1;
    syscall(SYS_execve, start.path, start.argv, start.env);
    rehearse_start_end(&start);
    return -1;
}

HOOK int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

HOOK int execvpe(const char *name, char *const argv[], char *const envp[])
{
    char path[REHEARSE_PATH];
    char *words[REHEARSE_WORDS] = { (char[]){ "sh" }, path };
    size_t n = rehearse_count(argv);

    rehearse_start_find(name, path, sizeof(path));
    execve(path, argv, envp);
    if (errno != ENOEXEC || n + 1 >= REHEARSE_WORDS)
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
    char *words[REHEARSE_HEAD];
    va_list list;

    va_start(list, word);
    read_words(words, REHEARSE_HEAD, word, list);
    va_end(list);
    return execve(path, words, environ);
}

HOOK int execlp(const char *name, const char *word, ...)
{
    char *words[REHEARSE_HEAD];
    va_list list;

    va_start(list, word);
    read_words(words, REHEARSE_HEAD, word, list);
    va_end(list);
    return execvpe(name, words, environ);
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    static int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const[], char *const[]);
    struct rehearse_start start;
    int rc;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "posix_spawn");
    if (!*overlay_scratch)
        return real(pid, path, actions, attributes, argv, envp);
    if (is_too_much())
        return EAGAIN;
    if (rehearse_start_prepare(&start, path, argv, envp) < 0)
        return errno;
    rc = real(pid, start.path, actions, attributes, start.argv, start.env);
    rehearse_start_end(&start);
    return rc;
}

HOOK int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    char path[REHEARSE_PATH];

    rehearse_start_find(name, path, sizeof(path));
    return posix_spawn(pid, path, actions, attributes, argv, envp);
}

/* Libc's own shell gets the environment from here. */
static void *with_environment(const char *function, const char *command, const char *mode)
{
    void *real = dlsym(RTLD_NEXT, function);
    char *none[] = { NULL };
    char **before = environ;
    struct rehearse_start start;
    void *result;

    if (*overlay_scratch && rehearse_start_prepare(&start, "/bin/sh", none, environ) < 0)
        return mode ? NULL : (void *)(intptr_t)-1;
    if (*overlay_scratch)
        environ = start.env;
    result = mode ? (void *)((FILE * (*)(const char *, const char *)) real)(command, mode)
                  : (void *)(intptr_t)((int (*)(const char *))real)(command);
    environ = before;
    if (*overlay_scratch)
        rehearse_start_end(&start);
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
