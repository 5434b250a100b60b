/* SPDX-License-Identifier: BSD-3-Clause */
/* shim.h - what the files of the libraries in users' programs share. */
#pragma once

#include "base/cpuset.h"
#include "resolve/resolve.h"

extern char **environ;

/* Returns argv from a constructor's arguments: glibc passes argc, argv and envp, musl
 * passes nothing. NULL where the command is not known. */
const char *const *shim_command_line(int argc, char **argv, char **envp);

/* Reads the command from /proc, at most 4 KiB of it. NULL if /proc is not mounted. */
const char *const *shim_command_read(void);

/* Whether this process has rights that the user who wrote the environment lacks. The
 * loader ignores LD_PRELOAD in set-uid programs and those with file capabilities, but
 * a site's /etc/ld.so.preload reaches them, too. `variables` is the length of environ. */
bool shim_is_privileged(const char *const *argv, unsigned variables);

/* One look at the environment, which is all that most processes need.
 *
 * Outside of tasks no variable begins like a launcher's. In a process that a task's first process started nothing is to
 * be done if all variables that begin so, and rollcall's, are what they were when this library set the environment:
 * RC_SETTLED has the sum of their hashes. A launcher that starts another launch, further inside, changes them, and so
 * does a script that sets another rank. */

enum { SHIM_SUM = 16, SHIM_BEGINS = 64 }; /* characters of RC_SETTLED; slots for the first characters of names */

struct shim_look {
    uint32_t begin[SHIM_BEGINS]; /* a hash table of what names begin with that are looked for */
    bool is_marked;              /* a variable may be a launcher's, or rollcall's */
    char *settled;               /* the value of RC_SETTLED in the environment; NULL where it is not set */
    uint64_t sum;
};

void shim_look_open(struct shim_look *look);

/* Add the entries up to the NULL. */
void shim_look_at(struct shim_look *look, char **env);

/* Return whether RC_SETTLED has this very sum. */
bool shim_is_settled(const struct shim_look *look);

/* Write the sum to look->settled, which has room for it. */
void shim_settle(const struct shim_look *look);

/* Lines on standard error, without libc.
 *
 * Each report is one write of less than 512 bytes, which a pipe keeps in one piece
 * (POSIX: PIPE_BUF is at least 512). */

enum { SHIM_PAGE_MAX = 511 };

/* Text that lines are appended to while they fit: by rc_format, and rc_join after each. */
struct shim_page {
    char text[SHIM_PAGE_MAX + 1];
    struct rc_arena arena;
};

void shim_page_open(struct shim_page *page);

/* Writes the page to standard error. False where that cannot take it now. */
bool shim_page_say(const struct shim_page *page);

/* A page of one line, "rollcall: " before it. As rc_format. */
void shim_say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A plan applied to the environment, without libc.
 *
 * A preloaded constructor cannot use setenv(): in bash it binds to bash's own function and has no effect, and
 * clearenv() frees a table that libc has grown while programs still walk it (both measured). So the strings and the
 * table are static and never freed. */

enum { SHIM_TABLE_MAX = UINT16_MAX - 1, SHIM_TEXT_MAX = 12288 };

struct shim_table {
    char *entry[SHIM_TABLE_MAX + 1];
    uint16_t dropped[SHIM_TABLE_MAX]; /* 1 + indices of entries that are removed */
    char text[SHIM_TEXT_MAX];
    char **added; /* where the plan only added entries: these, up to the NULL; else NULL */
};

/* Applies the plan to environ, whose index is `index`. From now on that is the same array, or table->entry. False, with
 * the environment unchanged, where the table has too little room for the variables or for the text.
 *
 * Entries are always replaced in the old array, too: a musl program's main() reads it. It keeps its length, because
 * some programs (the Go runtime for one) find the auxiliary vector after its NULL. */
bool shim_table_apply(struct shim_table *table, const struct rc_env *index, const struct rc_plan *plan);

/* Binds a launcher's worker to its own cores, without libc.
 *
 * torchrun and Lightning start their workers after rollcall has done its part. So the task carries the cores of each
 * (pins.h, ROLLCALL_PINS), and the worker binds itself before its main. In any doubt it stays as it is:
 *
 * - LOCAL_RANK must be a number of the list, and the launcher's other numbers must
 *   give as many workers as the list has.
 * - Its present mask must hold the cores of all workers. A smaller mask was set since,
 *   on purpose (torchrun --numa-binding, taskset). So a mask never gets wider. (It may
 *   hold more than the list: cores that are near no GPU are in no worker's part.)
 * - Shells, numactl and the like are no workers, but start one. The kernel would refuse
 *   what numactl's command line says if numactl were bound before.
 * - A worker that has been bound is marked. The programs that it starts keep the mask
 *   that they start with, even if the worker has bound itself elsewhere since. */

struct shim_pin {
    uint32_t local_rank;
    struct rc_str cpus; /* as ROLLCALL_PINS has them */
    struct rc_cpuset own;
    struct rc_cpuset all;    /* those of all workers */
    struct rc_cpuset before; /* the mask that the process has had so far */
    struct rc_plan plan;
};

/* Binds this process if it is such a worker, and marks it in environ. env is the index
 * of environ; argv is NULL where it is not known; *pin is scratch. *table may become the
 * environment, so it must be static. Call it once in a process. */
void shim_pin(struct shim_pin *pin, const struct rc_env *env, const char *const *argv, struct shim_table *table);
