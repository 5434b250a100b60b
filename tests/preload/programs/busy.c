/* SPDX-License-Identifier: BSD-3-Clause */
/* busy.c - a preload library whose constructor starts threads that read the environment all the time. */
#include <pthread.h>
#include <stdlib.h>

static void *read_on(void *unused)
{
    for (;;)
        if (getenv("RANK") && getenv("NOBODY_SETS_THIS"))
            abort();
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, read_on, NULL) || pthread_detach(thread))
            abort();
}
