/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - srun's side of the exchange: a program that listens beside it. */
#ifndef ROLLCALL_SPANK_SERVER_H
#define ROLLCALL_SPANK_SERVER_H

#include <slurm/spank.h>

/* In srun, once the step is made: where the user asked for rollcall and for no
 * other exchange, opens a socket in SrunPortRange, starts rollcall-exchange
 * with it, and names it to the tasks (RC_SERVER). Whatever fails leaves srun as it was. */
void rc_spank_server_start(spank_t spank);

#endif
