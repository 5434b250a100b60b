# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_pmix.m4
#
# SYNOPSIS
#   X_AC_WITH_PMIX
#
# DESCRIPTION
#   Looks for PMIx, whose headers rollcall-pmix is compiled with; libpmix is
#   opened at run time, only by that program. Sets the conditional BUILD_PMIX
#   and PMIX_CPPFLAGS, and DL_LIBS, which dlopen is in.

AC_DEFUN([X_AC_WITH_PMIX], [
  X_AC_FIND_LIBRARY([pmix], [pmix], [pmix.h], [PMIx_Init], [pmix])
  dnl its functions in headers do not pass our warnings
  PMIX_CPPFLAGS=`AS_ECHO(["$PMIX_CFLAGS"]) | $SED 's/-I/-isystem /g'`
  AC_SUBST([PMIX_CPPFLAGS])
  dnl in libc itself from glibc 2.34 on, and in musl
  x_saved_LIBS=$LIBS
  AC_SEARCH_LIBS([dlopen], [dl])
  AS_CASE([$ac_cv_search_dlopen], [-l*], [DL_LIBS=$ac_cv_search_dlopen], [DL_LIBS=])
  LIBS=$x_saved_LIBS
  AC_SUBST([DL_LIBS])
  AM_CONDITIONAL([BUILD_PMIX], [test "$have_pmix" = yes])
])
