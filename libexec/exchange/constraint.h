/* SPDX-License-Identifier: BSD-3-Clause */
/* constraint.h - whether a job of Slurm's asked for nodes of several kinds (--constraint). */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_CONSTRAINT_H
#define ROLLCALL_LIBEXEC_EXCHANGE_CONSTRAINT_H

#include <stdbool.h>

#include "base/text.h"

/* Asks scontrol, which is in none of a task's variables (22.05 to 26.05). False, too, where it does not answer. */
bool exchange_asked_for_several_kinds(uint32_t job);

/* "a|b" lets each node have either, and "[a*2&b*4]" counts them; "[a|b]" wants all of one kind, and "a&b" of both. */
bool exchange_is_of_several_kinds(struct rc_str constraint);

#endif
