/* SPDX-License-Identifier: BSD-3-Clause */
#include "once.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/clock.h"

enum { NOT_YET, BEGUN, DONE };

/* Nobody wakes the others where the task that does the work is killed: so often they look for it. */
enum { LOOK_MS = 100 };

_Static_assert(sizeof(atomic_int) == sizeof(uint32_t), "a futex has 32 bits");

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

/* SYS_futex takes longs, also where time_t is longer. */
struct pause {
    long seconds;
    long nanoseconds;
};

static void sleep_while(const struct rc_once *once, int state, int64_t milliseconds)
{
    const struct pause pause = { .nanoseconds = (long)milliseconds * 1000000 };

    syscall(SYS_futex, &once->state, FUTEX_WAIT, state, &pause, NULL, 0);
}

void rc_once_done(struct rc_once *once)
{
    atomic_store(&once->state, DONE);
    syscall(SYS_futex, &once->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool has_lost_doer(struct rc_once *once)
{
    pid_t doer = atomic_load(&once->doer);

    return doer && kill(doer, 0) < 0 && errno == ESRCH;
}

bool rc_once_wait(struct rc_once *once, unsigned milliseconds)
{
    int64_t deadline = rc_milliseconds() + milliseconds;
    int64_t left;
    int state;

    while ((state = atomic_load(&once->state)) != DONE && (left = deadline - rc_milliseconds()) > 0 &&
           !has_lost_doer(once))
        sleep_while(once, state, left < LOOK_MS ? left : LOOK_MS);
    return atomic_load(&once->state) == DONE;
}
