/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddphelp.h"

#include <stdio.h>

#include "resolve/option.h"

static const struct {
    const char *word;
    const char *help;
} lines[] = {
#define ROLLCALL_MODE(mode, word, help)                         { word, help },
#define ROLLCALL_KEY(key, shape, values, help, section, reader) { RC_KEY_SHOWN(shape, key, values), help },
#include "resolve/option.def"
};

void cli_print_ddp_help(void)
{
    for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        printf("        %-28s  %s\n", lines[i].word, lines[i].help);
}
