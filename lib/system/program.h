/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - run a child with a deadline and a safe environment; send descriptors. */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "base/text.h"

/* Send a descriptor, still open here. Neither block nor report errors. */
void rc_descriptor_send(int socket, int fd);

/* Variables of the loader and the C library (LD_*, GLIBC_TUNABLES, MALLOC_*, GCONV_PATH, ...) for a program in a user's
 * task: LD_SHOW_AUXV or another libc in LD_LIBRARY_PATH would break rollcall's. */
enum rc_program_kind {
    RC_PROGRAM_OWN,  /* rollcall's: none */
    RC_PROGRAM_PMIX, /* rollcall-pmix: LD_LIBRARY_PATH, for the task's libpmix */
    RC_PROGRAM_USER, /* python3, mpirun, srun from PATH: all except LD_PRELOAD */
};

/* LD_LIBRARY_PATH for rollcall-pmix, in rollcall's other programs. */
#define RC_PROGRAM_LIBRARIES "ROLLCALL_LD_LIBRARY_PATH="

struct rc_program {
    enum rc_program_kind kind;
    const char *path;
    const char *argument;    /* first argument, or NULL */
    const char *const *more; /* further arguments, NULL-terminated, or NULL */
    bool with_errors;        /* standard error, too */
    const char *const *env;  /* before `kind` removes variables */
    struct rc_str input;     /* at most 64 KiB (a pipe) */
    uint32_t milliseconds;   /* then SIGKILL; rollcall-pmix gets it as last argument instead */
    /* NULL, or receives the descriptor that the program sends on standard input, then a socket; -1 without */
    int *kept;
};

/* Wait for a killed program this long. */
enum { RC_PROGRAM_END_MS = 2500 };

/* Run the program and collect its output, NUL-terminated, even on failure. Return the number of bytes, or -errno:
 * -ETIMEDOUT if killed, -EMSGSIZE for size - 1 bytes or more. Set *status as waitpid() does. Leave open only *kept,
 * without FD_CLOEXEC, and no process except one that cannot be killed yet. Except rollcall-pmix, it is killed when the
 * calling thread ends. */
ssize_t rc_program_run(const struct rc_program *program, char *output, size_t size, int *status);

/* Return true if the loader missed a library. */
bool rc_program_not_loaded(ssize_t n, int status);

/* Return the first line's text after `word`, such as "failed="; RC_ABSENT if it begins otherwise. */
struct rc_str rc_program_reason(struct rc_str output, const char *word);

/* Like rc_program_run(), for one line or failed=REASON. Return 0 with the line; -ETIMEDOUT; or -EIO with REASON or how
 * the program ended. */
int rc_program_line(const struct rc_program *program, char *line, size_t size);

/* Wait before a task ends without its command: 200 ms if it printed the reason (`said`), else 500 ms. A launcher kills
 * the other tasks after the first failure and drops output in transit (srun --kill-on-bad-exit of 22.05: 35 of 40 lines
 * arrived). Thread-safe. */
void rc_last_line_wait(bool said);

/* Find an executable file in folders like PATH, or NULL. */
bool rc_program_find(const char *folders, const char *name, char path[PATH_MAX]);

/* Return true if a program among a command line's first words needs AddressSanitizer's shared runtime: it exits if
 * another library is loaded before (compiler-rt asan_linux.cpp, AsanCheckDynamicRTPrereqs). Static and other sanitizers
 * accept LD_PRELOAD (gcc 12, clang 14). */
bool rc_program_needs_asan(const char *folders, const char *const *words);
