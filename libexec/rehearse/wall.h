/* SPDX-License-Identifier: BSD-3-Clause */
/* wall.h - the parts of rollcall-rehearse. */
#pragma once

#include <stdbool.h>

enum wall_kind { WALL_ANY, WALL_LANDLOCK, WALL_NAMESPACES };

/* The verbs. Each returns its exit status. */
int rehearse_wall(int argc, char **argv);
int rehearse_stand_in(int argc, char **argv);
int rehearse_judge(void);

/* Writes FOLDER/programs. Return 0, or -1 with errno set. */
int wall_list_programs(const char *folder);

/* Confines this process and those that it starts; `program` is rollcall-rehearse. Return 0, or -1 with *why set. */
int wall_build(enum wall_kind kind, const char *folder, const char *program, const char **why);
