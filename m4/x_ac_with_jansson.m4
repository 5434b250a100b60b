# SPDX-License-Identifier: BSD-3-Clause
# x_ac_with_jansson.m4
#
# SYNOPSIS
#   X_AC_WITH_JANSSON
#
# DESCRIPTION
#   Looks for jansson, which writes the --json of the rollcall command: without
#   it the command has no such option. Conditional: HAVE_JANSSON.

AC_DEFUN([X_AC_WITH_JANSSON], [
  X_AC_FIND_LIBRARY([jansson], [jansson], [jansson.h], [json_object], [jansson])
  AM_CONDITIONAL([HAVE_JANSSON], [test "$have_jansson" = yes])
])
