/* SPDX-License-Identifier: BSD-3-Clause */
/* input.h - the environment that a command looks at: its own, of a process, or recorded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/launcher.h"

/* The size limit of a block. The kernel's own limit is a quarter of the stack limit, 6
 * MiB at most, so a larger recorded file is no environment. */
enum { INPUT_MAX = 64 * 1024 * 1024 };

struct input {
    const char *const *env;  /* NULL-terminated */
    const char *const *argv; /* the process's command, or NULL where unknown */
    uint32_t pid;            /* of the process, 0 where unknown */
    bool this_node;          /* the process is on this node: this node's own facts (its ports) apply, */
    struct rc_here here;     /* otherwise those that were recorded of another node */
    char *storage[3];
    const char **list[2];
};

/* This process's own: there is nothing to free. */
void input_own(struct input *input);

/* Each returns 0, or -1 after one line on standard error. The caller frees what was
 * read with input_free, which also takes zeroed and half-read inputs. */
int input_file(struct input *input, const char *path); /* "-" is standard input */
int input_process(struct input *input, const char *pid);

/* Reads the environment of a process on this node. Where that fails it prints nothing
 * and returns -1: the process has ended, or belongs to another user. */
int input_quietly(struct input *input, uint32_t pid);
void input_free(struct input *input);

/* What a recorded environment tells of the node that it comes from.
 *
 * Beside its variables a recording has lines (or, in a block, entries) of these kinds:
 *   @ancestor=COMMAND WORDS   a process that the task descends from, its parent first
 *   @host=NAME                the node's own name
 *   @host-file=LINE           a line of the launcher's file of hosts
 *   @gpus=N                   the GPUs that the task could find
 *   @gpu-files=8/1 amd        device files of GPUs, how many of them it may open, and whether they are AMD's
 *   @watch=FOLDER             the folder of the watch
 *   @lookup=FILE              the library of lookup=numeric
 *   @pmix=NAME=VALUE          a line of what its PMIx server says (launcher/pmix.c)
 * so that one that was taken on a cluster is answered like the task itself. */

/* Reads such entries of a block of `size` bytes into *here. A fact without an entry counts as looked for and not found.
 * *here points into *storage, which the caller frees. 0, or -1 without memory. */
int recording_read(const char *const *block, size_t size, struct rc_here *here, char **storage);
