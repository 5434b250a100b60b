/* host.h - where rank 0 is, looked up; and what it does for all: it is there, and holds the port. */
#ifndef ROLLCALL_HOST_H
#define ROLLCALL_HOST_H

#include "resolve.h"

/* Looks up what result->master leaves to the node (lib/system/lookup.h) and does
 * what it asks of this process (lib/system/rank0.h). The descriptor that holds
 * the port stays open across exec. 0, or -1 with an error in
 * result->messages. */
int host_master(struct rc_result *result);

#endif
