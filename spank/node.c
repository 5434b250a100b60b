/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/node.h"

enum { NOT_YET, BEGUN, DONE };

/* Poll interval: a killed task wakes no waiters. */
enum { LOOK_MS = 100 };

_Static_assert(sizeof(atomic_int) == sizeof(uint32_t), "a futex has 32 bits");

void *rc_once_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

bool rc_once_begin(struct rc_once *once)
{
    int now = NOT_YET;

    if (!atomic_compare_exchange_strong(&once->state, &now, BEGUN))
        return false;
    atomic_store(&once->doer, getpid());
    return true;
}

/* SYS_futex takes longs, even with a longer time_t. */
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
           !has_lost_doer(once)) {
        int64_t before = rc_milliseconds();

        sleep_while(once, state, left < LOOK_MS ? left : LOOK_MS);
        deadline = rc_deadline_resume(deadline, before, LOOK_MS);
    }
    return atomic_load(&once->state) == DONE;
}

/* Slurm closes some descriptors in the task, so verify it before use. */
static int node_root = -1;
static struct stat node_root_is;

/* The task's root folder, while the task is outside of it. */
static int task_root = -1;
static int task_folder = -1;

static int open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void close_folder(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool is_node_root(const struct stat *folder)
{
    return folder->st_dev == node_root_is.st_dev && folder->st_ino == node_root_is.st_ino;
}

void rc_spank_outside_remember(void)
{
    node_root = open_folder("/");
    if (node_root >= 0 && fstat(node_root, &node_root_is) < 0)
        close_folder(&node_root);
}

bool rc_spank_outside_is_elsewhere(void)
{
    struct stat folder;

    return node_root >= 0 && stat("/", &folder) == 0 && !is_node_root(&folder);
}

static bool make_root(int fd)
{
    return fchdir(fd) == 0 && chroot(".") == 0;
}

void rc_spank_outside_enter(void)
{
    struct stat folder;

    if (!rc_spank_outside_is_elsewhere() || fstat(node_root, &folder) < 0 || !is_node_root(&folder))
        return;
    task_root = open_folder("/");
    task_folder = open_folder(".");
    if (task_root >= 0 && task_folder >= 0 && make_root(node_root))
        return;
    if (task_folder >= 0 && fchdir(task_folder) < 0)
        _exit(1);
    close_folder(&task_root);
    close_folder(&task_folder);
}

void rc_spank_outside_leave(void)
{
    if (task_root < 0)
        return;
    if (!make_root(task_root) || fchdir(task_folder) < 0)
        _exit(1);
    close_folder(&task_root);
    close_folder(&task_folder);
}
