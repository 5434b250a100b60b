/* SPDX-License-Identifier: BSD-3-Clause */
/* connection.h - the connection to the PMIx server, which the task keeps after this program has ended.
 *
 * A server takes the end of a process's connection, finalized or not, for one participant less in every fence that
 * waits on that node (openpmix v5.0.7 src/mca/ptl/base/ptl_base_sendrecv.c, lost_connection; so in 4.2 and 6). If
 * another rank is in its MPI_Init already, its fence then ends too early, or never: of 150 launches of Open MPI 5
 * with three ranks, four crashed or hung; none since the connection ends with the task.
 */
#ifndef ROLLCALL_LIBEXEC_PMIX_CONNECTION_H
#define ROLLCALL_LIBEXEC_PMIX_CONNECTION_H

/* Before PMIx_Init: notes which descriptors are open. */
void pmix_connection_expect(void);

/* Behind PMIx_Init: a copy of the descriptor that it has connected, or -1. */
int pmix_connection_copy(void);

/* Sends the copy to who has started this program, over standard input where that is a socket (system/program.h,
 * kept). Else it ends with this program. */
void pmix_connection_hand_over(int copy);

#endif
