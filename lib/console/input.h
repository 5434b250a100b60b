/* SPDX-License-Identifier: BSD-3-Clause */
/* input.h - the environment block that show and explain look at. */
#ifndef ROLLCALL_CONSOLE_INPUT_H
#define ROLLCALL_CONSOLE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/facts.h"

/* What a block may be in all. The kernel's own limit is a quarter of the stack
 * limit, 6 MiB at most; a recorded file beyond this is no environment. */
enum { INPUT_MAX = 64 * 1024 * 1024 };

struct input {
    const char *const *env;  /* NULL-terminated */
    const char *const *argv; /* the process's command, or NULL where unknown */
    uint32_t pid;            /* of the process, 0 where unknown */
    bool this_node;          /* what this node says of itself (its ports) applies, */
    struct rc_here here;     /* or else what was recorded of another */
    char *storage[3];
    const char **list[2];
};

/* Each returns 0, or -1 after one line on standard error. What was read is
 * freed by input_free, which takes zeroed and half-read inputs as well. */
int input_own(struct input *input);
int input_file(struct input *input, const char *path); /* "-" is standard input */
int input_process(struct input *input, const char *pid);

/* The environment of a process on this node, without a word where it cannot be
 * read (-1: it has ended, or is another user's). */
int input_quietly(struct input *input, uint32_t pid);
void input_free(struct input *input);

#endif
