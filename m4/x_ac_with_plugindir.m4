# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_plugindir.m4
#
# SYNOPSIS
#   X_AC_WITH_PLUGINDIR
#
# DESCRIPTION
#   "--with-plugindir=DIR" says where the SPANK plugin goes; LIBDIR/slurm by
#   default. Its line for plugstack.conf has the whole path, so
#   it need not be Slurm's own plugin folder.

AC_DEFUN([X_AC_WITH_PLUGINDIR], [
  AC_MSG_CHECKING([for plugindir])
  AC_ARG_WITH([plugindir],
    [AS_HELP_STRING([--with-plugindir=DIR], [where the SPANK plugin goes @<:@LIBDIR/slurm@:>@])],
    [], [with_plugindir=yes])
  AS_CASE([$with_plugindir],
    [yes], [plugindir='${libdir}/slurm'],
    [/*], [plugindir=$with_plugindir],
    ['${'*], [plugindir=$with_plugindir],
    [AC_MSG_RESULT([failed])
     AC_MSG_ERROR([--with-plugindir=$with_plugindir is not an absolute folder name])])
  AC_SUBST([plugindir])
  AC_MSG_RESULT([$plugindir])
])
