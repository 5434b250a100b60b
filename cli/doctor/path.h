/* path.h - programs as a shell finds them. */
#ifndef ROLLCALL_DOCTOR_PATH_H
#define ROLLCALL_DOCTOR_PATH_H

#include <limits.h>
#include <stdbool.h>

/* The first file of that name on PATH that may be run. */
bool doctor_find_program(const char *name, char path[PATH_MAX]);

#endif
