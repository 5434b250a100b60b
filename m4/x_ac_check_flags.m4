# SPDX-License-Identifier: BSD-3-Clause
# x_ac_check_flags.m4
#
# SYNOPSIS
#   X_AC_CHECK_CFLAGS(VARIABLE, FLAG...)
#   X_AC_CHECK_LDFLAGS(VARIABLE, FLAG...)
#
# DESCRIPTION
#   Appends each flag of a blank-separated list to VARIABLE that the compiler
#   (or the linker) takes without a warning. A flag is tried with what
#   VARIABLE holds already, as some depend on one another.

AC_DEFUN([X_AC_CHECK_CFLAGS], [
  for x_flag in $2; do
    AC_MSG_CHECKING([whether $CC takes $x_flag])
    x_saved_CFLAGS=$CFLAGS
    CFLAGS="-Werror $$1 $x_flag $CFLAGS"
    AC_COMPILE_IFELSE(
      [AC_LANG_SOURCE([[int nothing; int main(void) { return nothing; }]])],
      [AC_MSG_RESULT([yes])
       $1="$$1${$1:+ }$x_flag"],
      [AC_MSG_RESULT([no])])
    CFLAGS=$x_saved_CFLAGS
  done
])

AC_DEFUN([X_AC_CHECK_LDFLAGS], [
  for x_flag in $2; do
    AC_MSG_CHECKING([whether the linker takes $x_flag])
    x_saved_LDFLAGS=$LDFLAGS
    LDFLAGS="$$1 $x_flag $LDFLAGS"
    AC_LINK_IFELSE(
      [AC_LANG_SOURCE([[int main(void) { return 0; }]])],
      [AC_MSG_RESULT([yes])
       $1="$$1${$1:+ }$x_flag"],
      [AC_MSG_RESULT([no])])
    LDFLAGS=$x_saved_LDFLAGS
  done
])
