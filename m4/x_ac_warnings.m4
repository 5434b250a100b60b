# SPDX-License-Identifier: BSD-3-Clause
# x_ac_warnings.m4
#
# SYNOPSIS
#   X_AC_WARNINGS
#
# DESCRIPTION
#   Sets WARN_CFLAGS. "--enable-werror" makes warnings errors; it is off by
#   default, so that a newer compiler cannot break a release.

AC_DEFUN([X_AC_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors (for developers)])],
    [], [enable_werror=no])
  WARN_CFLAGS=
  X_AC_CHECK_CFLAGS([WARN_CFLAGS], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes dnl
-Wconversion -Wformat=2 -Wvla -Wundef -Wcast-qual])
  AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])
