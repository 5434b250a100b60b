# SPDX-License-Identifier: BSD-3-Clause
# x_ac_freestanding.m4
#
# SYNOPSIS
#   X_AC_FREESTANDING
#
# DESCRIPTION
#   Sets CORE_CFLAGS, with which the core is compiled wherever it goes, and
#   SHIM_CFLAGS, what the preload library needs on top: nothing in it may make
#   the compiler call into a libc, as the program may have another one or none.
#   SHIM_MAPPING puts code and constants into one mapping, which is lld's habit anyway.
#   Loops that fill memory must not become calls of memset either. Sets
#   have_syscalls: whether lib/system/sys.h has this machine's instruction.

AC_DEFUN([X_AC_FREESTANDING], [
  CORE_CFLAGS="-std=c11 -ffreestanding -fno-builtin -fvisibility=hidden"
  X_AC_CHECK_CFLAGS([CORE_CFLAGS], [-fno-tree-loop-distribute-patterns])
  SHIM_CFLAGS=
  X_AC_CHECK_CFLAGS([SHIM_CFLAGS], [-O2 -fPIC -fno-stack-protector -fno-stack-clash-protection dnl
-U_FORTIFY_SOURCE -fno-sanitize=all -fno-lto -fno-exceptions -fno-asynchronous-unwind-tables dnl
-fno-unwind-tables])
  SHIM_MAPPING=
  X_AC_CHECK_LDFLAGS([SHIM_MAPPING], [-Wl,-z,noseparate-code])
  AC_SUBST([SHIM_MAPPING])
  AC_MSG_CHECKING([whether the preload library can make system calls])
  AC_COMPILE_IFELSE(
    [AC_LANG_SOURCE([[#define ROLLCALL_RAW_SYSCALLS 1
#include "$srcdir/lib/system/sys.h"
#ifdef RC_NO_SYSCALLS
#error "none"
#endif
]])],
    [have_syscalls=yes], [have_syscalls=no])
  AC_MSG_RESULT([$have_syscalls])
  AC_SUBST([CORE_CFLAGS])
  AC_SUBST([SHIM_CFLAGS])
])
