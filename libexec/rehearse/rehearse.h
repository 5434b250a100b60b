/* SPDX-License-Identifier: BSD-3-Clause */
/* rehearse.h - what the hook, the wall and the stand-in of `rollcall rehearse` share.
 *
 * A rehearsal has one private folder, REHEARSE_FOLDER in the environment. The wall makes in it:
 *   files/     what the script has written, by absolute path: files/home/u/log is /home/u/log
 *   lists/     folders that exist in files/ and outside, merged for whoever lists them
 *   tmp/       TMPDIR
 *   programs   the programs that may be started: lines NAME TAB PATH
 *   bounds     struct rehearse_bounds
 *   notes      what the hook found: lines WHAT TAB PATH TAB WHERE; WHAT is "folder", a missing one that it made
 *   ended      why the wall ended the script before its end: "time" or "processes"
 * The director listens on `socket`. The folder bin/, if the director makes it, is the last of PATH.
 *
 * The hook hides all names that begin with REHEARSE_FOLDER from the programs, and gives them to those that they start.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define REHEARSE_FOLDER "ROLLCALL_REHEARSAL"
#define REHEARSE_AT     REHEARSE_FOLDER "_AT"     /* FILE:LINE of the command that runs; prelude.sh */
#define REHEARSE_WHO    REHEARSE_FOLDER "_WHO"    /* the director's name for this tree of processes */
#define REHEARSE_DEPTH  REHEARSE_FOLDER "_DEPTH"  /* programs that started each other */
#define REHEARSE_OUTPUT REHEARSE_FOLDER "_OUTPUT" /* DEVICE:INODE of the script's own standard output */
/* before a name of the user's that the rehearsal replaces: LD_PRELOAD, BASH_ENV */
#define REHEARSE_USERS REHEARSE_FOLDER "_"

/* Put before a name that the shell did not find in PATH; see prelude.sh. */
#define REHEARSE_NOT_FOUND "/rollcall-rehearse/not-found/"

/* What readlink gives of a file in files/ that the script has removed. */
#define REHEARSE_REMOVED "/rollcall-rehearse/removed"

enum {
    REHEARSE_PATH = 8192, /* bytes of a path below files/ */
    REHEARSE_DEPTH_MAX = 40,
    REHEARSE_PROCESSES_MAX = 2000, /* at a time, about */
    REHEARSE_FORKS_MAX = 50000,
    REHEARSE_COPY_MAX = 8 << 20, /* bytes of a file that are copied when it is opened for writing */
    REHEARSE_LIST_MAX = 4096,    /* entries of a merged folder */
};

/* Shared memory of all processes of a rehearsal. */
struct rehearse_bounds {
    atomic_uint forks;
    atomic_uint lists;
    atomic_uint reached; /* too many processes: the wall ends all */
    unsigned processes;  /* of the machine, when the rehearsal began */
};
