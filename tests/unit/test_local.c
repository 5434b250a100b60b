/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of one user on one node: what others can do to them. */
#define _GNU_SOURCE /* setresuid */
#include "rendezvous/local.h"
#include "unit.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum { STRANGERS = 500, OTHER_USER = 65534 };

static int call(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path + 1, name, strlen(name));
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)(sizeof(sa_family_t) + 1 + strlen(name))) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Connections of another user that wait to be accepted; they stay when their process has gone. */
static void queue_strangers(const char *name)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (setresuid(OTHER_USER, OTHER_USER, OTHER_USER) < 0)
            _exit(1);
        for (int i = 0; i < STRANGERS; i++) {
            int fd = call(name);

            if (fd < 0)
                _exit(1);
            close(fd);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Once a signal interrupts poll, which is here in the place of libc's. */
static bool is_interrupted;

int poll(struct pollfd *list, nfds_t count, int timeout)
{
    const struct timespec time = { .tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L };

    if (!is_interrupted)
        return (int)syscall(SYS_ppoll, list, count, timeout < 0 ? NULL : &time, NULL, 0);
    is_interrupted = false;
    errno = EINTR;
    return -1;
}

UNIT_TEST(check_reply_interrupted, "a signal while a task of the node is answered")
{
    enum { LONG = 60000 };
    struct rc_gathered all;
    char name[RC_LOCAL_NAME];
    char text[32];
    pid_t child;
    int status;

    snprintf(text, sizeof(text), "unit.reply:%ld", (long)getpid());
    rc_local_name(text, 0, name);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(rc_gather_join(name, 1, RC_ABSENT, LONG, LONG, text, sizeof(text)) == 4 && !strcmp(text, "word") ? 0 : 1);
    assert_int_equal(rc_gather_collect(name, 0, 1, LONG, &all), 0);
    is_interrupted = true;
    rc_gather_reply(&all, RC_STR("word"));
    assert_false(is_interrupted);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* However many they are, the listener comes back to look at its clock; and who is of the same user is found. */
UNIT_TEST(check_strangers, "another user's connections do not keep the listener")
{
    char name[RC_LOCAL_NAME];
    char scope[32];
    int listener, own, found = -1;
    int calls = 0;

    if (unit_skips(geteuid() != 0, "only root can be another user"))
        return;
    snprintf(scope, sizeof(scope), "unit:%ld", (long)getpid());
    rc_local_name(scope, 0, name);
    listener = rc_local_listen(name);
    assert_true(listener >= 0);
    queue_strangers(name);
    own = call(name);
    assert_true(own >= 0);
    assert_int_equal(rc_local_accept(listener), -1);
    for (struct pollfd in = { .fd = listener, .events = POLLIN }; found < 0 && poll(&in, 1, 0) > 0; calls++)
        found = rc_local_accept(listener);
    assert_true(found >= 0);
    assert_true(calls < STRANGERS);
    close(found);
    close(own);
    close(listener);
}
