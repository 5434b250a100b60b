/* SPDX-License-Identifier: BSD-3-Clause */
/* once.h - what one task of a node does for all of them; in memory that they share. */
#ifndef ROLLCALL_SPANK_ONCE_H
#define ROLLCALL_SPANK_ONCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* All zeros: the work has not begun. */
struct rc_once {
    atomic_int state;
    atomic_int doer; /* the process id of the task that does the work */
};

/* Memory that the tasks inherit, zeroed; NULL if it cannot be had. */
void *rc_once_memory(size_t size);
void rc_once_free(void *memory, size_t size);

/* True for the first task that asks: it does the work, and calls rc_once_done. */
bool rc_once_begin(struct rc_once *once);
void rc_once_done(struct rc_once *once);

/* Sleeps until the work is done. False after that many milliseconds, or some 100 ms after the
 * end of the task that began it (it may have been killed). */
bool rc_once_wait(struct rc_once *once, unsigned milliseconds);

#endif
