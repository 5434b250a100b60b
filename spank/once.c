/* SPDX-License-Identifier: BSD-3-Clause */
#include "once.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NOT_YET, BEGUN, DONE };

void *rc_once_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void rc_once_free(void *memory, size_t size)
{
    if (memory)
        munmap(memory, size);
}

bool rc_once_begin(struct rc_once *once)
{
    int now = NOT_YET;

    if (!atomic_compare_exchange_strong(&once->state, &now, BEGUN))
        return false;
    atomic_store(&once->doer, getpid());
    return true;
}

void rc_once_done(struct rc_once *once)
{
    atomic_store(&once->state, DONE);
}

bool rc_once_wait(struct rc_once *once, unsigned milliseconds)
{
    enum { PAUSE_NS = 500 * 1000, PAUSES_A_MS = 2 };
    const struct timespec pause = { .tv_nsec = PAUSE_NS };

    for (unsigned i = 0; i < milliseconds * PAUSES_A_MS && atomic_load(&once->state) != DONE; i++) {
        pid_t doer = atomic_load(&once->doer);

        if (doer && kill(doer, 0) < 0 && errno == ESRCH)
            break;
        nanosleep(&pause, NULL);
    }
    return atomic_load(&once->state) == DONE;
}
