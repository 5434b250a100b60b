/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.h - srun's side of the exchange: a program that listens beside it. */
#ifndef ROLLCALL_SPANK_DESK_H
#define ROLLCALL_SPANK_DESK_H

#include <slurm/spank.h>

/* In srun, once the step is made: where the user asked for rollcall and for no
 * other exchange, opens a socket in SrunPortRange, starts rollcall-exchange
 * with it, and names it to the tasks (RC_DESK). Whatever fails leaves srun as it was. */
void rc_spank_open_desk(spank_t spank);

#endif
