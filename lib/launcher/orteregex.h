/* SPDX-License-Identifier: BSD-3-Clause */
/* orteregex.h - the nodes of Open MPI 4's daemons, as mpirun tells each of them.
 *
 * "login,n[1:1-3]@0(4)", "n[3:001,003]-ib@0(2)": names in the order of the
 * daemons' numbers, digits with their width before the colon; what stands
 * behind the @ is of other things (ompi v4.1 orte/mca/regx/fwd/regx_fwd.c).
 */
#ifndef ROLLCALL_LAUNCHER_ORTEREGEX_H
#define ROLLCALL_LAUNCHER_ORTEREGEX_H

#include "launcher/hostlist.h"

/* Writes the name of that daemon's node and a NUL. False, with name untouched,
 * if there is none, or the text before it is not of the form above. */
bool rc_orteregex_nth(struct rc_str regex, uint32_t daemon, char name[RC_HOST_MAX + 1]);

#endif
