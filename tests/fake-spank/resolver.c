/* SPDX-License-Identifier: BSD-3-Clause */
/* resolver.c - the nodes' resolver as the plugin sees it: the scenario's names, one event a question.
 *
 * Without any name it has no answer now, as on a machine without a network.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

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
    size_t n = strlen(node);

    (void)service, (void)hints;
    *result = NULL;
    print_event("lookup", "name", node, 0);
    usleep((useconds_t)scenario.lookup_ms * 1000);
    if (scenario.names.count == 0)
        return EAI_AGAIN;
    for (int i = 0; i < scenario.names.count; i++) {
        const char *entry = scenario.names.word[i];

        if (strncmp(entry, node, n) != 0 || entry[n] != '=')
            continue;
        *end = answer_question(entry + n + 1);
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
