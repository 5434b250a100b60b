/* SPDX-License-Identifier: BSD-3-Clause */
/* keyring.h - a text that the kernel keeps for later processes of the same user on this machine.
 *
 * It lies in the user's own keyring (user-keyring(7)): on no disk, for no other user, and gone after its time or with
 * the machine. Containers and kernels without keyrings refuse it; then nothing is kept.
 */
#ifndef ROLLCALL_SYSTEM_KEYRING_H
#define ROLLCALL_SYSTEM_KEYRING_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* A user who is not root has room for 20,000 bytes, and other programs use it, too. */
enum { RC_KEYRING_TEXT = 8192 };

/* Reads the text of that name. Returns its length; 0 where there is none, or more than `size` bytes. */
size_t rc_keyring_read(const char *name, char *text, size_t size);

/* Keeps a text of RC_KEYRING_TEXT bytes at most for so many seconds, in the place of another one of that name. Where
 * that cannot be done, no text of that name stays. */
void rc_keyring_keep(const char *name, struct rc_str text, uint32_t seconds);

#endif
