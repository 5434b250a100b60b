# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_hwloc.m4
#
# SYNOPSIS
#   X_AC_WITH_HWLOC
#
# DESCRIPTION
#   Looks for hwloc 2.5 or later, which rollcall-map alone links: without it
#   `rollcall map` says so, and the rest is built. Conditional: BUILD_PLACEMENT.

AC_DEFUN([X_AC_WITH_HWLOC], [
  X_AC_FIND_LIBRARY([hwloc], [hwloc], [hwloc.h], [hwloc_topology_load], [hwloc])
  AS_IF([test "$have_hwloc" = yes], [
    AC_MSG_CHECKING([for hwloc 2.5 or later])
    x_saved_CFLAGS=$CFLAGS
    CFLAGS="$HWLOC_CFLAGS $CFLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <hwloc.h>
#if HWLOC_API_VERSION < 0x00020500
#error too old
#endif]], [[]])], [], [have_hwloc=old])
    CFLAGS=$x_saved_CFLAGS
    AC_MSG_RESULT([$have_hwloc])
  ])
  AM_CONDITIONAL([BUILD_PLACEMENT], [test "$have_hwloc" = yes])
])
