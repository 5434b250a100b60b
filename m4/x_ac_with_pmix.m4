# x_ac_with_pmix.m4
#
# SYNOPSIS
#   X_AC_WITH_PMIX
#
# DESCRIPTION
#   Looks for PMIx, whose headers rollcall-pmix is compiled with; libpmix is
#   opened at run time, by that program alone. Sets the conditional BUILD_PMIX
#   and PMIX_CPPFLAGS, and defines ROLLCALL_LIBEXEC_FROM_BIN, the way from the
#   command's folder to that program's, so that an installed tree can be moved.

AC_DEFUN([X_AC_WITH_PMIX], [
  X_AC_FIND_LIBRARY([pmix], [pmix], [pmix.h], [PMIx_Init], [pmix])
  dnl its functions in headers do not pass our warnings
  PMIX_CPPFLAGS=`AS_ECHO(["$PMIX_CFLAGS"]) | $SED 's/-I/-isystem /g'`
  AC_SUBST([PMIX_CPPFLAGS])
  dnl in libc itself from glibc 2.34 on, and in musl
  x_saved_LIBS=$LIBS
  AC_SEARCH_LIBS([dlopen], [dl])
  AS_CASE([$ac_cv_search_dlopen], [-l*], [PMIX_DL_LIBS=$ac_cv_search_dlopen], [PMIX_DL_LIBS=])
  LIBS=$x_saved_LIBS
  AC_SUBST([PMIX_DL_LIBS])
  AM_CONDITIONAL([BUILD_PMIX], [test "$have_pmix" = yes])
  x_prefix=$prefix
  x_exec_prefix=$exec_prefix
  AS_IF([test "x$prefix" = xNONE], [prefix=$ac_default_prefix])
  AS_IF([test "x$exec_prefix" = xNONE], [exec_prefix=$prefix])
  eval "x_from=$bindir"
  eval "x_from=$x_from"
  eval "x_to=$libexecdir"
  eval "x_to=$x_to/$PACKAGE"
  prefix=$x_prefix
  exec_prefix=$x_exec_prefix
  x_up=
  while test "x$x_from" != x && test "x$x_from" != x/ && test "x${x_to#"$x_from"/}" = "x$x_to"; do
    x_from=`AS_DIRNAME(["$x_from"])`
    x_up=../$x_up
  done
  AC_DEFINE_UNQUOTED([ROLLCALL_LIBEXEC_FROM_BIN], ["$x_up${x_to#"${x_from%/}"/}"],
    [where rollcall-pmix is, from the folder of the command])
])
