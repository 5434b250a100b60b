/* SPDX-License-Identifier: BSD-3-Clause */
/* ddphelp.h - what --ddp takes, as a part of a help text. */
#ifndef ROLLCALL_CLI_DDPHELP_H
#define ROLLCALL_CLI_DDPHELP_H

/* Prints a line for each mode and each key to standard output, indented and 80 columns wide at most. */
void cli_print_ddp_help(void);

#endif
