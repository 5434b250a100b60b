# SPDX-License-Identifier: BSD-3-Clause
# x_ac_sanitizers.m4
#
# SYNOPSIS
#   X_AC_SANITIZERS
#
# DESCRIPTION
#   "--enable-sanitizers[=LIST]" (default list: address,undefined) compiles
#   all but the preload library with them: that one has no run time to call,
#   and its sources are those of the core, which the unit tests cover.

AC_DEFUN([X_AC_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
                    [compile with these sanitizers @<:@address,undefined@:>@])],
    [], [enable_sanitizers=no])
  AS_IF([test "x$enable_sanitizers" = xyes], [enable_sanitizers=address,undefined])
  SANITIZER_FLAGS=
  AS_IF([test "x$enable_sanitizers" != xno], [
    SANITIZER_FLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
    AC_MSG_CHECKING([whether $CC links with -fsanitize=$enable_sanitizers])
    x_saved_CFLAGS=$CFLAGS
    CFLAGS="$SANITIZER_FLAGS $CFLAGS"
    AC_LINK_IFELSE(
      [AC_LANG_SOURCE([[int main(void) { return 0; }]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizers: install its run time or leave --enable-sanitizers out])])
    CFLAGS=$x_saved_CFLAGS
  ])
  AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" != xno])
  AC_SUBST([SANITIZER_FLAGS])
])
