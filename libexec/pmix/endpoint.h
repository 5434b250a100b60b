/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint.h - a text that RANK 0's node tells all others: where they meet (lib/rendezvous).
 *
 * One key for the launch's roll call, one for the store server of its tasks: what is put
 * stays, and a second reader gets the same text.
 */
#ifndef ROLLCALL_LIBEXEC_PMIX_ENDPOINT_H
#define ROLLCALL_LIBEXEC_PMIX_ENDPOINT_H

#include <pmix.h>

#define KEY_OF_SERVER "rollcall.server"
#define KEY_OF_STORE  "rollcall.store"

/* Puts the line that stands on standard input where the others find it. 0, or -1 after pmix_fail(). */
int pmix_put_endpoint(const char *key);

/* Prints what rank 0 has put there, as "endpoint=TEXT", as soon as it has: until
 * then it asks again and again, and blocks where the server does (PMIx 4
 * without end, 5 not at all: measured). The process's own deadline ends it. */
int pmix_print_endpoint(const pmix_proc_t *self, const char *key);

#endif
