/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - what was asked for: --ddp, the ROLLCALL variable, plugstack.conf.
 *
 * One grammar for all three (lib/resolve/options.h). Slurm calls back for the option in
 * srun, sbatch and salloc, where a wrong value is refused at once, and again in
 * slurmstepd, as root and where an error would be dropped together with the option: there
 * the text is kept, and read by the tasks.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "resolve/options.h"

/* Registers --ddp. Call it only from slurm_spank_init. */
void rc_spank_register(spank_t spank);

/* Reads the words after the plugin's path in plugstack.conf; only the first call does.
 * Reports and ignores a word that it does not understand. */
void rc_spank_read_arguments(int argc, char *argv[]);

/* Whether plugstack.conf has log=json. */
bool rc_spank_logs_steps(void);

/* Whether --ddp was said, of this step or of its job. */
bool rc_spank_is_typed(void);

/* In srun, sbatch and salloc: whether what was asked for can be done. Prints what is wrong. */
bool rc_spank_check_environment(void);

/* Whether one of the three sources says anything. Parses none of them: for user_init, where root can be had back. */
bool rc_spank_may_be_asked(const char *const *env);

/* Combines the three sources. `rollcall` is the value of the ROLLCALL variable, absent
 * if it is unset. False, with messages and with out->by_user set, if a value of the
 * user is not valid, or is switched off in plugstack.conf. */
bool rc_spank_asked(struct rc_str rollcall, struct rc_options *out, struct rc_messages *messages);

/* In srun: whether rollcall was asked for, with valid options. Prints nothing.
 * Texts in *out live until the next call. */
bool rc_spank_asked_here(struct rc_options *out);
