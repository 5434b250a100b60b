/* SPDX-License-Identifier: BSD-3-Clause */
/* resolver.c - the nodes' resolver as rollcall-exchange sees it: the scenario's names, one event a question.
 *
 * Without any name it has no answer now, as on a machine without a network. The fake host (spawn.c) says in the
 * environment what it knows, and how its own events begin.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct answer {
    struct addrinfo info;
    struct sockaddr_in6 room; /* the larger of the two families */
};

static struct addrinfo *answer_question(const char *text)
{
    struct answer *a = calloc(1, sizeof(*a));
    struct sockaddr_in *four;

    if (!a)
        return NULL;
    four = (struct sockaddr_in *)(void *)&a->room;
    a->info.ai_socktype = SOCK_STREAM;
    a->info.ai_addr = (struct sockaddr *)(void *)&a->room;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        a->info.ai_family = four->sin_family = AF_INET;
        a->info.ai_addrlen = sizeof(*four);
    } else if (inet_pton(AF_INET6, text, &a->room.sin6_addr) == 1) {
        a->info.ai_family = a->room.sin6_family = AF_INET6;
        a->info.ai_addrlen = sizeof(a->room);
    } else {
        free(a);
        return NULL;
    }
    return &a->info;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    struct addrinfo **end = result;
    const char *names = getenv("FAKE_NAMES");
    size_t n = strlen(node);

    (void)service, (void)hints;
    *result = NULL;
    dprintf(atoi(getenv("FAKE_OUTPUT")), "%s,\"rc\":0,\"name\":\"%s\"}\n", getenv("FAKE_EVENT"), node);
    usleep((useconds_t)atoi(getenv("FAKE_LOOKUP_MS")) * 1000);
    if (strcmp(names, "silent") == 0)
        return EAI_AGAIN;
    if (!*names)
        return (*result = answer_question("127.0.0.1")) ? 0 : EAI_MEMORY;
    for (; *names; names += strcspn(names, " "), names += *names == ' ') {
        char text[64];

        if (strncmp(names, node, n) != 0 || names[n] != '=')
            continue;
        snprintf(text, sizeof(text), "%.*s", (int)strcspn(names + n + 1, " "), names + n + 1);
        *end = answer_question(text);
        if (!*end)
            return EAI_MEMORY;
        end = &(*end)->ai_next;
    }
    return *result ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;

        free(list);
        list = next;
    }
}
