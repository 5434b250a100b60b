/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "programs.h"

#include <limits.h>

#include "system/beside.h"

static char folder[PATH_MAX];

void rc_spank_programs_find(void)
{
    if (!folder[0])
        rc_beside_file(ROLLCALL_LIBEXEC_FROM_PLUGIN, "", folder, sizeof(folder));
}

const char *rc_spank_program(const char *name)
{
    static char path[PATH_MAX];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };

    rc_spank_programs_find();
    rc_format(&arena, "%s%s", folder, name);
    return folder[0] && !arena.full ? path : "";
}
