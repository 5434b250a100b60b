/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h - how rollcall exec binds: each task asks rollcall-map itself, and all get the
 * same answer. */
#ifndef ROLLCALL_CLI_BIND_H
#define ROLLCALL_CLI_BIND_H

#include "resolve/resolve.h"

#endif
