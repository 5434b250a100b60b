#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of EasyBuild and Spack build the release from a local file. EasyBuild itself does; Spack is in no package
# index, so a stand-in for the module spack.package reads its recipe, and configure gets what that returns.

load helper

setup_file()
{
    make_release
}

# works PREFIX: what was installed there runs
works()
{
    env -i PATH="$1/bin:$PATH" rollcall --version | grep -F "$(cat "$top/VERSION")"
    [ -f "$1/lib/librollcall-preload.so" ]
}

@test "EasyBuild: eb with the release as a local file -> a module that loads, and the command runs" {
    need_easybuild || skip 'no EasyBuild from the package index'
    modulecmd=$(command -v modulecmd.tcl || echo /usr/lib/x86_64-linux-gnu/modulecmd.tcl)
    [ -e "$modulecmd" ] || skip 'there is no modulecmd.tcl'
    cd "$BATS_TEST_TMPDIR"
    bin=$top/build/easybuild/bin
    # the place that EasyBuild looks at; Debian has another
    mkdir -p home/libexec
    ln -s "$modulecmd" home/libexec/modulecmd.tcl
    run env -i HOME="$BATS_TEST_TMPDIR" MODULESHOME="$BATS_TEST_TMPDIR/home" PATH="$bin:$PATH" LANG=C.UTF-8 \
        TMPDIR="$BATS_TEST_TMPDIR" \
        "$bin/eb" "$top/packaging/easybuild/rollcall-$(cat "$top/VERSION").eb" --sourcepath="$release" \
        --prefix="$BATS_TEST_TMPDIR/eb" --modules-tool=EnvironmentModules --module-syntax=Tcl --parallel="$(nproc)" \
        --disable-mpi-tests --allow-modules-tool-mismatch --allow-use-as-root-and-accept-consequences
    echo "$output"
    [ "$status" -eq 0 ]
    works "$BATS_TEST_TMPDIR/eb/software/rollcall/$(cat "$top/VERSION")"
    grep -q PYTHONPATH "$BATS_TEST_TMPDIR/eb/modules/all/rollcall/$(cat "$top/VERSION")"
}

# recipe PART...: the arguments of configure for a spec with these parts, each in /usr
recipe()
{
    python3 - "$top/packaging/spack/package.py" "$@" << 'END'
import sys, types

class Package:
    def __init__(self, *parts):
        self.spec = type("Spec", (dict,), {"satisfies": lambda self, part: part[1:] in self})(
            {part: types.SimpleNamespace(prefix="/usr") for part in parts})

module = types.ModuleType("spack.package")
module.AutotoolsPackage = Package
for name in ("license", "version", "variant", "depends_on"):
    setattr(module, name, lambda *_, **__: None)
sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": module})
scope = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), scope)
print(*scope["Rollcall"](*sys.argv[2:]).configure_args())
END
}

@test "Spack: the recipe's arguments of configure, with all parts and with none -> the release builds" {
    [ "$(recipe slurm pmix hwloc)" = '--with-slurm=/usr --with-pmix=/usr --with-hwloc=/usr' ]
    [ "$(recipe)" = '--without-slurm --without-pmix --without-hwloc' ]
    for parts in 'slurm pmix hwloc' ''; do
        build=$BATS_TEST_TMPDIR/${parts:+all}build
        mkdir "$build"
        tar -xzf "$release"/rollcall-*.tar.gz --strip-components=1 -C "$build"
        # shellcheck disable=SC2046,SC2086 # words
        (cd "$build" && ./configure --quiet --prefix="$build/prefix" $(recipe $parts)) 2>&1
        [ -z "$parts" ] || grep -q 'BUILD_PLUGIN\|SLURM_SERIES' "$build/lib/config.h"
        make -s -C "$build" -j"$(nproc)" install > "$build.log" 2>&1 || { tail -n 20 "$build.log"; return 1; }
        works "$build/prefix"
    done
}
