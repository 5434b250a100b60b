# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_cmocka.m4
#
# SYNOPSIS
#   X_AC_WITH_CMOCKA
#
# DESCRIPTION
#   Looks for cmocka, which runs the unit tests; without it `make check` says
#   what to install. Conditional: BUILD_UNIT_TESTS.

AC_DEFUN([X_AC_WITH_CMOCKA], [
  X_AC_FIND_LIBRARY([cmocka], [cmocka], [cmocka.h], [_cmocka_run_group_tests], [cmocka])
  AM_CONDITIONAL([BUILD_UNIT_TESTS], [test "$have_cmocka" = yes])
])
