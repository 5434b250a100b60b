/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - one child with a deadline, its environment, and descriptors that are handed on. */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "base/text.h"

/* Sends a descriptor, which stays open here. Does not wait; what goes wrong is not told. */
void rc_descriptor_send(int socket, int fd);

/* The environment of a program that is started in a user's task.
 *
 * The user's environment is for the user's programs: an LD_LIBRARY_PATH that leads to
 * another libc, or LD_SHOW_AUXV, would break rollcall's own. */

/* What a program gets of the variables that change how programs are loaded and how the C
 * library works: LD_*, GLIBC_TUNABLES, MALLOC_*, GCONV_PATH and others. */
enum rc_program_kind {
    RC_PROGRAM_OWN,  /* of rollcall: none of them */
    RC_PROGRAM_PMIX, /* rollcall-pmix: LD_LIBRARY_PATH, by which the task finds its libpmix */
    RC_PROGRAM_USER, /* python3, mpirun, srun from PATH: all but LD_PRELOAD */
};

/* Where a program of rollcall's keeps LD_LIBRARY_PATH for the rollcall-pmix that it starts. */
#define RC_PROGRAM_LIBRARIES "ROLLCALL_LD_LIBRARY_PATH="

/* Runs a program, mostly one of rollcall's own: text in, text out, and an end by a deadline. */

struct rc_program {
    enum rc_program_kind kind;
    const char *path;
    const char *argument;    /* its first argument, or NULL */
    const char *const *more; /* further arguments, NULL-terminated; or NULL */
    bool with_errors;        /* its standard error is part of the output */
    const char *const *env;  /* its environment, but for what `kind` leaves out */
    struct rc_str input;     /* its standard input; what a pipe holds at once, 64 KiB */
    uint32_t milliseconds;   /* after this time it is killed; rollcall-pmix gets it as its last argument, and is left */
    int *kept; /* NULL, or where the descriptor goes that it sends over its standard input, which is a socket
                  then (above); -1 where it sends none */
};

/* A program that had to be killed is waited for that long. */
enum { RC_PROGRAM_END_MS = 2500 };

/* Runs it and takes all that it writes, with a NUL after it, also where it fails. Its standard error is /dev/null,
 * unless with_errors. Returns the number of bytes, or -errno: -ETIMEDOUT where it had to be killed, -EMSGSIZE where it
 * wrote size - 1 or more, another one where it could not be started. *status is as waitpid writes it. Leaves no
 * descriptor open but *kept, which is not closed on exec; and no process but one that cannot be killed yet. The program
 * is killed when the calling thread ends, but for rollcall-pmix. */
ssize_t rc_program_run(const struct rc_program *program, char *output, size_t size, int *status);

/* Whether the program was never reached: the loader did not find a library that it needs. `n` and `status` are
 * those of rc_program_run. */
bool rc_program_not_loaded(ssize_t n, int status);

/* The rest of its first line where a program's output begins with `word`, such as
 * "failed="; absent where it does not. */
struct rc_str rc_program_reason(struct rc_str output, const char *word);

/* As rc_program_run, for a program of our own that says one line at most, or failed=WHY. 0 with that line in `line`,
 * without its newline; -ETIMEDOUT; or -EIO with the reason there: WHY, or how the program ended. */
int rc_program_line(const struct rc_program *program, char *line, size_t size);

/* Waits before a task ends without its command: 200 ms if it has said why itself (`said`), 500 ms if another task of
 * the launch says it. A launcher ends the other tasks with the first one that fails. What still comes then is dropped,
 * also of lines that were written before: with srun --kill-on-bad-exit of 22.05, 35 of 40 arrived. Thread-safe. */
void rc_last_line_wait(bool said);

/* Finds an executable file in a list of folders as in PATH. NULL is an empty list. */
bool rc_program_find(const char *folders, const char *name, char path[PATH_MAX]);

/* Return whether a program among the first words of a command line needs AddressSanitizer's runtime as a shared
 * library. Such a program ends at once if another library is loaded before its runtime (compiler-rt asan_linux.cpp,
 * AsanCheckDynamicRTPrereqs). A runtime that is linked statically, and TSan, LSan, MSan and UBSan, accept libraries in
 * LD_PRELOAD (measured with gcc 12 and clang 14). */
bool rc_program_needs_asan(const char *folders, const char *const *words);
