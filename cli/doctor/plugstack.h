/* SPDX-License-Identifier: BSD-3-Clause */
/* plugstack.h - where Slurm's plugstack.conf names rollcall's plugin. */
#ifndef ROLLCALL_CLI_DOCTOR_PLUGSTACK_H
#define ROLLCALL_CLI_DOCTOR_PLUGSTACK_H

#include <limits.h>
#include <stdbool.h>

struct doctor_plugstack {
    char conf[PATH_MAX]; /* the file that names it */
    unsigned line;
    char plugin[PATH_MAX]; /* as it stands there */
};

/* Reads plugstack.conf and the files that it includes. It is beside slurm.conf
 * (SLURM_CONF, else the usual places), or where PlugStackConfig says. False where it
 * cannot be read or names no such plugin: conf is then the file that was read, or "". */
bool doctor_plugstack_find(struct doctor_plugstack *found);

#endif
