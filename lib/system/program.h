/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - runs a program, mostly one of rollcall's own: text in, text out, and an end by a deadline. */
#ifndef ROLLCALL_SYSTEM_PROGRAM_H
#define ROLLCALL_SYSTEM_PROGRAM_H

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "system/programenv.h"

struct rc_program {
    enum rc_program_kind kind;
    const char *path;
    const char *argument;    /* its first argument, or NULL */
    const char *const *more; /* further arguments, NULL-terminated; or NULL */
    bool with_errors;        /* its standard error is part of the output */
    const char *const *env;  /* its environment, but for what `kind` leaves out */
    struct rc_str input;     /* its standard input; what a pipe holds at once, 64 KiB */
    uint32_t milliseconds;   /* after this time it is killed */
    int *kept; /* NULL, or where the descriptor goes that it sends over its standard input, which is a socket
                  then (descriptor.h); -1 where it sends none */
};

/* Runs it and takes all that it writes, with a NUL behind it. Its standard error
 * is /dev/null, unless with_errors. Returns the number of bytes, or -errno:
 * -ETIMEDOUT where it had to be killed, -EMSGSIZE where it wrote more than
 * size - 1, another one where it could not be started. *status is as waitpid writes it. Leaves no
 * descriptor behind but *kept, which is not closed on exec; and no process but one that cannot be killed yet. */
ssize_t rc_program_run(const struct rc_program *program, char *output, size_t size, int *status);

/* Whether the program was never reached: the loader did not find a library that it needs. `n` and `status` are
 * those of rc_program_run. */
bool rc_program_not_loaded(ssize_t n, int status);

/* The rest of its first line where a program's output begins with `word`, such as
 * "failed="; absent where it does not. */
struct rc_str rc_program_reason(struct rc_str output, const char *word);

/* As rc_program_run, for a program of our own that says one line at most, or
 * failed=WHY. 0 with that line in `line`, without its newline; -ETIMEDOUT, with nothing there; or -EIO
 * with the reason there: WHY, or how the program ended. */
int rc_program_line(const struct rc_program *program, char *line, size_t size);

/* Signals as a program expects them: slurmstepd and launchers block and ignore
 * some. Sets the attributes' flags, with `more` of them. 0 or an errno. */
int rc_program_signals(posix_spawnattr_t *attributes, short more);

#endif
