/* SPDX-License-Identifier: BSD-3-Clause */
/* pmixserver.h - the PMIx server that the environment names: whose it is, and what its clients need. */
#ifndef ROLLCALL_RENDEZVOUS_PMIXSERVER_H
#define ROLLCALL_RENDEZVOUS_PMIXSERVER_H

#include "resolve/resolve.h"

/* Whether it is this very launch's, and not an outer one's whose variables are left. */
bool rc_pmix_server_is_own(const struct rc_result *result);

#define RC_PMIX_GDS "PMIX_MCA_gds"

/* What it has to be, by PMIX_VERSION, in the environment of rollcall-pmix and of
 * all tasks of the node, unless it says something there; NULL: nothing. */
const char *rc_pmix_server_gds(struct rc_str version);

#endif
