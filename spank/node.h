/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - memory shared by the tasks of a node; the node's root folder. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Work done once per node. */

/* Zero it to begin. */
struct rc_once {
    atomic_int state;
    atomic_int doer; /* process id of the worker */
};

/* Return zeroed memory that tasks inherit, or NULL. */
void *rc_once_memory(size_t size);

/* Return true for the first caller, which must work and call rc_once_done. */
bool rc_once_begin(struct rc_once *once);
void rc_once_done(struct rc_once *once);

/* Wait for rc_once_done. Return false after `milliseconds`, or ~100 ms after the worker's end. */
bool rc_once_wait(struct rc_once *once, unsigned milliseconds);

/* The node's root folder: pyxis enters a container in task_init, without rollcall's programs. They run in the root
 * folder of user_init, with the node's libc. */

/* In user_init, once per node. */
void rc_spank_outside_remember(void);

/* Return whether the task's root folder is another one. */
bool rc_spank_outside_is_elsewhere(void);

/* Enter and leave the node's root around the start of a program. No effect if already there, or without CAP_SYS_CHROOT,
 * which pyxis needs. Exit if returning fails. */
void rc_spank_outside_enter(void);
void rc_spank_outside_leave(void);
