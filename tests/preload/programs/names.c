/* SPDX-License-Identifier: BSD-3-Clause */
/* names [FILE...] - looks up the name of ::ffff:127.0.0.9 by itself, then by the function ask_name of each library:
 * a line each, with what getnameinfo returned and the name. -r in front: no name is an error (NI_NAMEREQD). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

typedef int look(const struct sockaddr_in6 *address, char *name, int size, int flags);

#ifdef LIBRARY
int ask_name(const struct sockaddr_in6 *address, char *name, int size, int flags)
{
    int rc = getnameinfo((const struct sockaddr *)address, sizeof(*address), name, (socklen_t)size, NULL, 0, flags);

    return rc; /* no tail call: the caller is this library */
}
#else
static int ask_here(const struct sockaddr_in6 *address, char *name, int size, int flags)
{
    return getnameinfo((const struct sockaddr *)address, sizeof(*address), name, (socklen_t)size, NULL, 0, flags);
}

static void say(const char *who, look *asks, int flags)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
    char name[NI_MAXHOST] = "-";
    int rc;

    inet_pton(AF_INET6, "::ffff:127.0.0.9", &address.sin6_addr);
    rc = asks(&address, name, sizeof(name), flags);
    printf("%s %s %s\n", who, rc == 0 ? "0" : rc == EAI_NONAME ? "EAI_NONAME" : "error", rc == 0 ? name : "-");
}

int main(int argc, char **argv)
{
    int flags = argc > 1 && strcmp(argv[1], "-r") == 0 ? NI_NAMEREQD : 0;

    say("program", ask_here, flags);
    for (int i = flags ? 2 : 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        look *asks = library ? (look *)dlsym(library, "ask_name") : NULL;

        if (!asks) {
            fprintf(stderr, "%s: %s\n", argv[i], dlerror());
            return 1;
        }
        say(strrchr(argv[i], '/') + 1, asks, flags);
    }
    return 0;
}
#endif
