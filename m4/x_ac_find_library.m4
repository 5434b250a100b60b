# SPDX-License-Identifier: BSD-3-Clause
# x_ac_find_library.m4
#
# SYNOPSIS
#   X_AC_FIND_LIBRARY(NAME, PC-MODULE, HEADER, FUNCTION, LIBRARY)
#
# DESCRIPTION
#   Adds "--with-NAME=DIR" and looks for a library: in DIR if given, which is
#   then an error where it is not there, else with pkg-config, else where the
#   compiler looks. What is linked with one in DIR finds it there when it starts. Sets have_NAME, NAME_VERSION, NAME_CFLAGS and NAME_LIBS
#   (upper case, substituted) and defines NAME_VERSION, "" if not found and
#   "unknown" if found without pkg-config.

AC_DEFUN([X_AC_FIND_LIBRARY], [
  m4_pushdef([x_NAME], m4_toupper([$1]))
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=DIR], [where $1 is installed (DIR/include/$3)])],
    [], [with_$1=check])
  have_$1=no
  x_NAME[]_VERSION=
  x_NAME[]_CFLAGS=
  x_NAME[]_LIBS=
  AS_IF([test "x$with_$1" != xno], [
    AC_MSG_CHECKING([for $1])
    x_pc_path=
    AS_CASE([$with_$1],
      [check|yes], [x_dir=],
      [x_dir=$with_$1
       for x_lib in "$x_dir"/lib "$x_dir"/lib64 "$x_dir"/lib/*/; do
         AS_IF([test -f "$x_lib/pkgconfig/$2.pc"], [x_pc_path="$x_lib/pkgconfig"])
       done])
    AS_IF([test "x$PKG_CONFIG" = x || { test "x$x_dir" != x && test "x$x_pc_path" = x; }], [],
      [x_version=`PKG_CONFIG_PATH="$x_pc_path:$PKG_CONFIG_PATH" $PKG_CONFIG --modversion $2 2>/dev/null`], [
        x_NAME[]_VERSION=$x_version
        x_NAME[]_CFLAGS=`PKG_CONFIG_PATH="$x_pc_path:$PKG_CONFIG_PATH" $PKG_CONFIG --cflags $2`
        x_NAME[]_LIBS=`PKG_CONFIG_PATH="$x_pc_path:$PKG_CONFIG_PATH" $PKG_CONFIG --libs $2`])
    AS_IF([test "x$x_NAME[]_VERSION" = x], [
      x_NAME[]_LIBS=-l$5
      AS_IF([test "x$x_dir" != x], [
        x_NAME[]_CFLAGS="-isystem $x_dir/include"
        x_NAME[]_LIBS="-L$x_dir/lib -l$5"
        AS_IF([test ! -f "$x_dir/include/$3"], [x_NAME[]_LIBS=-lthere-is-no-such-library])])])
    AS_CASE([$x_dir], [''|/usr], [],
      [AS_IF([test "x$x_pc_path" = x], [x_pc_path=$x_dir/lib/pkgconfig])
       x_NAME[]_LIBS="$x_NAME[]_LIBS -Wl,-rpath,${x_pc_path%/pkgconfig}"])
    dnl A module without its library or header is as good as none.
    x_saved_CFLAGS=$CFLAGS
    x_saved_LIBS=$LIBS
    CFLAGS="$x_NAME[]_CFLAGS $CFLAGS"
    LIBS="$x_NAME[]_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <$3>]], [[return &$4 == NULL;]])],
      [have_$1=yes
       AS_IF([test "x$x_NAME[]_VERSION" = x], [x_NAME[]_VERSION=unknown])],
      [x_NAME[]_VERSION=
       x_NAME[]_CFLAGS=
       x_NAME[]_LIBS=])
    CFLAGS=$x_saved_CFLAGS
    LIBS=$x_saved_LIBS
    AC_MSG_RESULT([$have_$1 $x_NAME[]_VERSION])
    AS_IF([test "$have_$1" = no && test "x$with_$1" != xcheck],
      [AC_MSG_ERROR([--with-$1=$with_$1 was given, but no usable $1 is there (wanted $3 and lib$5)])])
  ])
  AC_SUBST(x_NAME[_VERSION])
  AC_SUBST(x_NAME[_CFLAGS])
  AC_SUBST(x_NAME[_LIBS])
  AC_DEFINE_UNQUOTED(x_NAME[_VERSION], ["$]x_NAME[_VERSION"],
    [version of $1 that configure found; "" if none])
  m4_popdef([x_NAME])
])
