/* SPDX-License-Identifier: BSD-3-Clause */
/* python.h - which Python a task's command would run, and where that one looks for packages: found by file, as
 * Python's own getpath and site modules do it. Nothing is run. */
#ifndef ROLLCALL_INVENTORY_PYTHON_H
#define ROLLCALL_INVENTORY_PYTHON_H

#include "base/env.h"
#include "inventory/files.h"

enum { RC_PYTHON_FOLDERS = 24 };

struct rc_python {
    char prefix[RC_FILES_PATH]; /* of the environment (venv, conda) or of the installation */
    unsigned count;
    char folder[RC_PYTHON_FOLDERS][RC_FILES_PATH]; /* in the order in which Python looks */
};

/* `program` is what the task's command begins with: a Python, a script that one runs, or a shell's. Of a shell script
 * or a wrapper it is the python3 of PATH. False where it is a program of another kind, or no Python is found; *python
 * has a count of 0 then. */
bool rc_python_find(const char *root, struct rc_str program, const struct rc_env *env, struct rc_python *python);

#endif
