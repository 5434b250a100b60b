/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "say.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/variables.h"

enum { LINE_SIZE = 1280 };

bool guard_debug(void)
{
    const char *level = getenv(RC_DEBUG);

    return level && rc_debug_level(rc_str(level)) > 0;
}

void guard_say(enum rc_message_id id, const char *text)
{
    const struct rc_message_entry *entry = rc_message_entry(id);
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    struct rc_str whole;
    ssize_t written;

    if (entry->level == RC_LEVEL_NOTE && !guard_debug())
        return;
    whole = rc_str(rc_message_line(&arena, entry->level, id, text));
    for (size_t i = 0; i + 1 < whole.n; i++)
        if (line[i] < ' ' || line[i] > '~')
            line[i] = '?';
    /* if this cannot be written, an error about it cannot either */
    written = write(STDERR_FILENO, line, whole.n);
    (void)written;
}
