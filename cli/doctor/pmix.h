/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix.h - the libpmix that programs of this task would load, and what the launch's server asks of it. */
#ifndef ROLLCALL_CLI_DOCTOR_PMIX_H
#define ROLLCALL_CLI_DOCTOR_PMIX_H

#include "findings.h"
#include "resolve/resolve.h"

/* In a task that a PMIx server of its launch has started, once a node. The server is not spoken to. */
void doctor_pmix(struct findings *findings, const struct rc_result *result);

#endif
