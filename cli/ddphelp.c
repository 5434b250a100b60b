/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddphelp.h"

#include <stdio.h>

#define SHOWN_CHOICE(key, values) #key "=" values
#define SHOWN_VALUE(key, values)  #key "=" values
#define SHOWN_SWITCH(key, values) #key "[=" values "]"

static const struct {
    const char *word;
    const char *help;
} lines[] = {
#define ROLLCALL_MODE(mode, word, help)                         { word, help },
#define ROLLCALL_KEY(key, shape, values, help, section, reader) { SHOWN_##shape(key, values), help },
#include "resolve/option.def"
};

void cli_print_ddp_help(void)
{
    for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        printf("        %-27s  %s\n", lines[i].word, lines[i].help);
}
