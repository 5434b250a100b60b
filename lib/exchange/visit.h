/* visit.h - a node at the desk: hands in its entry, comes back with the answer. */
#ifndef ROLLCALL_EXCHANGE_VISIT_H
#define ROLLCALL_EXCHANGE_VISIT_H

#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum { RC_VISIT_HOSTS_MAX = 8 };

/* hosts: names or addresses of the desk's one host, parted by blanks, in the
 * order in which they are tried; the first RC_VISIT_HOSTS_MAX count. Retries
 * for half of the time while nobody answers there, for a moment only where a host
 * refuses. The answer, with a NUL behind it, is from malloc: the caller frees
 * it. 0, or -errno: -ETIMEDOUT where the deadline passed, -ECONNREFUSED where
 * the desk is gone, -EPROTO for an answer that is none. *heard then says whether
 * the desk may have the entry, and count on this node, all the same. */
int rc_visit(struct rc_str hosts, uint16_t port, const char *token, struct rc_str entry, uint32_t milliseconds,
             char **answer, bool *heard);

#endif
