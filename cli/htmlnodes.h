/* SPDX-License-Identifier: BSD-3-Clause */
/* htmlnodes.h - the nodes on the page: all at a glance, then those that are alike in one row (nodefold.h). */
#ifndef ROLLCALL_CLI_HTMLNODES_H
#define ROLLCALL_CLI_HTMLNODES_H

#include "nodefold.h"
#include "roster.h"

/* Prints a section. False without memory. */
bool cli_html_glance(const struct roster *roster, const struct facts *facts);

/* Likewise. */
void cli_html_nodes(const struct fold *fold);

#endif
