/* SPDX-License-Identifier: BSD-3-Clause */
/* programs.h - rollcall's own programs, which were installed with the plugin. */
#ifndef ROLLCALL_SPANK_PROGRAMS_H
#define ROLLCALL_SPANK_PROGRAMS_H

/* Looks for their folder. slurmstepd does it once, for all tasks that it forks later: its list of mapped files
 * is long (40 us, measured). */
void rc_spank_programs_find(void);

/* The path of one of them, until the next call; it need not be there. "" where it cannot be known. */
const char *rc_spank_program(const char *name);

#endif
