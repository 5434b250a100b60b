# SPDX-License-Identifier: BSD-3-Clause
# x_ac_summary.m4
#
# SYNOPSIS
#   X_AC_SUMMARY
#
# DESCRIPTION
#   Says at the end of configure what is going to be built, and for each part
#   that is missing what that costs and what to install. With --quiet, only what is
#   missing. The file left-out says it once more at the end of make install.

AC_DEFUN([X_AC_SUMMARY], [
  X_EXPAND([x_plugindir], [$plugindir])
  X_EXPAND([x_datadir], [$datadir])
  AS_IF([test "$have_slurm" = yes],
    [x_plugin="yes, for Slurm $SLURM_SERIES"
     x_plugin_why=],
    [x_plugin=no
     x_plugin_why="
      costs: srun --ddp. rollcall exec and the preload library work without it.
      cure:  install Slurm's headers (Debian: libslurm-dev, Red Hat: slurm-devel)
             or give --with-slurm=DIR, then run configure again."])
  AS_IF([test "$have_syscalls" = yes],
    [x_preload=yes],
    [x_preload="yes, without system calls
      costs: it sets the identity, but holds no master port and says no error.
             It can do both on x86_64, aarch64, ppc64le and riscv64."])
  AS_IF([test "$have_pmix" = yes],
    [x_pmix="yes, with the headers of PMIx $PMIX_VERSION"
     x_pmix_why=],
    [x_pmix=no
     x_pmix_why="
      costs: rollcall exec under prterun and prun, and under some layouts of Open MPI 5.
      cure:  install PMIx's headers (Debian: libpmix-dev, Red Hat: pmix-devel)
             or give --with-pmix=DIR, then run configure again."])
  AS_IF([test "$have_hwloc" = yes],
    [x_map="yes, with hwloc $HWLOC_VERSION"
     x_map_why=],
    [x_map=no
     AS_IF([test "$have_hwloc" = old], [x_map="no: hwloc $HWLOC_VERSION is older than 2.5"])
     x_map_why="
      costs: rollcall map.
      cure:  install hwloc 2.5 or later (Debian: libhwloc-dev, Red Hat: hwloc-devel)
             or give --with-hwloc=DIR, then run configure again."])
  AS_IF([test "$have_cmocka" = yes],
    [x_unit="yes, with cmocka $CMOCKA_VERSION"
     x_unit_why=],
    [x_unit=no
     x_unit_why="
      costs: make check.
      cure:  install cmocka (Debian: libcmocka-dev, Red Hat: libcmocka-devel)."])
  AS_ECHO_N(["${x_plugin_why:+
  plugin            no$x_plugin_why
}${x_pmix_why:+
  asking PMIx       no$x_pmix_why
}${x_map_why:+
  rollcall map      $x_map$x_map_why
}"]) > left-out
  AS_IF([test "$silent" = yes], [cat left-out], [AS_ECHO(["
rollcall $PACKAGE_VERSION

  plugin            $x_plugin$x_plugin_why
  preload library   $x_preload
  librollcall       yes
  command           yes
  asking PMIx       $x_pmix$x_pmix_why
  rollcall map      $x_map$x_map_why
  unit tests        $x_unit$x_unit_why

  compiler          $CC $CFLAGS${HOSTED_CFLAGS:+ ($HOSTED_CFLAGS for all but the preload library)}
  warnings          as errors: $enable_werror
  sanitizers        $enable_sanitizers
  prefix            $prefix
  plugin folder     $x_plugindir
  plugin line       $x_datadir/$PACKAGE/rollcall.conf
"])])
])
