/* SPDX-License-Identifier: BSD-3-Clause */
/* children.c - starts a program in each of the ways in which one process starts another.
 *
 *   children WAY BLOCK PROGRAM ARGUMENT...
 *
 * WAY: fork, vfork, clone (shared memory and file descriptors), posix_spawn, posix_spawnp, execve, system (PROGRAM is a
 * line for sh then), threads (64 posix_spawns by eight threads at once).
 * BLOCK: own (what this process has), empty, preload (LD_PRELOAD alone), given (what the kernel gave this
 * process, without what the shim made of it).
 *
 * Ends with 1 where its own environment is another one afterwards: what a child's constructor does must not
 * reach the parent, whose memory a child of vfork shares until its exec.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **program;
static char **block;

static void fail(const char *what)
{
    fprintf(stderr, "children: %s\n", what);
    _exit(2);
}

static char **preload_alone(void)
{
    static char *alone[2];

    for (char **e = environ; *e; e++)
        if (strncmp(*e, "LD_PRELOAD=", 11) == 0)
            alone[0] = *e;
    return alone;
}

/* /proc/self/environ keeps the block of execve, whatever became of environ. */
static char **given(void)
{
    static char text[1 << 16];
    static char *entries[1 << 10];
    FILE *file = fopen("/proc/self/environ", "r");
    size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    size_t n = 0;

    if (!file || size == 0)
        fail("/proc/self/environ");
    fclose(file);
    for (char *at = text; at < text + size && n < (1 << 10) - 1; at += strlen(at) + 1)
        entries[n++] = at;
    return entries;
}

static char **block_of(const char *name)
{
    static char *nothing[1];

    if (strcmp(name, "own") == 0)
        return environ;
    if (strcmp(name, "empty") == 0)
        return nothing;
    if (strcmp(name, "preload") == 0)
        return preload_alone();
    if (strcmp(name, "given") == 0)
        return given();
    fail("no such block");
    return NULL;
}

static int become(void *unused)
{
    (void)unused;
    execve(program[0], program, block);
    _exit(127);
}

static void await(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child || status)
        fail("the child failed");
}

static void spawn(int (*how)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                             char *const[], char *const[]))
{
    pid_t child;

    if (how(&child, program[0], NULL, NULL, program, block))
        fail("spawn");
    await(child);
}

static void *spawn_eight(void *unused)
{
    for (int i = 0; i < 8; i++)
        spawn(posix_spawn);
    return unused;
}

static void by_threads(void)
{
    pthread_t thread[8];

    for (int i = 0; i < 8; i++)
        if (pthread_create(&thread[i], NULL, spawn_eight, NULL))
            fail("thread");
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

static void start(const char *way)
{
    static char stack[1 << 16] __attribute__((aligned(64)));
    pid_t child;

    if (strcmp(way, "fork") == 0) {
        child = fork();
        if (child == 0)
            become(NULL);
        await(child);
    } else if (strcmp(way, "vfork") == 0) {
        child = vfork();
        if (child == 0)
            become(NULL);
        await(child);
    } else if (strcmp(way, "clone") == 0) {
        await(clone(become, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, NULL));
    } else if (strcmp(way, "posix_spawn") == 0) {
        spawn(posix_spawn);
    } else if (strcmp(way, "posix_spawnp") == 0) {
        spawn(posix_spawnp);
    } else if (strcmp(way, "threads") == 0) {
        by_threads();
    } else if (strcmp(way, "system") == 0) {
        environ = block;
        if (system(program[0]))
            fail("the child failed");
    } else if (strcmp(way, "execve") == 0) {
        become(NULL);
    } else {
        fail("no such way");
    }
}

int main(int argc, char **argv)
{
    char **table = environ;
    char *before[1 << 10];
    size_t n = 0;

    if (argc < 4)
        fail("WAY BLOCK PROGRAM ARGUMENT...");
    for (; table[n] && n < (1 << 10) - 1; n++)
        before[n] = strdup(table[n]);
    program = argv + 3;
    block = block_of(argv[2]);
    start(argv[1]);
    for (size_t i = 0; i < n; i++)
        if (!table[i] || strcmp(table[i], before[i]) != 0)
            return 1;
    return table[n] != NULL;
}
