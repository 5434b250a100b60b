# SPDX-License-Identifier: BSD-3-Clause
# x_ac_hardening.m4
#
# SYNOPSIS
#   X_AC_HARDENING
#
# DESCRIPTION
#   Sets HARDEN_CFLAGS and HARDEN_LDFLAGS for the plugin, the library and the
#   command, PIE_CFLAGS and PIE_LDFLAGS for the command alone, and
#   SHIM_LDFLAGS for the preload library, which takes only what the linker
#   does. "--disable-hardening" leaves it to CFLAGS and LDFLAGS. Fortifying
#   needs an optimising compiler and is in the way of the sanitizers.

AC_DEFUN([X_AC_HARDENING], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening], [leave hardening flags to CFLAGS and LDFLAGS])],
    [], [enable_hardening=yes])
  HARDEN_CFLAGS=
  HARDEN_LDFLAGS=
  PIE_CFLAGS=
  PIE_LDFLAGS=
  SHIM_LDFLAGS=
  X_AC_CHECK_LDFLAGS([SHIM_LDFLAGS], [-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack])
  AS_IF([test "x$enable_hardening" = xyes], [
    HARDEN_LDFLAGS=$SHIM_LDFLAGS
    X_AC_CHECK_CFLAGS([PIE_CFLAGS], [-fPIE])
    X_AC_CHECK_LDFLAGS([PIE_LDFLAGS], [-pie])
    AS_IF([test "x$enable_sanitizers" = xno], [
      X_AC_CHECK_CFLAGS([HARDEN_CFLAGS], [-fstack-protector-strong -fstack-clash-protection])
      AS_CASE([" $CFLAGS "],
        [*" -O0 "*|*" -Og "*], [],
        [*" -O"*], [
          AC_MSG_CHECKING([how far _FORTIFY_SOURCE goes])
          x_found=no
          for x_level in 3 2; do
            x_saved_CFLAGS=$CFLAGS
            CFLAGS="-Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$x_level $CFLAGS"
            AC_COMPILE_IFELSE(
              [AC_LANG_PROGRAM([[#include <string.h>
#include <stdio.h>]], [[char a[8]; memset(a, 0, sizeof a); return puts(a);]])],
              [x_found=$x_level])
            CFLAGS=$x_saved_CFLAGS
            test "$x_found" = no || break
          done
          AC_MSG_RESULT([$x_found])
          AS_IF([test "$x_found" != no],
                [HARDEN_CFLAGS="$HARDEN_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$x_found"])
        ])
    ])
  ])
  AC_SUBST([HARDEN_CFLAGS])
  AC_SUBST([HARDEN_LDFLAGS])
  AC_SUBST([PIE_CFLAGS])
  AC_SUBST([PIE_LDFLAGS])
  AC_SUBST([SHIM_LDFLAGS])
])
