# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_slurm.m4
#
# SYNOPSIS
#   X_AC_WITH_SLURM
#
# DESCRIPTION
#   Looks for slurm/spank.h: in DIR/include or DIR with "--with-slurm=DIR" (not
#   there is an error), else beside the srun in PATH, where the compiler looks
#   and in the usual places. Headers of another series than that srun are an
#   error. Sets SLURM_CPPFLAGS and defines SLURM_SERIES, the
#   "22.05" of slurm/slurm_version.h: Slurm loads a plugin only into the series
#   that it was built for. Conditional: BUILD_PLUGIN.

AC_DEFUN([X_AC_WITH_SLURM], [
  AC_ARG_WITH([slurm],
    [AS_HELP_STRING([--with-slurm=DIR], [where Slurm is installed (DIR/include/slurm/spank.h)])],
    [], [with_slurm=check])
  have_slurm=no
  SLURM_CPPFLAGS=
  SLURM_SERIES=
  AS_IF([test "x$with_slurm" != xno], [
    AS_CASE([$with_slurm],
      [check|yes], [
        x_srun=`command -v srun 2>/dev/null`
        x_places="default /usr/local/include /opt/slurm/include /usr/local/slurm/include"
        dnl the compiler has /usr/include, where another series may lie
        AS_IF([test "x$x_srun" != x && test "$x_srun" != /usr/bin/srun], [x_places="${x_srun%/bin/srun}/include $x_places"])
        dnl what lies about on this machine is not for another one
        AS_IF([test "x$cross_compiling" = xyes], [x_places=default])],
      [x_places="$with_slurm/include $with_slurm"])
    AC_MSG_CHECKING([for slurm/spank.h])
    x_saved_CPPFLAGS=$CPPFLAGS
    for x_place in $x_places; do
      x_flags=
      AS_IF([test "$x_place" != default], [
        test -f "$x_place/slurm/spank.h" || continue
        x_flags="-isystem $x_place"])
      CPPFLAGS="$x_flags $x_saved_CPPFLAGS"
      dnl spank.h of 22.05 uses the types of stdint.h without including it
      AC_COMPILE_IFELSE(
        [AC_LANG_PROGRAM([[#include <stdint.h>
#include <sys/types.h>
#include <slurm/spank.h>]], [[(void)spank_context();]])],
        [have_slurm=yes
         SLURM_CPPFLAGS=$x_flags])
      test "$have_slurm" = no || break
    done
    AS_IF([test "$have_slurm" = yes],
          [AC_MSG_RESULT([${SLURM_CPPFLAGS:-yes}])],
          [AC_MSG_RESULT([no])])
    AS_IF([test "$have_slurm" = yes], [
      CPPFLAGS="$SLURM_CPPFLAGS $x_saved_CPPFLAGS"
      AC_MSG_CHECKING([for the Slurm series])
      AC_COMPUTE_INT([x_number], [SLURM_VERSION_NUMBER >> 8], [[#include <slurm/slurm_version.h>]],
        [AC_MSG_ERROR([slurm/slurm_version.h has no SLURM_VERSION_NUMBER: the headers are not complete])])
      SLURM_SERIES=`printf '%d.%02d' $((x_number / 256)) $((x_number % 256))`
      AC_MSG_RESULT([$SLURM_SERIES])
      AS_CASE([$with_slurm/$cross_compiling], [check/no|yes/no], [
        x_runs=`srun --version 2>/dev/null | sed -n 's/^[[^ ]]* \([[0-9]]*\.[[0-9]]*\).*/\1/p'`
        AS_IF([test "x$x_runs" != x && test "x$x_runs" != "x$SLURM_SERIES"], [
          AC_MSG_ERROR([the headers found are of Slurm $SLURM_SERIES, and srun in PATH is $x_runs: install the headers of $x_runs, or name the right ones with --with-slurm=DIR])])])
    ], [test "x$with_slurm" != xcheck], [
      AC_MSG_ERROR([--with-slurm=$with_slurm was given, but there is no usable slurm/spank.h: looked in $x_places])
    ])
    CPPFLAGS=$x_saved_CPPFLAGS
  ])
  AC_DEFINE_UNQUOTED([SLURM_SERIES], ["$SLURM_SERIES"],
    [Slurm series of the headers that the plugin is built with; "" without])
  AC_SUBST([SLURM_CPPFLAGS])
  AC_SUBST([SLURM_SERIES])
  AM_CONDITIONAL([BUILD_PLUGIN], [test "$have_slurm" = yes])
])
