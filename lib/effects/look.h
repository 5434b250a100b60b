/* SPDX-License-Identifier: BSD-3-Clause */
/* look.h - reads facts of this node on the core's request (launcher.h, rc_seen). Works without a libc
 * (ROLLCALL_RAW_SYSCALLS). Unreadable facts stay RC_ABSENT. */
#pragma once

#include "resolve/resolve.h"
#include "system/node.h"

enum { RC_HERE_TITLES = 8192, RC_HERE_FILE = 8 << 20, RC_HERE_PATH = 4096 };

/* Too large for a stack. Untouched pages cost nothing. */
struct rc_here_storage {
    struct rc_here here;
    uint32_t pid;  /* of the process that is, or becomes, the task */
    unsigned only; /* enum rc_learn bits; 0: all */
    /* Path from this code's folder to the watch's: "../share/rollcall/watch" (config.h), or NULL. */
    const char *watch_relative;
    const char *libraries_relative; /* to libraries for LD_PRELOAD: "../lib" */
    /* Queries the PMIx server (cli/programs.c). NULL in the preload, which starts no program, and if the process may be
     * connected. */
    struct rc_str (*ask_pmix)(void);
    /* rc_device_files_find(); NULL in the preload (no libc) */
    void (*find_gpu_files)(struct rc_here *here);
    /* rc_program_needs_asan(); NULL in the preload */
    bool (*needs_asan)(const char *folders, const char *const *words);
    const char *const *argv;
    char *file; /* host file, RC_HERE_FILE bytes, or NULL */
    /* large members last: few processes write to their pages */
    char titles[RC_HERE_TITLES];
    char host[RC_NODE_NAME_SIZE];
    char watch[RC_HERE_PATH];
    char reverse[RC_HERE_PATH];
};

/* Make *storage read this node for context->pid, also in rc_resolve_again(). As thread-safe as its arguments. */
void rc_here_begin(struct rc_context *context, struct rc_here_storage *storage);

/* Call rc_here_begin() and rc_resolve(). */
enum rc_status rc_here_resolve(struct rc_context *context, struct rc_here_storage *storage, struct rc_result *result);
