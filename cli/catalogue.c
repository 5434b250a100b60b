/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalogue.h"

#include <string.h>

/* How rc_message_line ends a line. */
#define END_OF_ERROR(id) RC_EXPLAIN(id)
#define END_OF_WARNING(id)
#define END_OF_NOTE(id)

static const struct cli_catalogue_entry messages[] = {
#define ROLLCALL_MESSAGE(id, level, said, wanted, cause, cure, example) \
    [id] = { #id, RC_LEVEL_##level, cause, cure, example END_OF_##level(#id) },
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
};

static const struct cli_catalogue_entry findings[] = {
#define ROLLCALL_FINDING(id, level, cause, cure, example) [FINDING_##id] = { #id, level, cause, cure, example },
#include "cli/findings.def"
#undef ROLLCALL_FINDING
};

const struct cli_catalogue_entry *cli_catalogue_message(enum rc_message_id id)
{
    return &messages[id];
}

const struct cli_catalogue_entry *cli_catalogue_finding(enum finding_id id)
{
    return &findings[id];
}

enum finding_id cli_catalogue_find_finding(const char *name)
{
    enum finding_id id = 0;

    while (id < FINDING_COUNT && strcmp(findings[id].id, name) != 0)
        id++;
    return id;
}
