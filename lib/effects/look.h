/* SPDX-License-Identifier: BSD-3-Clause */
/* look.h - what the core cannot know by itself: the node around this process.
 *
 * Nothing of it is looked at unless the core asks (launcher.h, rc_seen), so that a task of srun or mpirun pays nothing
 * for it. Works without a libc (ROLLCALL_RAW_SYSCALLS), never fails: what cannot be read stays absent. */
#pragma once

#include "resolve/resolve.h"
#include "system/node.h"

enum { RC_HERE_TITLES = 8192, RC_HERE_FILE = 8 << 20, RC_HERE_PATH = 4096 };

/* Too large for a stack: static or heap storage. Untouched pages cost nothing. */
struct rc_here_storage {
    struct rc_here here;
    uint32_t pid;  /* the process that is, or becomes, the task */
    unsigned only; /* of enum rc_learn: nothing else is looked at; 0: no limit */
    /* The relative path from the folder of this very program or library to that of the
     * watch: "../share/rollcall/watch" (config.h). NULL: it is not looked for. */
    const char *watch_relative;
    const char *libraries_relative; /* likewise, to that of the libraries that go into LD_PRELOAD: "../lib" */
    /* Asks the PMIx server of this process (cli/programs.c). NULL where that is not allowed: in the preload, which
     * starts no program, and for a process that may be connected to its server already. */
    struct rc_str (*ask_pmix)(void);
    /* rc_device_files_find (gpufiles.h), which needs a libc; NULL in the preload. */
    void (*find_gpu_files)(struct rc_here *here);
    /* rc_program_needs_asan (program.h), which needs a libc; NULL in the preload. argv is the task's command. */
    bool (*needs_asan)(const char *folders, const char *const *words);
    const char *const *argv;
    char *file; /* room for a file of hosts, RC_HERE_FILE bytes; NULL: none is read */
    /* what is large comes last: few processes write to its pages */
    char titles[RC_HERE_TITLES]; /* command lines of the ancestors */
    char host[RC_NODE_NAME_SIZE];
    char watch[RC_HERE_PATH];
    char reverse[RC_HERE_PATH];
};

/* Set context->here for a process of this node, context->pid: it is *storage's, and looks at the node for each thing
 * that the core asks for, also in rc_resolve_again. Thread safety: as safe as its arguments. */
void rc_here_begin(struct rc_context *context, struct rc_here_storage *storage);

/* rc_resolve after rc_here_begin. */
enum rc_status rc_here_resolve(struct rc_context *context, struct rc_here_storage *storage, struct rc_result *result);
