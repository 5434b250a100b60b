/* server.h - whether the PMIx server that the environment names is this very launch's. */
#ifndef ROLLCALL_EXCHANGE_SERVER_H
#define ROLLCALL_EXCHANGE_SERVER_H

#include "resolve.h"

/* And not an outer one's whose variables are left. */
bool rc_has_own_server(const struct rc_result *result);

#endif
