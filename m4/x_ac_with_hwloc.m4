# x_ac_with_hwloc.m4
#
# SYNOPSIS
#   X_AC_WITH_HWLOC
#
# DESCRIPTION
#   Looks for hwloc. Nothing links it in this release: what was found is shown
#   in the summary and by `rollcall --version`.

AC_DEFUN([X_AC_WITH_HWLOC], [
  X_AC_FIND_LIBRARY([hwloc], [hwloc], [hwloc.h], [hwloc_topology_load], [hwloc])
])
