/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.h - the catalogues of messages and findings. */
#pragma once

#include "base/message.h"

/* What people want to know of a message (base/messages.def) or a finding of the doctor (findings.def). */

enum finding_id {
#define ROLLCALL_FINDING(id, level, cause, cure) FINDING_##id,
#include "cli/findings.def"
#undef ROLLCALL_FINDING
    FINDING_COUNT
};

struct cli_catalogue_entry {
    const char *id;
    enum rc_level level;
    const char *cause;
    const char *cure;
};

/* The row of an id; never NULL for an id of the enum. */
const struct cli_catalogue_entry *cli_catalogue_message(enum rc_message_id id);
const struct cli_catalogue_entry *cli_catalogue_finding(enum finding_id id);

/* The id of a name, "D403"; FINDING_COUNT where there is none. */
enum finding_id cli_catalogue_find_finding(const char *name);
