/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - memory that the tasks of a node share, and the node's root folder. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* What one task of a node does for all of them; in memory that they share. */

/* All zeros: the work has not begun. */
struct rc_once {
    atomic_int state;
    atomic_int doer; /* the process id of the task that does the work */
};

/* Memory that the tasks inherit, zeroed; NULL if it cannot be had. */
void *rc_once_memory(size_t size);

/* True for the first task that asks: it does the work, and calls rc_once_done. */
bool rc_once_begin(struct rc_once *once);
void rc_once_done(struct rc_once *once);

/* Sleeps until the work is done. False after that many milliseconds, or some 100 ms after the
 * end of the task that began it (it may have been killed). */
bool rc_once_wait(struct rc_once *once, unsigned milliseconds);

/* The node's own root folder, where a plugin before this one has taken the task into a container.
 *
 * pyxis does so in its task_init: after it a task sees the image's files, and
 * rollcall's own programs are not among them. They run in the folder that was the
 * root in user_init, with the node's own libc; the user's program never does. */

/* In user_init, once a node. */
void rc_spank_outside_remember(void);

/* Whether the task's root folder is another than the node's was in user_init. */
bool rc_spank_outside_is_elsewhere(void);

/* Called before and after a program of rollcall's is started: into the node's root, and
 * back. Both do nothing if the task is there already, or lacks CAP_SYS_CHROOT (which pyxis
 * needs as well). A task that cannot come back ends: it would run outside of its container. */
void rc_spank_outside_enter(void);
void rc_spank_outside_leave(void);
