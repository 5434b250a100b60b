#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The binary wheels (packaging/build-wheels): what they want of glibc, and what a user has of them in root folders that
# have Python and Open MPI and have never seen a compiler. tests/cli/python.bats has a wheel of this machine's own build.

load helper

session=$BATS_TEST_DIRNAME/wheel-session
# what a user's machine has
has=(python3 python3-venv openmpi-bin iproute2)

# As docs/user.md has it typed. The tools, 450 MB of them, and what zig has compiled are kept in build/wheels.
setup_file()
{
    local typed source=$BATS_FILE_TMPDIR/source
    export wheels=$source/dist
    typed=$(sed -n 's/^    \(.* make wheels\)$/\1/p' "$top/docs/user.md")
    [ -n "$typed" ]
    mkdir -p "$top/build/wheels"
    (copy_sources "$source" && cd "$source" && ln -s "$top/build/wheels" wheels && eval "$typed") \
        > "$BATS_FILE_TMPDIR/log" 2>&1 || {
        cat "$BATS_FILE_TMPDIR/log" >&2
        return 1
    }
}

# in_folder CMD...: in $root, with the wheels in /mnt; what is written is in memory. In a user namespace, whose kernel
# has a table of its own of who runs what (binfmt_misc, from Linux 6.7 on), with $qemu for aarch64, if that is set.
in_folder()
{
    env -i PATH="$system_path" LANG=C.UTF-8 unshare --user --map-root-user --mount --pid --net --fork --kill-child -- sh -ec '
        root=$1 wheels=$2 session=$3 qemu=$4
        [ -z "$qemu" ] || {
            mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
            magic="\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00"
            mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff"
            echo ":aarch64:M::$magic:$mask:$qemu:F" > /proc/sys/fs/binfmt_misc/register
        }
        ip link set lo up
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/tmp"
        mount --bind "$wheels" "$root/mnt"
        cp "$session" "$root/tmp/session"
        shift 4
        exec chroot "$root" "$@"' - "$root" "$wheels" "$session" "${qemu:-}" "$@"
}

# used SUITE[:ARCHITECTURE]
used()
{
    MINICLUSTER_ROOTS=$roots/wheels "$make_root" --plain "$1" "${has[@]}" > "$BATS_TEST_TMPDIR/make-root" 2>&1 ||
        { cat "$BATS_TEST_TMPDIR/make-root"; return 1; }
    root=$roots/wheels/${1/:/-}
    [ ! -e "$root/usr/bin/gcc" ]
    run -0 in_folder sh /tmp/session /mnt
    echo "$output"
    said=$(sed 's/, [^ ,:]*:port$/, HOST:port/' <<< "$output" | LC_ALL=C sort)
    [ "$said" = "/tmp/venv/share/rollcall/watch/rollcall_watch.py
/tmp/venv/share/rollcall/watch/rollcall_watch.py
doctor: error D401
doctor: of this machine
exec: 0 of 2, 0, HOST:port
exec: 1 of 2, 1, HOST:port
preload: 0 of 2, 0
preload: 1 of 2, 1
python: 0 of 2 yes
python: 1 of 2 yes
rollcall $(cat "$top/VERSION")" ]
}

# The objects of each wheel, as they are for each of both machines.
unpacked()
{
    local wheel
    for wheel in "$wheels"/*.whl; do
        [ -d "${wheel%.whl}" ] || python3 -m zipfile -e "$wheel" "${wheel%.whl}"
    done
    mapfile -t objects < <(find "$wheels" -type f ! -name '*.whl' -exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; -print)
    [ "${#objects[@]}" -eq 12 ]
}

@test "one wheel a machine, with the same files, and nothing of the folders that they were built in" {
    version=$(cat "$top/VERSION")
    unpacked
    for machine in x86_64 aarch64; do
        folder=$wheels/rollcall_ddp-$version-py3-none-manylinux_2_17_$machine.manylinux2014_$machine
        (cd "$folder" && find . -type f | LC_ALL=C sort) > "$BATS_TEST_TMPDIR/$machine"
        for name in scripts/rollcall data/libexec/rollcall/rollcall-exchange data/lib/librollcall-preload.so \
            data/lib/librollcall-pins.so data/lib/librollcall-lookup.so data/lib/librollcall.so.0 data/include/rollcall.h \
            data/share/rollcall/watch/rollcall_watch.py data/libexec/rollcall/doctor/main.py; do
            grep -qx "./rollcall_ddp-$version.data/$name" "$BATS_TEST_TMPDIR/$machine" || { echo "no $name"; return 1; }
        done
        run grep -rlF -e "$top" -e /PREFIX "$folder"
        [ -z "$output" ]
    done
    cmp "$BATS_TEST_TMPDIR/x86_64" "$BATS_TEST_TMPDIR/aarch64"
}

globals()
{
    readelf --dyn-syms -W "$object" | awk '$5 == "GLOBAL" || $5 == "WEAK" { print $7, $8 }'
}

@test "no object wants more than glibc 2.17 and libc itself; the preload wants nothing" {
    unpacked
    for object in "${objects[@]}"; do
        wants=$(readelf --version-info --wide "$object" | grep -o 'Name: GLIBC_[0-9.]*' | sed 's/.*_//' | sort -V | tail -n 1)
        echo "$object: ${wants:-nothing}"
        [ "$(printf '%s\n' 2.17 "${wants:-0}" | sort -V | tail -n 1)" = 2.17 ]
        readelf -dW "$object" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' > "$BATS_TEST_TMPDIR/needed"
        run -1 grep -vxE 'libc\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-[a-z0-9_-]+\.so\.[12]' "$BATS_TEST_TMPDIR/needed"
        case $object in
            */librollcall-preload.so | */librollcall-pins.so) [ "$(globals)" = "UND environ" ] ;;
            */librollcall-lookup.so) [ "$(globals | awk '{ print $2 }' | sort | paste -s -d ' ')" = "dl_iterate_phdr getnameinfo" ] ;;
        esac
    done
}

@test "Debian 11, glibc 2.31: installed, the command, the preload, Python and the doctor work; uninstalled, nothing is left" {
    used bullseye
}

@test "Debian 13: the same" {
    used trixie
}

@test "Debian testing: the same" {
    used forky
}

@test "Debian 13 for aarch64: the same, run by qemu" {
    unshare --user --map-root-user --mount mount -t binfmt_misc none /proc/sys/fs/binfmt_misc ||
        skip 'this kernel has no binfmt_misc for each user namespace (Linux 6.7)'
    # installed, it would change which programs this machine runs
    setup_unpack "$top/build/qemu" '' qemu-user-static
    qemu=$top/build/qemu/usr/bin/qemu-aarch64-static used trixie:arm64
}
