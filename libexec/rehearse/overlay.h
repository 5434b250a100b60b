/* SPDX-License-Identifier: BSD-3-Clause */
/* overlay.h - the files that a rehearsed script sees: those of the machine, with its own changes. */
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "rehearse.h"

/* Exported, in place of libc's function of that name. */
#define HOOK __attribute__((visibility("default")))

/* A function in terms of another. */
#define FORWARD(declaration, call) \
    HOOK declaration;              \
    HOOK declaration               \
    {                              \
        return call;               \
    }

/* Another name of a function, for programs that were compiled with large files, fortified, or against an older libc. */
#define ALSO(name, function) __asm__(".globl " #name "\n.set " #name ", " #function)

#define CALL(...) ((int)syscall(__VA_ARGS__))

#ifndef SYS_newfstatat
#define SYS_newfstatat SYS_fstatat64
#endif

/* The rehearsal's folder, without links; empty if the program was started outside of one. */
extern const char *overlay_scratch;
extern struct rehearse_bounds *overlay_bounds;

/* The place of the last command that is known, NAME=VALUE of REHEARSE_AT; NULL: none. */
extern const char *overlay_at;

/* Adds a line to `notes`. */
void overlay_note(const char *what, const char *path);

enum overlay_state {
    OVERLAY_ABSENT,  /* it is nowhere */
    OVERLAY_REMOVED, /* the script has removed it, or a folder above it */
    OVERLAY_OUTSIDE, /* a file of the machine */
    OVERLAY_INSIDE,  /* the script has made or changed it */
    OVERLAY_PASSED,  /* not overlaid: /dev, /proc, /sys, TMPDIR */
};

struct overlay_place {
    char name[REHEARSE_PATH];       /* absolute, without links, as the script knows it */
    char inside[2 * REHEARSE_PATH]; /* the same below files/ */
    enum overlay_state state;
};

/* Finds where a path, relative to the folder `dir`, leads. follow: also if its last part is a link. Return 0, or -1
 * with errno set. */
int overlay_find(int dir, const char *path, bool follow, struct overlay_place *place);

/* The path for a system call that only reads; NULL with errno set if the script has removed it. */
const char *overlay_path(const struct overlay_place *place);

/* Both in one: NULL with errno set also if the path leads nowhere that could be looked up. */
static inline const char *overlay_seen(int dir, const char *path, bool follow, struct overlay_place *place)
{
    return overlay_find(dir, path, follow, place) < 0 ? NULL : overlay_path(place);
}

static inline bool overlay_exists(const struct overlay_place *place)
{
    return place->state != OVERLAY_ABSENT && place->state != OVERLAY_REMOVED;
}

/* Prepares a place for writing: makes the folders above it in files/, and copies the file there if `keep`. Return the
 * path to write to, or NULL with errno set. */
const char *overlay_write(struct overlay_place *place, bool keep);

/* Makes a folder, and those above it that are missing, in files/. Return 0, or -1 with errno set. */
int overlay_make_folder(struct overlay_place *place, mode_t mode);

/* Removes a file or an empty folder, as unlinkat. */
int overlay_remove(struct overlay_place *place, int flags);

/* Writes what the folder of a path is called by the script into `name`. Return its length, or -1 with errno set. */
ssize_t overlay_folder(int dir, char *name, size_t size);

/* Where to list a folder: itself, or both of its halves merged. Return a path in place->inside or place->name, or NULL
 * with errno set. */
const char *overlay_list(struct overlay_place *place);
