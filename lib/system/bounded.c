/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/clock.h"

void rc_bounded_write(int fd, struct rc_str piece)
{
    while (piece.n > 0) {
        ssize_t n = write(fd, piece.p, piece.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        piece = (struct rc_str){ piece.p + n, piece.n - (size_t)n };
    }
}

/* Whoever waits for the end of this process's output must not wait for the child. */
static void run_child(void (*work)(const void *data, int fd), const void *data, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        close(i);
    work(data, fd);
    _exit(0);
}

/* True at the end of what the child writes, false at the deadline. */
static bool collect_text(int fd, int64_t deadline, char *text, size_t size, size_t *used)
{
    while (*used < size) {
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
        int64_t left = deadline - rc_milliseconds();
        ssize_t n;

        if (left <= 0 || poll(&poll_fd, 1, (int)left) == 0)
            return false;
        n = read(fd, text + *used, size - *used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        *used += (size_t)n;
    }
    return true;
}

size_t rc_bounded_run(void (*work)(const void *data, int fd), const void *data, uint32_t milliseconds, char *text,
                      size_t size)
{
    int64_t deadline = rc_milliseconds() + milliseconds;
    size_t used = 0;
    bool ended;
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return 0;
    child = fork();
    if (child == 0)
        run_child(work, data, ends[1]);
    close(ends[1]);
    ended = child > 0 && collect_text(ends[0], deadline, text, size, &used);
    close(ends[0]);
    if (child > 0 && !ended)
        kill(child, SIGKILL);
    if (child > 0)
        while (waitpid(child, NULL, ended ? 0 : WNOHANG) < 0 && errno == EINTR)
            ;
    return used;
}
