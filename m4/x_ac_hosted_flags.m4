# SPDX-License-Identifier: BSD-3-Clause
# x_ac_hosted_flags.m4
#
# SYNOPSIS
#   X_AC_HOSTED_FLAGS
#
# DESCRIPTION
#   Distributions pass their hardening in CFLAGS and CPPFLAGS, which automake
#   puts last on every command line. The preload library is freestanding and
#   must not get those that need help from libc at run time (a fortified one
#   kills musl programs at load), so they are moved to HOSTED_CFLAGS, which
#   everything but the preload library is compiled with.

AC_DEFUN([X_AC_HOSTED_FLAGS], [
  HOSTED_CFLAGS=
  x_kept=
  for x_flag in $CFLAGS; do
    AS_CASE([$x_flag],
      [-fstack-protector*|-D_FORTIFY_SOURCE*|-U_FORTIFY_SOURCE|-Wp,*_FORTIFY_SOURCE*|-fsanitize*|-fno-sanitize*|--coverage|-fprofile*|-ftest-coverage|-pg|-flto*|-ffat-lto-objects|-fstack-clash-protection],
        [HOSTED_CFLAGS="$HOSTED_CFLAGS${HOSTED_CFLAGS:+ }$x_flag"],
      [x_kept="$x_kept${x_kept:+ }$x_flag"])
  done
  CFLAGS=$x_kept
  x_kept=
  for x_flag in $CPPFLAGS; do
    AS_CASE([$x_flag],
      [-D_FORTIFY_SOURCE*|-U_FORTIFY_SOURCE|-Wp,*_FORTIFY_SOURCE*|-D_GLIBC*],
        [HOSTED_CFLAGS="$HOSTED_CFLAGS${HOSTED_CFLAGS:+ }$x_flag"],
      [x_kept="$x_kept${x_kept:+ }$x_flag"])
  done
  CPPFLAGS=$x_kept
  AC_SUBST([HOSTED_CFLAGS])
])
