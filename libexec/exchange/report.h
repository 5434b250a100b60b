/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - report=FILE: at a step's end srun's server leaves a file that says what its nodes have told.
 *
 * `rollcall check`, which lies beside, makes it from a record (roll/record.h): a page where FILE ends in .html, else
 * JSON. A file of that name is replaced at once and as a whole. Whatever fails is one warning, RC625.
 */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_REPORT_H
#define ROLLCALL_LIBEXEC_EXCHANGE_REPORT_H

#include <limits.h>

#include "rendezvous/protocol.h"
#include "rendezvous/server.h"
#include "roll/record.h"

struct report {
    char path[PATH_MAX]; /* "": none is wanted, or none can be written */
    rc_server_say *say;
    void *more;
};

/* Completes settings->report to the file's name. Says at once where no file can be written there. */
void exchange_report_begin(struct report *report, const struct rc_server_settings *settings, rc_server_say *say,
                           void *more);

/* Writes the file. */
void exchange_report_end(struct report *report, const struct rc_record *record, const struct rc_server *server);

#endif
