# x_ac_with_pmix.m4
#
# SYNOPSIS
#   X_AC_WITH_PMIX
#
# DESCRIPTION
#   Looks for PMIx. Nothing links it in this release: what was found is shown
#   in the summary and by `rollcall --version`.

AC_DEFUN([X_AC_WITH_PMIX], [
  X_AC_FIND_LIBRARY([pmix], [pmix], [pmix.h], [PMIx_Init], [pmix])
])
