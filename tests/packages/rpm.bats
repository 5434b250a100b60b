#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What is in packaging/ for others than Debian, as far as it can be tried here.

load helper

version=$(cat "$(dirname "$BATS_TEST_FILENAME")/../../VERSION")

@test "rpmbuild makes the packages of a release, whose unit tests pass; the plugin's with its series" {
    make_release
    # not the build's dependencies, which are Debian's here
    rpm=(--nodeps --with check --define "_topdir $BATS_TEST_TMPDIR/rpm" --define 'python3_sitelib /usr/lib/python3/site-packages'
        --define "_smp_mflags -j$(nproc)")
    rpmbuild -tb "$release"/rollcall-*.tar.gz "${rpm[@]}" > "$BATS_TEST_TMPDIR/log" 2>&1 || {
        tail -n 40 "$BATS_TEST_TMPDIR/log"
        return 1
    }
    grep -qE '^# FAIL: +0$' "$BATS_TEST_TMPDIR/log"
    series=$(dpkg-query -W -f '${Version}' libslurm-dev | grep -oE '^[0-9]+\.[0-9]+')
    ls "$BATS_TEST_TMPDIR"/rpm/RPMS/*
    plugin=$(echo "$BATS_TEST_TMPDIR"/rpm/RPMS/*/slurm-spank-rollcall-"$version"-1.sl"${series/./}"*.rpm)
    run -0 rpm -qp --requires "$plugin"
    grep -q "^slurm.* >= $series\$" <<< "$output"
    grep -qE "^rollcall.* = $version\$" <<< "$output"
    [[ $(rpm -qp --conflicts "$plugin") == slurm*">= "* ]]
    # switched on by the administrator's own link, and so no configuration file
    [ -z "$(rpm -qpc "$plugin")" ]
    rpm -qpl "$plugin" | grep -qx /usr/share/rollcall/rollcall.conf
    # each file in one package
    [ -z "$(for one in "$BATS_TEST_TMPDIR"/rpm/RPMS/*/*.rpm; do
        case $one in *debuginfo* | *debugsource*) ;; *) rpm -qpl "$one" ;; esac; done |
        grep -vE '/licenses/|build-id' | sort | uniq -d)" ]
    for name in rollcall-libs-"$version" rollcall-devel python3-rollcall rollcall-"$version"; do
        compgen -G "$BATS_TEST_TMPDIR/rpm/RPMS/*/$name*.rpm"
    done
}

@test "what rollcall does without, but does less: RPM recommends it as Debian does" {
    run -0 rpmspec -q --without slurm --qf '%{NAME}:[ %{RECOMMENDNAME}]\n' "$top/packaging/rpm/rollcall.spec"
    grep -qx 'rollcall: pmix python3' <<< "$output"
    grep -qx 'Recommends: libpmix2t64 | libpmix2, python3' "$top/packaging/debian/control"
}

@test "rpmlint finds no error in the spec" {
    run rpmlint "$top/packaging/rpm/rollcall.spec"
    echo "$output"
    [[ $output == *' 1 specfiles checked'* ]]
    # a rule of Mandriva's, and a macro of theirs
    [ -z "$(grep -E ': E: ' <<< "$output" | grep -v 'lib-package-without-%mklibname')" ]
}
