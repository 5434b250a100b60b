/* SPDX-License-Identifier: BSD-3-Clause */
/* env.c - environments as Slurm 22.05 keeps them, flaws included. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

static char **find_entry(char **env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++)
        if (!strncmp(*env, name, n) && (*env)[n] == '=')
            return env;
    return NULL;
}

char **env_copy(const struct words *words)
{
    char **env = calloc((size_t)words->count + 1, sizeof(*env));

    for (int i = 0; i < words->count; i++)
        env[i] = strdup(words->word[i]);
    return env;
}

char *env_value(char **env, const char *name)
{
    char **at = find_entry(env, name);

    return at ? *at + strlen(name) + 1 : NULL;
}

/* Frees the old entry, so that a plugin with a pointer to it reads freed memory. */
void env_overwrite(char ***env, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2, n = 0;
    char *entry, **at = find_entry(*env, name);

    now.inside++;
    entry = malloc(size);
    memcpy(entry, name, strlen(name));
    entry[strlen(name)] = '=';
    memcpy(entry + strlen(name) + 1, value, strlen(value) + 1);
    if (at) {
        free(*at);
        *at = entry;
    } else {
        while ((*env)[n])
            n++;
        *env = realloc(*env, (n + 2) * sizeof(**env));
        (*env)[n] = entry;
        (*env)[n + 1] = NULL;
    }
    now.inside--;
}

/* unsetenvp(): after a removal the search skips the entry that moved up, so one of two adjacent entries stays. */
void env_unset(char **env, const char *name)
{
    char **at = env;

    while (*at && (at = find_entry(at, name)) && *at) {
        char **to = at;

        free(*at);
        do
            to[0] = to[1];
        while (*to++);
        if (*at)
            at++;
    }
}
