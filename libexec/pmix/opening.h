/* SPDX-License-Identifier: BSD-3-Clause */
/* opening.h - whether libpmix would open here as a client of this launch's server, without a word to the server.
 *
 * What a client may fail with before it connects: a library that is not there,
 * and components that it lacks although the server asks for them (psec: munge, gds: shmem2).
 * The server's addresses are replaced by a port at which no process listens: with PMIx
 * 4 a session would spoil the next one of this task (measured), this does not.
 */
#ifndef ROLLCALL_LIBEXEC_PMIX_OPENING_H
#define ROLLCALL_LIBEXEC_PMIX_OPENING_H

enum { PMIX_FREE_PSEC = 1, PMIX_FREE_GDS = 2 };

/* Prints version=, path= and status=NUMBER TEXT of the library; PMIX_ERR_UNREACH is a good
 * one. Without what the server and the user ask for as to these: PMIX_FREE_PSEC, _GDS. 0, or -1 after pmix_fail(). */
int pmix_print_opening(unsigned free);

#endif
