/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix.h - one session with a launcher's PMIx server. */
#pragma once

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

/* The value of a key, which is not freed: this process ends soon. NULL where there is none, *status says why. */
const pmix_value_t *pmix_find_value(const pmix_proc_t *self, pmix_rank_t rank, const char *key, pmix_status_t *status);

/* Prints "failed=KIND WHAT: WHY" (lib/launcher/pmix.c has the kinds). Returns -1. */
int pmix_fail(const char *kind, const char *what, const char *why);

/* pmix_fail() for a key of a rank, or of the job. */
int pmix_fail_key(const char *key, pmix_rank_t rank, const char *why);

/* Before PMIx_Init: notes which descriptors are open. */
void pmix_connection_expect(void);

/* After PMIx_Init: a copy of the descriptor that it has connected, or -1. */
int pmix_connection_copy(void);

/* Sends the copy to who has started this program, over standard input where that is a socket (system/program.h,
 * kept). Else it ends with this program. */
void pmix_connection_hand_over(int copy);

#define KEY_OF_SERVER "rollcall.server"
#define KEY_OF_STORE  "rollcall.store"

/* Prints the lines that lib/launcher/pmix.c explains: all of them and 0, or one of pmix_fail() and -1. Nothing is taken
 * from the server but what is right in all of them: the number of nodes (PMIX_NUM_NODES), for one, is not (measured
 * with PRRTE 3.0.8: for 3 ranks on 2 nodes 2 by prterun's own server, 4 by a prted's), and is counted here. */
int pmix_print_job(const pmix_proc_t *self);
