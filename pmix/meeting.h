/* meeting.h - one text that RANK 0's node tells all others: where they meet (lib/exchange). */
#ifndef ROLLCALL_PMIX_MEETING_H
#define ROLLCALL_PMIX_MEETING_H

#include <pmix.h>

/* Puts the line that stands on standard input where the others find it. 0, or -1 after fail(). */
int put_meeting(void);

/* Prints what rank 0 has put there, as "meeting=TEXT", as soon as it has: until
 * then it asks again and again, and blocks where the server does (PMIx 4
 * without end, 5 not at all: measured). The process's own deadline ends it. */
int print_meeting(const pmix_proc_t *self);

#endif
