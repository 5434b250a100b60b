/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process does for many, which sleep meanwhile: they are the tasks of a node. */
#include "../../spank/once.h"
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/clock.h"

enum { TASKS = 20, WORK_MS = 1000, LONG_MS = 60000 };

static struct rc_once *once;

static void renew(void)
{
    rc_once_free(once, sizeof(*once));
    once = rc_once_memory(sizeof(*once));
    assert_non_null(once);
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

static long count_switches(void)
{
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    return used.ru_nvcsw;
}

/* A look at a time in 100 ms, and what a process needs to begin and to end. */
static void check_sleep(const void *data)
{
    long before = count_switches();
    pid_t children[TASKS];

    (void)data;
    renew();
    assert_true(rc_once_begin(once));
    for (unsigned i = 0; i < TASKS; i++)
        children[i] = start_waiting(LONG_MS);
    usleep(WORK_MS * 1000);
    rc_once_done(once);
    for (unsigned i = 0; i < TASKS; i++)
        assert_int_equal(reap(children[i]), 0);
    assert_in_range(count_switches() - before, TASKS, TASKS * 50);
}

/* They wait from before it has begun, and are woken when it is done: not at their next look. */
static void check_wake(const void *data)
{
    enum { ROUNDS = 40, LOOK_MS = 100 };
    int64_t start = rc_milliseconds();

    (void)data;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pid_t child;

        renew();
        child = start_waiting(LONG_MS);
        usleep(2000);
        assert_true(rc_once_begin(once));
        assert_false(rc_once_begin(once));
        usleep(2000);
        rc_once_done(once);
        assert_int_equal(reap(child), 0);
    }
    assert_in_range(rc_milliseconds() - start, 0, ROUNDS * LOOK_MS / 2);
}

static void check_doer_dies(const void *data)
{
    pid_t doer;
    pid_t child;

    (void)data;
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

static void check_deadline(const void *data)
{
    int64_t start = rc_milliseconds();

    (void)data;
    renew();
    assert_false(rc_once_wait(once, 30));
    assert_true(rc_milliseconds() - start >= 30);
    assert_true(rc_once_begin(once));
    rc_once_done(once);
    assert_true(rc_once_wait(once, 0));
}

int main(void)
{
    unit_add_one(check_sleep, "those that wait sleep");
    unit_add_one(check_wake, "those that wait are woken");
    unit_add_one(check_doer_dies, "who does the work is killed");
    unit_add_one(check_deadline, "nobody does it in time");
    return unit_run("once");
}
