/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of one user on one node: names, connections, and what other users can do to them. */
#define _GNU_SOURCE /* setresuid */
#include "rendezvous/local.h"
#include "serverchild.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "rendezvous/client.h"
#include "system/node.h"

enum { STRANGERS = 200, OTHER_USER = 65534, LONG_MS = 60000, SHORT_MS = 100 };

static const char *name_of(const char *scope)
{
    static char name[RC_LOCAL_NAME];
    char text[64];

    snprintf(text, sizeof(text), "%s:%ld", scope, (long)getpid());
    rc_local_name(text, 0, name);
    return name;
}

UNIT_TEST(check_names, "local name: scope that is long or has a blank -> its hash")
{
    char scope[200];
    char name[RC_LOCAL_NAME];
    char expected[RC_LOCAL_NAME];

    rc_local_name("show:42.0", 3, name);
    snprintf(expected, sizeof(expected), "rollcall/%u/show:42.0/3", (unsigned)geteuid());
    assert_string_equal(name, expected);
    memset(scope, 'x', sizeof(scope));
    scope[sizeof(scope) - 1] = '\0';
    for (const char *text = scope;; text = "a b") {
        rc_local_name(text, 3, name);
        assert_null(strpbrk(strchr(strchr(name, '/') + 1, '/') + 1, " xab:"));
        assert_string_equal(strrchr(name, '/'), "/3");
        if (text != scope)
            break;
    }
}

UNIT_TEST(check_connect, "local socket: not there, taken, there")
{
    const char *name = name_of("unit");
    int listener, fd;

    assert_int_equal(rc_local_connect(rc_str(name)), -ECONNREFUSED);
    assert_int_equal(rc_local_await(name, rc_milliseconds() + SHORT_MS), -ETIMEDOUT);
    listener = rc_local_listen(name);
    assert_true(listener >= 0);
    assert_int_equal(rc_local_listen(name), -EADDRINUSE);
    assert_int_equal(rc_local_await(name, 0), 0);
    fd = rc_local_connect(rc_str(name));
    assert_true(fd >= 0 && rc_local_is_local(fd) && rc_local_is_own_users(fd));
    close(fd);
    close(listener);
}

/* In a child that is another user's. */
static void as_stranger(void (*act)(const char *name), const char *name)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        alarm(SERVER_GUARD);
        if (setresuid(OTHER_USER, OTHER_USER, OTHER_USER) < 0)
            _exit(1);
        act(name);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int call(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path + 1, name, strlen(name));
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)(sizeof(sa_family_t) + 1 + strlen(name))) < 0)
        _exit(2);
    return fd;
}

static void be_refused(const char *name)
{
    char byte;

    if (rc_local_connect(rc_str(name)) != -EPERM)
        _exit(3);
    for (int i = 0; i < STRANGERS; i++) {
        int fd = call(name);

        (void)!send(fd, "rollcall 1 " RC_LOCAL_TOKEN " 10\nlook roll\n", 57, MSG_NOSIGNAL);
        if (recv(fd, &byte, 1, 0) > 0)
            _exit(4);
        close(fd);
    }
    _exit(0);
}

UNIT_TEST(check_strangers, "local server: connections of another user -> closed, and its own user's are answered")
{
    struct server_child server;

    if (unit_skips(geteuid() != 0, "only root can be another user"))
        return;
    server = server_open((struct server_start){ .local = name_of("strangers") });
    as_stranger(be_refused, name_of("strangers"));
    server_answers(&server, "gather x 0 1 1 1 all\nvalue", "gathered 1 1\n0 5\nvalue");
    server_close(&server);
    assert_int_equal(rc_client_tell(&server.endpoint, RC_STR("attend x 0 1\n"), LONG_MS), -ECONNREFUSED);
}
