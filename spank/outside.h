/* SPDX-License-Identifier: BSD-3-Clause */
/* outside.h - the node's own root folder, where a plugin before this one has taken the task into a container.
 *
 * pyxis does so in its task_init: behind it a task sees the image's files, and
 * rollcall's own programs are not among them. They run in the folder that was the
 * root in user_init, with the node's own libc; the user's program never does.
 */
#ifndef ROLLCALL_SPANK_OUTSIDE_H
#define ROLLCALL_SPANK_OUTSIDE_H

#include <stdbool.h>

/* In user_init, once a node. */
void rc_spank_outside_remember(void);
void rc_spank_outside_forget(void);

/* Whether the task's root folder is another than the node's was in user_init. */
bool rc_spank_outside_is_elsewhere(void);

/* Called before and after a program of rollcall's is started: into the node's root, and
 * back. Both do nothing if the task is there already, or lacks CAP_SYS_CHROOT (which pyxis
 * needs as well). A task that cannot come back ends: it would run outside of its container. */
void rc_spank_outside_enter(void);
void rc_spank_outside_leave(void);

#endif
