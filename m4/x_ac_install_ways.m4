# SPDX-License-Identifier: BSD-3-Clause
# x_ac_install_ways.m4
#
# SYNOPSIS
#   X_AC_INSTALL_WAYS
#
# DESCRIPTION
#   Defines the ways from one installed folder to another that programs and
#   libraries need at run time, so that an installed tree can be moved:
#   ROLLCALL_LIBEXEC_FROM_BIN, _FROM_LIB and _FROM_PLUGIN to rollcall-exchange
#   and rollcall-pmix, ROLLCALL_WATCH_FROM_BIN, _FROM_LIB, _FROM_PLUGIN and
#   _FROM_PRELOAD to the folder of the watch, and ROLLCALL_PRELOAD_FROM_BIN,
#   _FROM_LIB, _FROM_PLUGIN and _FROM_PRELOAD to that of the libraries for
#   LD_PRELOAD. Substitutes library_from_python, the way from the Python module to
#   the libraries. Requires plugindir and preloaddir.

# X_EXPAND(VARIABLE, FOLDER): the folder without make variables; prefix and exec_prefix are set
AC_DEFUN([X_EXPAND], [
  $1=$2
  for x_round in 1 2 3; do
    eval "$1=\"$$1\""
  done
])

# X_WAY(VARIABLE, FROM, TO): "../share/x" of two folders with make variables
AC_DEFUN([X_WAY], [
  X_EXPAND([x_from], [$2])
  X_EXPAND([x_to], [$3])
  x_up=
  while test "x$x_from" != x && test "x$x_from" != x/ && test "x${x_to#"$x_from"/}" = "x$x_to"; do
    x_from=`AS_DIRNAME(["$x_from"])`
    x_up=../$x_up
  done
  $1="$x_up${x_to#"${x_from%/}"/}"
])

AC_DEFUN([X_AC_INSTALL_WAYS], [
  x_prefix=$prefix
  x_exec_prefix=$exec_prefix
  AS_IF([test "x$prefix" = xNONE], [prefix=$ac_default_prefix])
  AS_IF([test "x$exec_prefix" = xNONE], [exec_prefix=$prefix])
  X_WAY([x_libexec_from_bin], [$bindir], [$libexecdir/$PACKAGE])
  X_WAY([x_libexec_from_lib], [$libdir], [$libexecdir/$PACKAGE])
  X_WAY([x_libexec_from_plugin], [$plugindir], [$libexecdir/$PACKAGE])
  X_WAY([x_watch_from_bin], [$bindir], [$datadir/$PACKAGE/watch])
  X_WAY([x_watch_from_lib], [$libdir], [$datadir/$PACKAGE/watch])
  X_WAY([x_watch_from_plugin], [$plugindir], [$datadir/$PACKAGE/watch])
  X_WAY([library_from_python], [$datadir/$PACKAGE/python/rollcall], [$libdir])
  AC_SUBST([library_from_python])
  X_WAY([x_watch_from_preload], [$preloaddir], [$datadir/$PACKAGE/watch])
  X_WAY([x_preload_from_bin], [$bindir], [$preloaddir])
  X_WAY([x_preload_from_lib], [$libdir], [$preloaddir])
  X_WAY([x_preload_from_plugin], [$plugindir], [$preloaddir])
  X_WAY([x_preload_from_preload], [$preloaddir], [$preloaddir])
  prefix=$x_prefix
  exec_prefix=$x_exec_prefix
  AC_DEFINE_UNQUOTED([ROLLCALL_LIBEXEC_FROM_BIN], ["$x_libexec_from_bin"],
    [where our own programs are, from the folder of the command])
  AC_DEFINE_UNQUOTED([ROLLCALL_LIBEXEC_FROM_LIB], ["$x_libexec_from_lib"],
    [where our own programs are, from the folder of the libraries])
  AC_DEFINE_UNQUOTED([ROLLCALL_LIBEXEC_FROM_PLUGIN], ["$x_libexec_from_plugin"],
    [where our own programs are, from the folder of the plugin])
  AC_DEFINE_UNQUOTED([ROLLCALL_WATCH_FROM_BIN], ["$x_watch_from_bin"],
    [where the watch is, from the folder of the command])
  AC_DEFINE_UNQUOTED([ROLLCALL_WATCH_FROM_LIB], ["$x_watch_from_lib"],
    [where the watch is, from the folder of the libraries])
  AC_DEFINE_UNQUOTED([ROLLCALL_WATCH_FROM_PLUGIN], ["$x_watch_from_plugin"],
    [where the watch is, from the folder of the plugin])
  AC_DEFINE_UNQUOTED([ROLLCALL_WATCH_FROM_PRELOAD], ["$x_watch_from_preload"],
    [where the watch is, from the folder of the libraries for LD_PRELOAD])
  AC_DEFINE_UNQUOTED([ROLLCALL_PRELOAD_FROM_BIN], ["$x_preload_from_bin"],
    [where the libraries for LD_PRELOAD are, from the folder of the command])
  AC_DEFINE_UNQUOTED([ROLLCALL_PRELOAD_FROM_LIB], ["$x_preload_from_lib"],
    [where the libraries for LD_PRELOAD are, from the folder of the libraries])
  AC_DEFINE_UNQUOTED([ROLLCALL_PRELOAD_FROM_PLUGIN], ["$x_preload_from_plugin"],
    [where the libraries for LD_PRELOAD are, from the folder of the plugin])
  AC_DEFINE_UNQUOTED([ROLLCALL_PRELOAD_FROM_PRELOAD], ["$x_preload_from_preload"],
    [where the libraries for LD_PRELOAD are, from their own folder])
])
