/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "opening.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "library.h"

/* A port of this host that is bound and not listened on, which refuses; held until the process ends. */
static int reserve_dead_port(char text[64])
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(name);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &size) < 0)
        return pmix_fail("program", "no port of its own", "");
    snprintf(text, 64, "rollcall.0;tcp4://127.0.0.1:%u", (unsigned)ntohs(name.sin_port));
    return 0;
}

/* Names of all releases: a client takes the one that it knows best. */
static void redirect_client(const char *where)
{
    static const char *const names[] = { "PMIX_SERVER_URI",  "PMIX_SERVER_URI2", "PMIX_SERVER_URI21",
                                         "PMIX_SERVER_URI3", "PMIX_SERVER_URI4", "PMIX_SERVER_URI41",
                                         "PMIX_SERVER_URI5", "PMIX_SERVER_URI6", "PMIX_SERVER_URI7" };

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            setenv(names[i], where, 1);
}

static void print_path(const void *function)
{
    char path[PATH_MAX];
    Dl_info info;

    if (dladdr(function, &info) && info.dli_fname && realpath(info.dli_fname, path) && !strchr(path, '\n'))
        printf("path=%s\n", path);
}

int pmix_print_opening(unsigned free)
{
    pmix_status_t status;
    char where[64];
    void *function;
    pmix_proc_t self;

    memset(&self, 0, sizeof(self));
    if (pmix_open_library() < 0 || reserve_dead_port(where) < 0)
        return -1;
    redirect_client(where);
    if (free & PMIX_FREE_PSEC) {
        unsetenv("PMIX_SECURITY_MODE");
        unsetenv("PMIX_MCA_psec");
    }
    if (free & PMIX_FREE_GDS) {
        unsetenv("PMIX_GDS_MODULE");
        unsetenv("PMIX_MCA_gds");
    }
    memcpy(&function, &pmix_library.init, sizeof(function));
    printf("version=%s\n", pmix_library.version());
    print_path(function);
    /* it may be the last that is heard of this process */
    fflush(stdout);
    status = pmix_library.init(&self, NULL, 0);
    printf("status=%d %s\n", (int)status, pmix_library.error_string(status));
    return 0;
}
