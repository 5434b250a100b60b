# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of rollcall, for a repository of your own: packages/rollcall/package.py."""
import os

from spack.package import *


class Rollcall(AutotoolsPackage):
    """One consistent identity for every process of a distributed PyTorch job."""

    # `make dist` makes the release: put it into the folder in which you type `spack install --no-checksum rollcall`.
    manual_download = True
    url = f"file://{os.getcwd()}/rollcall-0.9.0.tar.gz"

    license("BSD-3-Clause")

    version("0.9.0")

    variant("slurm", default=True, description="Build the Slurm plugin, srun --ddp")
    variant("pmix", default=True, description="Read a launcher's PMIx server")
    variant("hwloc", default=True, description="Build rollcall map, and bind to cores")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("slurm@22.05:", when="+slurm")
    depends_on("pmix@4:", when="+pmix")
    depends_on("hwloc@2.5:", when="+hwloc")

    def configure_args(self):
        args = []
        for part in ("slurm", "pmix", "hwloc"):
            found = self.spec.satisfies(f"+{part}")
            args.append(f"--with-{part}={self.spec[part].prefix}" if found else f"--without-{part}")
        return args
