/* SPDX-License-Identifier: BSD-3-Clause */
/* catalogue.h - what people want to know of a message, beside its id and level. */
#ifndef ROLLCALL_CLI_CATALOGUE_H
#define ROLLCALL_CLI_CATALOGUE_H

#include "base/message.h"

struct cli_catalogue_entry {
    const char *cause;
    const char *cure;
    const char *example; /* a line as it is printed, all of it */
};

/* The row of an id; never NULL for an id of the enum. */
const struct cli_catalogue_entry *cli_catalogue_entry(enum rc_message_id id);

#endif
