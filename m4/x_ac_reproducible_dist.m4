# SPDX-License-Identifier: BSD-3-Clause
# x_ac_reproducible_dist.m4
#
# SYNOPSIS
#   X_AC_REPRODUCIBLE_DIST
#
# DESCRIPTION
#   "make dist" makes the same bytes of the same files for everybody: members in
#   the order of their names, nobody's user, the permissions that everybody has, and
#   one date, that of the MANIFEST which dist-hook has put there. Other tars than
#   GNU's are used as automake does. To be called after AM_INIT_AUTOMAKE.

AC_DEFUN([X_AC_REPRODUCIBLE_DIST], [
  AC_MSG_CHECKING([whether tar can make the same release of the same files])
  AS_IF([${TAR-tar} --sort=name --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' --mtime=@0 -cf - /dev/null >/dev/null 2>&1],
        [am__tar='env LC_ALL=C TZ=UTC0 $${TAR-tar} --format=ustar --sort=name --owner=0 --group=0 --numeric-owner'
         am__tar="$am__tar --hard-dereference --mode=u=rwX,go=rX"
         am__tar="$am__tar --mtime=\"./\$\$tardir/MANIFEST\" -chf - \"\$\$tardir\""
         AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])])
])
