/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/keyring.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char kind[] = "user";

/* A process may read what it possesses. systemd starts slurmd in a session without the users' keyrings
 * (KeyringMode=private), and tasks inherit that. A process's own keyring is gone with its exec. */
static void possess_keyring(void)
{
    syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING);
}

static long find_key(const char *name)
{
    return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, kind, name, 0);
}

size_t rc_keyring_read(const char *name, char *text, size_t size)
{
    long key;
    long n;

    possess_keyring();
    if ((key = find_key(name)) < 0)
        return 0;
    n = syscall(SYS_keyctl, KEYCTL_READ, key, text, size);
    return n > 0 && (size_t)n <= size ? (size_t)n : 0;
}

void rc_keyring_keep(const char *name, struct rc_str text, uint32_t seconds)
{
    long key = -1;

    possess_keyring();
    if (text.n <= RC_KEYRING_TEXT)
        key = syscall(SYS_add_key, kind, name, text.p, text.n, KEY_SPEC_USER_KEYRING);
    if (key >= 0 && syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds) == 0)
        return;
    if ((key = find_key(name)) >= 0)
        syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING);
}
