/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix.h - whether Open MPI's own PMIx fits the launch's PMIx server. */
#ifndef ROLLCALL_CLI_DOCTOR_PMIX_H
#define ROLLCALL_CLI_DOCTOR_PMIX_H

#include "findings.h"
#include "resolve/resolve.h"

/* Works in a task that a PMIx server of its launch has started, in one task a node. Does not speak to the server. */
void doctor_pmix(struct findings *findings, const struct rc_result *result);

#endif
