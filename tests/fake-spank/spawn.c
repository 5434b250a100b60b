/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c - look-ups are made by the real rollcall-exchange, whose resolver is child/resolver.c.
 *
 * slurmstepd's forked child may not ask a resolver itself: it would load libraries in a copy of a process that had
 * threads.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"

enum { OUTPUT = 90, SIZE = 4096 };

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (hints && hints->ai_flags & AI_NUMERICHOST)
        return real(node, service, hints, result);
    print_event("violation", "text", node, 0);
    return EAI_FAIL;
}

static char *setting(char room[SIZE], const char *format, const char *text)
{
    snprintf(room, SIZE, format, text);
    return room;
}

/* In a child that shares this process's memory. */
int execve(const char *path, char *const argv[], char *const env[])
{
    static char names[SIZE], event[SIZE], preload[SIZE], pause[SIZE], where[SIZE];
    static char output[] = "FAKE_OUTPUT=90";
    char *const fake[] = { names, event, preload, pause, output, NULL };

    if (!argv[0] || !argv[1] || strcmp(argv[1], "lookup") != 0)
        return (int)syscall(SYS_execve, path, argv, env);
    snprintf(names, SIZE, "FAKE_NAMES=");
    for (int i = 0; i < scenario.names.count; i++)
        snprintf(names + strlen(names), SIZE - strlen(names), "%s%s", i ? " " : "", scenario.names.word[i]);
    write_where(where, sizeof(where), "lookup");
    setting(event, "FAKE_EVENT=%s", where);
    setting(preload, "LD_PRELOAD=%s", getenv("FAKE_RESOLVER"));
    snprintf(pause, SIZE, "FAKE_LOOKUP_MS=%u", scenario.lookup_ms);
    return (int)syscall(SYS_execve, getenv("FAKE_EXCHANGE"), argv, fake);
}

/* Events of a child whose standard output is a pipe. */
__attribute__((constructor)) static void keep_output(void)
{
    dup2(STDOUT_FILENO, OUTPUT);
}
