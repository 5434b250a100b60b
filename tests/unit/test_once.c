/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process does for many, which sleep meanwhile: they are the tasks of a node. */
#include "spank/node.h"
#include "unit.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "system/node.h"

enum {
    TASKS = 20,
    LONG_MS = 60000,
    GUARD = 100, /* seconds after which a test that hangs has failed */
};

/* What all processes of a test share. */
struct sleeps {
    atomic_uint count;
    atomic_bool are_endless; /* who sleeps is woken, or sleeps on: there is no next look */
};

static struct rc_once *once;
static struct sleeps *sleeps;

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

/* Every call of node.c. */
long __wrap_syscall(long number, ...)
{
    atomic_int *word;
    const void *timeout;
    int operation, value;
    va_list list;

    va_start(list, number);
    word = va_arg(list, atomic_int *);
    operation = va_arg(list, int);
    value = va_arg(list, int);
    timeout = va_arg(list, const void *);
    va_end(list);
    if (operation == FUTEX_WAIT) {
        atomic_fetch_add(&sleeps->count, 1);
        if (atomic_load(&sleeps->are_endless))
            timeout = NULL;
    }
    return __real_syscall(number, word, operation, value, timeout, NULL, 0);
}

static void renew(void)
{
    once = rc_once_memory(sizeof(*once));
    assert_non_null(once);
    sleeps = rc_once_memory(sizeof(*sleeps));
    assert_non_null(sleeps);
}

static void wait_for_sleeps(unsigned count)
{
    while (atomic_load(&sleeps->count) < count)
        usleep(1000);
}

/* A process that waits so long. Its status is 0 where the work was done, else 1. */
static pid_t start_waiting(unsigned milliseconds)
{
    pid_t child = fork();

    if (child == 0)
        _exit(rc_once_wait(once, milliseconds) ? 0 : 1);
    assert_true(child > 0);
    return child;
}

static int reap(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Each of them once, for as long as the work takes. */
UNIT_TEST(check_sleep, "those that wait sleep")
{
    pid_t children[TASKS];

    renew();
    atomic_store(&sleeps->are_endless, true);
    assert_true(rc_once_begin(once));
    for (unsigned i = 0; i < TASKS; i++)
        children[i] = start_waiting(LONG_MS);
    wait_for_sleeps(TASKS);
    rc_once_done(once);
    for (unsigned i = 0; i < TASKS; i++)
        assert_int_equal(reap(children[i]), 0);
    assert_int_equal(atomic_load(&sleeps->count), TASKS);
}

/* It waits from before the work has begun, and is woken when it is done: not at its next look. */
UNIT_TEST(check_wake, "those that wait are woken")
{
    pid_t child;

    renew();
    atomic_store(&sleeps->are_endless, true);
    child = start_waiting(LONG_MS);
    wait_for_sleeps(1);
    assert_true(rc_once_begin(once));
    assert_false(rc_once_begin(once));
    rc_once_done(once);
    assert_int_equal(reap(child), 0);
}

UNIT_TEST(check_doer_dies, "who does the work is killed")
{
    pid_t doer;
    pid_t child;

    renew();
    doer = fork();
    if (doer == 0) {
        rc_once_begin(once);
        pause();
    }
    assert_true(doer > 0);
    while (!atomic_load(&once->doer))
        usleep(1000);
    child = start_waiting(LONG_MS);
    kill(doer, SIGKILL);
    assert_int_equal(waitpid(doer, NULL, 0), doer);
    assert_int_equal(reap(child), 1);
}

UNIT_TEST(check_deadline, "nobody does it in time")
{
    int64_t start = rc_milliseconds();

    renew();
    assert_false(rc_once_wait(once, 30));
    assert_true(rc_milliseconds() - start >= 30);
    assert_true(rc_once_begin(once));
    rc_once_done(once);
    assert_true(rc_once_wait(once, 0));
}

int main(void)
{
    alarm(GUARD);
    return unit_run();
}
