/* SPDX-License-Identifier: BSD-3-Clause */
/* shim.h - shared by the libraries that are preloaded into users' programs. */
#pragma once

#include "base/cpuset.h"
#include "resolve/resolve.h"

extern char **environ;

/* Return argv from a constructor's arguments: glibc passes argc, argv and envp, musl nothing. NULL if unknown. */
const char *const *shim_command_line(int argc, char **argv, char **envp);

/* Return up to 4 KiB of the command line, from /proc; or NULL. */
const char *const *shim_command_read(void);

/* Return whether this process has rights that the user lacks: /etc/ld.so.preload applies even then. `variables` is the
 * length of environ. */
bool shim_is_privileged(const char *const *argv, unsigned variables);

/* Scan the environment. Outside of tasks no variable has a launcher's prefix. In later processes of a task RC_SETTLED
 * has the sum of hashes of those variables; a nested launcher, or a script that sets a rank, changes it. */

enum { SHIM_SUM = 16, SHIM_BEGINS = 64 }; /* characters of RC_SETTLED; slots for prefixes */

struct shim_look {
    uint32_t begin[SHIM_BEGINS]; /* hash table of the prefixes */
    bool is_marked;              /* found a launcher's or rollcall's variable */
    char *settled;               /* value of RC_SETTLED; or NULL */
    uint64_t sum;
};

void shim_look_open(struct shim_look *look);

/* Scan the entries up to the NULL. */
void shim_look_at(struct shim_look *look, char **env);

/* Return whether RC_SETTLED has this sum. */
bool shim_is_settled(const struct shim_look *look);

/* Write the sum to look->settled. */
void shim_settle(const struct shim_look *look);

/* A report on standard error is one write below 512 bytes, atomic on a pipe (POSIX: PIPE_BUF). */

enum { SHIM_PAGE_MAX = 511 };

/* Lines, appended by rc_format and rc_join while they fit. */
struct shim_page {
    char text[SHIM_PAGE_MAX + 1];
    struct rc_arena arena;
};

void shim_page_open(struct shim_page *page);

/* Write the page to standard error. Return false if that would block or fail. */
bool shim_page_say(const struct shim_page *page);

/* Print "rollcall: " and a line, as rc_format. */
void shim_say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A preloaded constructor cannot use setenv(): bash overrides it, and clearenv() frees a table that programs still walk
 * (both measured). So this memory is static. */

enum { SHIM_TABLE_MAX = UINT16_MAX - 1, SHIM_TEXT_MAX = 12288 };

struct shim_table {
    char *entry[SHIM_TABLE_MAX + 1];
    uint16_t dropped[SHIM_TABLE_MAX]; /* 1 + index of each removed entry */
    char text[SHIM_TEXT_MAX];
    char **added; /* the added entries, NULL-terminated; NULL if others changed */
};

/* Apply the plan to environ, indexed by `index`; environ is then the same array or table->entry. Return false without
 * room.
 *
 * The old array is updated too, for main() in musl programs. Its length stays: the Go runtime finds the auxiliary
 * vector after its NULL. */
bool shim_table_apply(struct shim_table *table, const struct rc_env *index, const struct rc_plan *plan);

/* Workers of torchrun and Lightning bind themselves before main, with the lists of ROLLCALL_PINS (pins.h), unless in
 * doubt:
 *
 * - LOCAL_RANK and the launcher's numbers must match the lists.
 * - The mask must contain the cores of all workers: a smaller one was set on purpose (torchrun --numa-binding,
 *   taskset).
 * - Shells, numactl and the like are no workers: binding numactl would make its command line fail.
 * - A bound worker is marked, so its programs keep their mask. */

struct shim_pin {
    uint32_t local_rank;
    struct rc_str cpus; /* part of ROLLCALL_PINS */
    struct rc_cpuset own;
    struct rc_cpuset all;    /* of all workers */
    struct rc_cpuset before; /* the current mask */
    struct rc_plan plan;
};

/* Bind and mark this process if it is such a worker. argv may be NULL; *pin is scratch; *table may become the
 * environment. Call once. */
void shim_pin(struct shim_pin *pin, const struct rc_env *env, const char *const *argv, struct shim_table *table);
