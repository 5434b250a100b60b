/* SPDX-License-Identifier: BSD-3-Clause */
/* lookups.h - on the node of RANK 0: what reverse look-ups are going to cost torch's store, said at srun's terminal. */
#ifndef ROLLCALL_EXCHANGE_LOOKUPS_H
#define ROLLCALL_EXCHANGE_LOOKUPS_H

#include "rendezvous/request.h"

/* Measures one in a child, which tells srun's server by itself (RC_SERVER_LOOKUPS) if it is worth a line. Returns at
 * once; the child ends within some 8 s, whatever the resolver does. No child where request->lookups asks for none. */
void exchange_time_lookups(const struct rc_request *request);

#endif
