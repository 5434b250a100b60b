/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel keeps for a user's later processes, in the keyring of whoever runs this. */
#include "system/keyring.h"

#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char name[64];

/* Containers refuse keyrings, and some kernels have none. */
static void need_keyring(void)
{
    if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1) < 0)
        skip();
}

static void keep(const char *text)
{
    rc_keyring_keep(name, rc_str(text), 60);
}

static void assert_kept(const char *text)
{
    char found[64];
    size_t n = rc_keyring_read(name, found, sizeof(found));

    assert_int_equal(n, strlen(text));
    assert_memory_equal(found, text, n);
}

static void forget(void)
{
    rc_keyring_keep(name, (struct rc_str){ "too long", RC_KEYRING_TEXT + 1 }, 60);
}

static void later_processes_have_it(const void *data)
{
    int status;
    pid_t child;

    (void)data;
    need_keyring();
    assert_kept("");
    child = fork();
    if (child == 0) {
        keep("an answer");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_kept("an answer");
    keep("another");
    assert_kept("another");
    forget();
}

static void no_more_than_fits(const void *data)
{
    static const char longest[RC_KEYRING_TEXT] = { 'x', [RC_KEYRING_TEXT - 1] = 'z' };
    static char found[RC_KEYRING_TEXT];
    const struct rc_str text = unit_guard((struct rc_str){ longest, sizeof(longest) });

    (void)data;
    need_keyring();
    rc_keyring_keep(name, text, 60);
    assert_int_equal(rc_keyring_read(name, unit_guard_memory(8), 8), 0);
    assert_int_equal(rc_keyring_read(name, found, sizeof(found)), sizeof(found));
    assert_memory_equal(found, longest, sizeof(found));
    /* what is too long takes the place of what was there */
    forget();
    assert_kept("");
}

static void for_a_time(const void *data)
{
    (void)data;
    need_keyring();
    rc_keyring_keep(name, RC_STR("short"), 1);
    assert_kept("short");
    for (int tenths = 0; tenths < 50 && rc_keyring_read(name, (char[64]){ 0 }, 64) > 0; tenths++)
        usleep(100000);
    assert_kept("");
}

int main(void)
{
    snprintf(name, sizeof(name), "rollcall-test-%d", (int)getpid());
    unit_add_one(later_processes_have_it, "keyring: a later process reads what the last one has kept");
    unit_add_one(no_more_than_fits, "keyring: a text that does not fit is neither kept nor read");
    unit_add_one(for_a_time, "keyring: after its time it is gone");
    return unit_run("keyring");
}
