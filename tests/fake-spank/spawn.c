/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c - look-ups are made by the real rollcall-exchange, whose resolver is child/resolver.c.
 *
 * slurmstepd's forked child may not ask a resolver itself: it would load libraries in a copy of a process that had
 * threads.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

enum { OUTPUT = 90, SIZE = 4096 };

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    (void)service, (void)result;
    if (!hints || !(hints->ai_flags & AI_NUMERICHOST))
        print_event("violation", "text", node, 0);
    return EAI_FAIL;
}

static char *setting(char room[SIZE], const char *format, const char *text)
{
    snprintf(room, SIZE, format, text);
    return room;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                char *const[]) = (__typeof__(real))dlsym(RTLD_NEXT, "posix_spawn");
    char names[SIZE] = "FAKE_NAMES=", event[SIZE], preload[SIZE], pause[SIZE];
    char *const fake[] = { names, event, preload, pause, "FAKE_OUTPUT=90", NULL };
    char where[SIZE];
    int rc;

    if (!argv[1] || strcmp(argv[1], "lookup") != 0)
        return real(pid, path, actions, attributes, argv, env);
    for (int i = 0; i < scenario.names.count; i++)
        snprintf(names + strlen(names), SIZE - strlen(names), "%s%s", i ? " " : "", scenario.names.word[i]);
    write_where(where, sizeof(where), "lookup");
    setting(event, "FAKE_EVENT=%s", where);
    setting(preload, "LD_PRELOAD=%s", getenv("FAKE_RESOLVER"));
    snprintf(pause, SIZE, "FAKE_LOOKUP_MS=%u", scenario.lookup_ms);
    dup2(STDOUT_FILENO, OUTPUT);
    rc = real(pid, getenv("FAKE_EXCHANGE"), actions, attributes, argv, fake);
    close(OUTPUT);
    return rc;
}
