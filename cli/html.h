/* SPDX-License-Identifier: BSD-3-Clause */
/* html.h - a roll as one page for a browser: messages, what differs, the nodes; of cli/page.html. */
#ifndef ROLLCALL_CLI_HTML_H
#define ROLLCALL_CLI_HTML_H

#include "roster.h"

/* Prints the page. -1 without memory. */
int cli_html_print(const struct roster *roster);

#endif
