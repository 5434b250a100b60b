# rollcall for Spack: as packages/rollcall/package.py of a repository of your own (`spack repo create`). The release
# lies in the folder in which `spack install --no-checksum rollcall` is typed, or in a mirror; put its sha256 behind
# the version and leave that option out.

import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    # before Spack 1.0 that came with spack.package
    pass


class Rollcall(AutotoolsPackage):
    """One identity for every process of a distributed PyTorch job, below Python: a command, a library for C, C++ and
    Python, a library for LD_PRELOAD, and a plugin for Slurm."""

    homepage = "https://example.org/rollcall"
    url = "file://{0}/rollcall-0.9.0.tar.gz".format(os.getcwd())
    manual_download = True

    license("BSD-3-Clause")

    version("0.9.0")

    variant("slurm", default=False, description="The Slurm plugin, for the series of that Slurm")
    variant("map", default=True, description="rollcall map")
    variant("pmix", default=True, description="Ask the PMIx server of a launcher")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson@2.9:")
    depends_on("hwloc@2.5:", when="+map")
    # headers alone: the launcher's own library is loaded when it is asked
    depends_on("pmix@3:", type="build", when="+pmix")
    # a plugin fits one series; an external Slurm is the one that runs
    depends_on("slurm", when="+slurm")
    # the module, and the doctor's reader of scripts
    depends_on("python@3.8:", type="run")
    depends_on("cmocka", type="test")

    def configure_args(self):
        args = ["--with-preloaddir={0}".format(self.prefix.lib)]
        args += ["--with-slurm={0}".format(self.spec["slurm"].prefix)] if "+slurm" in self.spec else ["--without-slurm"]
        args += ["--with-hwloc={0}".format(self.spec["hwloc"].prefix)] if "+map" in self.spec else ["--without-hwloc"]
        args += ["--with-pmix={0}".format(self.spec["pmix"].prefix)] if "+pmix" in self.spec else ["--without-pmix"]
        return args

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", self.prefix.share.rollcall.python)
