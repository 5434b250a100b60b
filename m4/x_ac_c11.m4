# SPDX-License-Identifier: BSD-3-Clause
# x_ac_c11.m4
#
# SYNOPSIS
#   X_AC_C11
#
# DESCRIPTION
#   Stops with a remedy where the compiler knows no C11 (gcc before 8 knows it
#   in part only: it is refused as well, because nobody tests with it).

AC_DEFUN([X_AC_C11], [
  AC_MSG_CHECKING([whether $CC is gcc 8 or later, or clang])
  AC_COMPILE_IFELSE(
    [AC_LANG_SOURCE([[
#if !defined __clang__ && (!defined __GNUC__ || __GNUC__ < 8)
#error "too old"
#endif
#if !defined __STDC_VERSION__ || __STDC_VERSION__ < 201112L
#error "no C11"
#endif
_Static_assert(sizeof(char) == 1, "C11");
]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([rollcall needs C11 from gcc 8 or later, or clang: give one with CC=...])])
])
