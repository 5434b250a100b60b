/* SPDX-License-Identifier: BSD-3-Clause */
/* programenv.h - the environment of a program that is started in a user's task.
 *
 * The user's environment is for the user's programs: an LD_LIBRARY_PATH that leads to
 * another libc, or LD_SHOW_AUXV, would break rollcall's own.
 */
#ifndef ROLLCALL_SYSTEM_PROGRAMENV_H
#define ROLLCALL_SYSTEM_PROGRAMENV_H

/* What a program gets of the variables that change how programs are loaded and how the C
 * library works: LD_*, GLIBC_TUNABLES, MALLOC_*, GCONV_PATH and others. */
enum rc_program_kind {
    RC_PROGRAM_OWN,  /* of rollcall: none of them */
    RC_PROGRAM_PMIX, /* rollcall-pmix: LD_LIBRARY_PATH, by which the task finds its libpmix */
    RC_PROGRAM_USER, /* python3, mpirun, srun from PATH: all but LD_PRELOAD */
};

/* Where a program of rollcall's keeps LD_LIBRARY_PATH for the rollcall-pmix that it starts. */
#define RC_PROGRAM_LIBRARIES "ROLLCALL_LD_LIBRARY_PATH="

/* Copies the list for a program; NULL without memory. To be freed; most strings stay the
 * caller's and have to live as long. */
char **rc_program_environment(enum rc_program_kind kind, const char *const *env);

#endif
