/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - libpmix, opened at run time: the few functions that are used of it, and how a failure is told.
 *
 * One build runs with PMIx 4, 5 and 7, and a rollcall that was built with PMIx
 * is installed where there is none. Nothing of the library's own structures is
 * made here but values: the size of others (pmix_info_t) is not the same in all
 * releases, a value's head is.
 */
#ifndef ROLLCALL_LIBEXEC_PMIX_LIBRARY_H
#define ROLLCALL_LIBEXEC_PMIX_LIBRARY_H

#include <pmix.h>

extern struct pmix_library {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t count);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char *key, const pmix_info_t *info, size_t count,
                         pmix_value_t **value);
    pmix_status_t (*put)(pmix_scope_t scope, const char *key, pmix_value_t *value);
    pmix_status_t (*commit)(void);
    pmix_status_t (*finalize)(const pmix_info_t *info, size_t count);
    const char *(*error_string)(pmix_status_t status);
} pmix_library;

/* 0, or -1 after pmix_fail(). */
int pmix_open_library(void);

/* The value of a key, which is not freed: this process ends soon. NULL where
 * there is none, *status says why. */
const pmix_value_t *pmix_find_value(const pmix_proc_t *self, pmix_rank_t rank, const char *key, pmix_status_t *status);

/* Prints "failed=KIND WHAT: WHY" (lib/launcher/pmixjob.h has the kinds). Returns -1. */
int pmix_fail(const char *kind, const char *what, const char *why);

/* pmix_fail() for a key of a rank, or of the job. */
int pmix_fail_key(const char *key, pmix_rank_t rank, const char *why);

#endif
