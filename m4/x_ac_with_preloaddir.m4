# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_preloaddir.m4
#
# SYNOPSIS
#   X_AC_WITH_PRELOADDIR
#
# DESCRIPTION
#   "--with-preloaddir=DIR" says where the libraries for LD_PRELOAD go, which nobody
#   links with; LIBDIR by default, a folder of their own in distributions.

AC_DEFUN([X_AC_WITH_PRELOADDIR], [
  AC_MSG_CHECKING([for preloaddir])
  AC_ARG_WITH([preloaddir],
    [AS_HELP_STRING([--with-preloaddir=DIR], [where the libraries for LD_PRELOAD go @<:@LIBDIR@:>@])],
    [], [with_preloaddir=yes])
  AS_CASE([$with_preloaddir],
    [yes], [preloaddir='${libdir}'],
    [/*], [preloaddir=$with_preloaddir],
    ['${'*], [preloaddir=$with_preloaddir],
    [AC_MSG_RESULT([failed])
     AC_MSG_ERROR([--with-preloaddir=$with_preloaddir is not an absolute folder name])])
  AC_SUBST([preloaddir])
  AC_MSG_RESULT([$preloaddir])
])
