/* SPDX-License-Identifier: BSD-3-Clause */
/* input.h - the environment that a command examines: its environment, that of a process, or a recording. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/launcher.h"

/* The kernel limits an environment to a quarter of the stack limit, at most 6 MiB. */
enum { INPUT_MAX = 64 * 1024 * 1024 };

struct input {
    const char *const *env;  /* NULL-terminated */
    const char *const *argv; /* command of the process; NULL: unknown */
    uint32_t pid;            /* 0: unknown */
    bool this_node;          /* the process is on this node, so this node's facts (ports) apply; */
    struct rc_here here;     /* else those recorded on another node */
    char *storage[3];
    const char **list[2];
};

/* Use this process's environment. Nothing to free. */
void input_own(struct input *input);

/* Return 0, or -1 after printing one line on standard error. Call input_free() in both cases. */
int input_file(struct input *input, const char *path); /* "-" is standard input */
int input_process(struct input *input, const char *pid);

/* Read the environment of a process on this node. Print nothing; return -1 if it has ended or belongs to another
 * user. */
int input_quietly(struct input *input, uint32_t pid);
void input_free(struct input *input);

/* Read the facts about the node in a recorded block of `size` bytes into *here. They are lines, or entries in a block:
 *   @ancestor=COMMAND WORDS   an ancestor process, parent first
 *   @host=NAME                host name
 *   @host-file=LINE           a line of the launcher's host file
 *   @gpus=N                   GPUs that the task could find
 *   @gpu-files=8/1 amd        GPU device files, how many may be opened, and if they are AMD's
 *   @watch=FOLDER             folder of the watch
 *   @lookup=FILE              library of lookup=numeric
 *   @pmix=NAME=VALUE          a line from the PMIx server (launcher/pmix.c)
 * A fact without an entry counts as looked for and not found. *here points into *storage; the caller frees that. Return
 * 0, or -1 if memory is exhausted. */
int recording_read(const char *const *block, size_t size, struct rc_here *here, char **storage);
