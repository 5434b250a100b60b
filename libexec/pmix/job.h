/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - what the PMIx server says of the job and of this task. */
#ifndef ROLLCALL_LIBEXEC_PMIX_JOB_H
#define ROLLCALL_LIBEXEC_PMIX_JOB_H

#include <pmix.h>

/* Prints the lines that lib/launcher/pmixjob.h explains: all of them and 0, or one of
 * pmix_fail() and -1. Nothing is taken from the server but what is right in all of
 * them: the number of nodes (PMIX_NUM_NODES), for one, is not (measured with
 * PRRTE 3.0.8: for 3 ranks on 2 nodes 2 by prterun's own server, 4 by a
 * prted's), and is counted here. */
int pmix_print_job(const pmix_proc_t *self);

#endif
