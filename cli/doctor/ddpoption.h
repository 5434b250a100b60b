/* SPDX-License-Identifier: BSD-3-Clause */
/* ddpoption.h - the text of --ddp in a job, before the job waits in the queue. */
#ifndef ROLLCALL_CLI_DOCTOR_DDPOPTION_H
#define ROLLCALL_CLI_DOCTOR_DDPOPTION_H

#include "findings.h"

/* Adds D524 where srun would refuse the text. One with variables in it is not looked at. */
void doctor_ddp_option(struct findings *findings, const char *text, const char *file, unsigned line);

#endif
