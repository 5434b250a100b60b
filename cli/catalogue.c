/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalogue.h"

static const struct cli_catalogue_entry catalogue[] = {
#define ROLLCALL_MESSAGE(id, level, said, wanted, cause, cure, example) [id] = { cause, cure, example },
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
};

const struct cli_catalogue_entry *cli_catalogue_entry(enum rc_message_id id)
{
    return &catalogue[id];
}
