#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages: built with their unit tests, and tried in clean root folders of three releases. Some minutes a
# release.

load helper
load ../pages

setup_file()
{
    make_release
}

teardown()
{
    cluster_down
}

identities='0 0 0 4 n1
1 1 0 4 n1
2 0 1 4 n2
3 1 1 4 n2'
print='echo "$RANK $LOCAL_RANK $NODE_RANK $WORLD_SIZE $(hostname)"'
all=(librollcall0 librollcall-dev rollcall slurm-wlm-rollcall python3-rollcall)

# built SERIES: by dpkg-buildpackage, with nothing for lintian to say
built()
{
    need_packages_of "$1"
    grep -vE '^N: ' "$debs/lintian" > "$BATS_TEST_TMPDIR/said" || true
    [ ! -s "$BATS_TEST_TMPDIR/said" ] || { cat "$BATS_TEST_TMPDIR/said"; return 1; }
    [[ $(dpkg-deb -f "$debs"/slurm-wlm-rollcall_*+slurm"$1"_*.deb Depends) == \
        *"slurm-wlm-basic-plugins (>= $1) | slurm-smd (>= $1), slurm-wlm-basic-plugins (<< "* ]]
    # the pages are as make install puts them
    dpkg-deb -c "$debs"/rollcall_*.deb | awk '{ print $6 }' > "$BATS_TEST_TMPDIR/files"
    for page in README.md docs/user.md docs/symptoms.md docs/jobs/before-after.md docs/before-after.svg; do
        grep -qx "./usr/share/doc/rollcall/$page" "$BATS_TEST_TMPDIR/files"
    done
    grep -qE '^\./usr/share/doc/rollcall/NEWS(\.gz)?$' "$BATS_TEST_TMPDIR/files"
}

# put_in FILE...: with nothing half done
put_in()
{
    inside "$root" dpkg -i "$@" > "$BATS_TEST_TMPDIR/dpkg" 2>&1 || { cat "$BATS_TEST_TMPDIR/dpkg"; return 1; }
    run -0 inside "$root" dpkg --audit
    [ -z "$output" ]
}

# quiet: srun has said nothing but that the nodes were still those of the last step
quiet()
{
    [ -z "$(grep -vxE 'srun: job [0-9]+ (queued and waiting for|has been allocated) resources' <<< "$stderr")" ]
}

# a step that does not say --ddp gets nothing, and hears nothing
unranked()
{
    run -0 --separate-stderr login srun -N2 -n2 sh -c 'echo "${RANK-none}"'
    [ "$output" = $'none\nnone' ]
    quiet
}

# srun --ddp, without a word
each_rank_once()
{
    run -0 --separate-stderr login srun -N2 --ntasks-per-node=2 --ddp sh -c "$print"
    [ "$(sort <<< "$output")" = "$identities" ]
    quiet
}

# used SERIES: installed, used, removed and purged
used()
{
    local packages before help
    need_packages_of "$1"
    need_clean "$1"
    before=$(listing)
    # Slurm runs already, and nobody restarts it
    cluster_up
    unranked
    help=$(login srun --help)

    # installing switches nothing on
    mapfile -t packages < <(deb rollcall slurm-wlm-rollcall)
    put_in "${packages[@]}"
    [ "$(login srun --help)" = "$help" ]
    # what packaging/README.md says, and no other step
    link=$(page_lines "$top/packaging/README.md" '## Debian' | grep '^ln -s ')
    inside "$root" sh -c "$link"
    each_rank_once
    [[ $(login srun --help) == *--ddp* ]]

    # the others, too
    mapfile -t packages < <(deb "${all[@]}")
    [ "${#packages[@]}" -eq 5 ]
    put_in "${packages[@]}"
    each_rank_once
    # each part finds the others
    run -0 login rollcall --version
    [[ $output == *"plugin: $(cat "$top/VERSION") for Slurm $1, /usr/lib/"* ]]
    run -0 login srun -N2 -n2 --ddp=watch,lookup=numeric sh -c 'echo "$PYTHONPATH $LD_PRELOAD"; ls -d "$PYTHONPATH" "$LD_PRELOAD"'
    [ "$(grep -cE '^/usr/share/rollcall/watch /usr/lib/[^/]*/rollcall/librollcall-lookup.so$' <<< "$output")" -eq 2 ]
    run -0 login srun -N2 -n2 --ddp python3 -c 'import rollcall; print(rollcall.identity().rank, rollcall.broadcast("x", b"y"))'
    [ "$(sort <<< "$output")" = "0 b'y'"$'\n'"1 b'y'" ]
    run -0 login srun -N2 --ntasks-per-node=2 sh -c "LD_PRELOAD=\$(echo /usr/lib/*/rollcall/librollcall-preload.so) sh -c '$print'"
    [ "$(sort <<< "$output")" = "$identities" ]
    # and who does not say it gets nothing
    unranked
    no_node_is_drained

    inside "$root" dpkg --remove "${all[@]}" > "$BATS_TEST_TMPDIR/dpkg" 2>&1
    unranked
    [ "$(login srun --help)" = "$help" ]
    run ! --separate-stderr login srun -N2 -n2 --ddp true
    [[ $stderr == *"unrecognized option '--ddp'"* ]]
    # the link leads to nothing, which Slurm passes over; with the package it is on again
    inside "$root" dpkg -i "${packages[@]}" > "$BATS_TEST_TMPDIR/dpkg" 2>&1
    each_rank_once
    rm "$root/etc/slurm/plugstack.conf.d/rollcall.conf"
    inside "$root" dpkg --purge "${all[@]}" > "$BATS_TEST_TMPDIR/dpkg" 2>&1
    unranked
    no_node_is_drained
    cluster_down
    unset MINICLUSTER_NAME
    run diff <(echo "$before") <(listing)
    echo "$output"
    [ -z "$output" ]
}

# as_a_reader_of_debian SERIES: debian/tests of the source package, as autopkgtest would run them, where the packages are
# installed and a compiler is. What they write is in memory.
as_a_reader_of_debian()
{
    need_packages_of "$1"
    root=$BATS_TEST_TMPDIR/root
    mkdir "$root" "$BATS_TEST_TMPDIR/upper"
    run env -i PATH="$system_path" HOME=/root LANG=C.UTF-8 unshare --mount --net --pid --fork --kill-child -- sh -ec '
        root=$1 below=$2 debs=$3 upper=$4 tests=$5
        mount -t tmpfs tmpfs "$upper"
        mkdir "$upper/up" "$upper/work"
        mount -t overlay overlay -o "lowerdir=$below,upperdir=$upper/up,workdir=$upper/work" "$root"
        ip link set lo up
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mkdir "$root/debs" "$root/autopkgtest"
        cp "$debs"/*.deb "$root/debs"
        cp -R "$tests" "$root/tests"
        chroot "$root" sh -ec "dpkg -i /debs/*.deb > /debs/log 2>&1 || { cat /debs/log; exit 1; }"
        for one in $(sed -n "s/^Tests: //p" "$tests/control"); do
            mkdir "$root/autopkgtest/$one"
            chroot "$root" env AUTOPKGTEST_TMP="/autopkgtest/$one" "/tests/$one"
            echo "passed: $one"
        done' - "$root" "$roots/build/$1" "$debs" "$BATS_TEST_TMPDIR/upper" "$top/packaging/debian/tests"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^passed: ' <<< "$output")" -eq 3 ]
}

# under_another SERIES OTHER: the plugin of SERIES under Slurm OTHER, as after an upgrade that dpkg was forced into
under_another()
{
    local packages
    need_packages_of "$1"
    need_clean "$2"
    mapfile -t packages < <(deb rollcall slurm-wlm-rollcall)
    # dpkg itself does not do that
    run ! inside "$root" dpkg -i "${packages[1]}"
    [[ $output == *"slurm-wlm-rollcall depends on slurm-wlm-basic-plugins (<< "* ]]
    inside "$root" dpkg -i --force-depends "${packages[@]}" > "$BATS_TEST_TMPDIR/dpkg" 2>&1
    ln -s /usr/share/rollcall/rollcall.conf "$root/etc/slurm/plugstack.conf.d/"
    cluster_up
    run -0 --separate-stderr login srun -N2 -n2 sh -c 'echo "${RANK-none}"'
    [ "$output" = $'none\nnone' ]
    # Slurm names the file and the series
    run --separate-stderr login srun -N2 -n2 --ddp true
    echo "$stderr"
    [ "$status" -ne 0 ]
    [[ $stderr == *"unrecognized option '--ddp'"* ]]
    grep -qiE 'incompatible.*(slurm|plugin)' <<< "$stderr"
    run -0 login sbatch --wait --wrap 'srun true'
    no_node_is_drained
    # and with the package of that series it is there again
    need_packages_of "$2"
    mapfile -t packages < <(deb rollcall slurm-wlm-rollcall)
    [ "${#packages[@]}" -eq 2 ]
    put_in "${packages[@]}"
    each_rank_once
}

@test "Debian 12, Slurm 22.05: built, lintian is content" {
    built 22.05
}

@test "Debian 12, Slurm 22.05: the source package's own tests pass with the packages as installed" {
    as_a_reader_of_debian 22.05
}

@test "Debian 12, Slurm 22.05: installed, srun --ddp works; removed, srun is as before; purged, nothing is left" {
    used 22.05
}

@test "Debian 13, Slurm 24.11: built, lintian is content" {
    built 24.11
}

@test "Debian 13, Slurm 24.11: the source package's own tests pass with the packages as installed" {
    as_a_reader_of_debian 24.11
}

@test "Debian 13, Slurm 24.11: installed, srun --ddp works; removed, srun is as before; purged, nothing is left" {
    used 24.11
}

@test "Debian testing, Slurm 26.05: built, lintian is content" {
    built 26.05
}

@test "Debian testing, Slurm 26.05: the source package's own tests pass with the packages as installed" {
    as_a_reader_of_debian 26.05
}

@test "Debian testing, Slurm 26.05: installed, srun --ddp works; removed, srun is as before; purged, nothing is left" {
    used 26.05
}

@test "Slurm is upgraded from 22.05 to 24.11 under the plugin: it is refused, jobs run, no node is drained; with its own package it works" {
    under_another 22.05 24.11
}

@test "Slurm is upgraded from 24.11 to 26.05 under the plugin: it is refused, jobs run, no node is drained; with its own package it works" {
    under_another 24.11 26.05
}
