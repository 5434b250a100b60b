# SPDX-License-Identifier: BSD-3-Clause
# setup.bash - what tests/run and contrib/demo need from the machine; sourced, never run.
#
#   run_elsewhere SCRIPT ARG...   runs SCRIPT of the tree from a copy of it in /var/tmp and exits, if it cannot run here:
#                              below /tmp (each virtual node has a /tmp of its own), configured in place, below a long
#                              path or one with a blank, or the tests where other users cannot read them
#   only_one FOLDER WHAT       exits, if another one that calls this for that folder still runs
#   has_root                   root, or sudo gives it
#   need_machine MEGABYTES     /proc, /dev and, if torch has still to be fetched, so much disk, and what CUDA takes if it
#                              comes from PyPI
#   need_nodes                 this machine can have virtual nodes (minicluster): namespaces, and no chroot
#   shown LOG COMMAND...       its output goes to LOG; of that, what setup_say prints is shown as it comes
#   copy_sources FOLDER        what the repository holds, as it is now and not configured; MANIFEST lists it
#   with_ccache COMMAND...     what it compiles comes from build/ccache, where the same text was compiled before
#   locked COMMAND...          one at a time, of all layers
#   build_and_install PREFIX   configure (in ROLLCALL_BUILD, default build/release), make, make install
#
# Each returns nonzero, after one line that says why, if it cannot be had.
# Environment: ROLLCALL_BUILD, ROLLCALL_CONFIGURE (more arguments for configure), CC, CFLAGS and friends.
# The other files of its folder, tests/setup, name what else each needs and sets.

# A user's CDPATH would make cd print where it goes.
unset CDPATH
# Other users run what is built here.
umask 022
ROLLCALL_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ROLLCALL_TOP

setup_say()
{
    printf 'setup: %s\n' "$*" >&2
}

# shellcheck source=tests/setup/packages.bash
. "$ROLLCALL_TOP/tests/setup/packages.bash"
# shellcheck source=tests/setup/python.bash
. "$ROLLCALL_TOP/tests/setup/python.bash"
# shellcheck source=tests/setup/fetch.bash
. "$ROLLCALL_TOP/tests/setup/fetch.bash"

setup_is_open()
{
    local path=$ROLLCALL_TOP

    [ $((0$(stat -c %a "$ROLLCALL_TOP/tests/setup.bash") & 4)) -ne 0 ] || return 1
    while [ -n "$path" ]; do
        [ $((0$(stat -c %a "$path") & 1)) -ne 0 ] || return 1
        path=${path%/*}
    done
}

# Why the tests and the demo cannot run here.
setup_obstacle()
{
    # what "#!" of a virtual environment's programs may have: 127 bytes
    local longest=80

    case $ROLLCALL_TOP/ in
        /tmp/*) echo 'lies below /tmp, of which each virtual node has its own' ;;
        *[!A-Za-z0-9_./+,@=~%-]*) echo 'has a character in its path that make or a search path cannot have' ;;
        *) [ ${#ROLLCALL_TOP} -le $longest ] || echo "has a path of more than $longest bytes" ;;
    esac
    [ "$1" = contrib/demo/demo ] || setup_is_open || echo 'cannot be read by other users, who are in the tests'
    [ ! -e "$ROLLCALL_TOP/config.status" ] || echo 'is configured in place, and cannot be built in another folder as well'
}

# setup_move FROM TO: what takes long to make once more
setup_move()
{
    local made

    for made in build .venv; do
        [ -d "$1/$made" ] || continue
        rm -rf --one-file-system "${2:?}/$made" && mv -T "$1/$made" "$2/$made" || return 1
    done
}

# An archive that git has made of a commit has no list of its files, which the tests and make dist need.
setup_manifest()
{
    local empty

    [ ! -e "$ROLLCALL_TOP/.git" ] && [ ! -e "$ROLLCALL_TOP/MANIFEST" ] || return 0
    need_packages git && empty=$(mktemp -d) && git init -q --bare "$empty" || return 1
    git --git-dir="$empty" --work-tree="$ROLLCALL_TOP" -C "$ROLLCALL_TOP" ls-files --others --exclude-standard |
        LC_ALL=C sort > "$empty/MANIFEST"
    mv "$empty/MANIFEST" "$ROLLCALL_TOP/MANIFEST" && touch -r "$ROLLCALL_TOP/autogen.sh" "$ROLLCALL_TOP/MANIFEST"
    rm -rf "$empty"
}

run_elsewhere()
{
    local script=$1 why copy status=0
    shift
    setup_manifest || exit 1
    why=$(setup_obstacle "$script" | paste -s -d ';' | sed 's|;|, and it |')
    [ -n "$why" ] || return 0
    only_one "$ROLLCALL_TOP" "$script"
    # of the same name each time: what is built, and a virtual environment, have their folder's name in them
    copy=/var/tmp/rollcall-tree.$(printf '%s %s' "$UID" "$ROLLCALL_TOP" | cksum | cut -d ' ' -f 1)
    mkdir -m 755 "$copy" 2> /dev/null || { [ -O "$copy" ] && [ ! -L "$copy" ]; } || {
        setup_say "cannot make $copy"
        exit 1
    }
    setup_say "$ROLLCALL_TOP $why: running in $copy"
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    # shellcheck disable=SC2064 # they are local
    trap "setup_move '$copy' \"\$ROLLCALL_TOP\" && rm -rf --one-file-system '$copy'" EXIT
    # what one that was killed has left
    find "$copy" -mindepth 1 -maxdepth 1 ! -name build ! -name .venv -exec rm -rf --one-file-system {} +
    setup_move "$ROLLCALL_TOP" "$copy" && copy_sources "$copy" && chmod -R a+rX "$copy" || exit 1
    case ${PYTHON:-} in "$ROLLCALL_TOP"/.venv/*) unset PYTHON ;; esac
    "$copy/$script" "$@" 8<&- || status=$?
    exit "$status"
}

# The folder's own lock, which ends with this shell: nothing is left.
only_one()
{
    exec 8< "$1" && flock -n 8 || {
        setup_say "another $2 of $ROLLCALL_TOP is running: start this one when it has ended"
        exit 1
    }
}

has_root()
{
    [ "$UID" -eq 0 ] || { command -v sudo > /dev/null && sudo -v; }
}

need_machine()
{
    local free need=$1

    if [ ! -e /dev/fd/0 ] || [ ! -c /dev/null ]; then
        setup_say 'there is no /proc or no /dev: mount them'
        return 1
    fi
    [ ! -x "$ROLLCALL_TOP/.venv/bin/python" ] && [ -z "${PYTHON:-}" ] || return 0
    # torch 2.13 with CUDA: 4800 MB, and 2700 MB in pip's cache; for CPUs 700 MB
    env | grep -qE '^PIP_(.*INDEX_URL|FIND_LINKS)=' ||
        grep -qsE 'index-url|find-links' /etc/pip.conf "${HOME:-}"/.{,config/}pip/pip.conf || need=$((need + 6800))
    { read -r _; read -r _ _ _ free _; } < <(df -Pm "$ROLLCALL_TOP")
    [ "${free:-$need}" -ge "$need" ] || {
        setup_say "$ROLLCALL_TOP has $free MB of disk left, and $need MB are needed"
        return 1
    }
}

# What minicluster does: a namespace is entered at its root, which in a chroot is another folder.
need_nodes()
{
    local root

    root=$(as_root unshare --mount --pid --net --uts --ipc --fork --mount-proc \
        nsenter --mount=/proc/self/ns/mnt -- stat -c %d:%i / 2>&1)
    [ "$root" != "$(stat -c %d:%i /)" ] || return 0
    if [[ $root =~ ^[0-9]+:[0-9]+$ ]] || ! cut -d ' ' -f 5 /proc/self/mountinfo | grep -qx /; then
        setup_say '/ is a chroot, in which no virtual nodes of a Slurm can be: use systemd-nspawn or a container'
    else
        setup_say "no virtual nodes of a Slurm can be here: ${root##*$'\n'}: in a container, start it with --privileged"
    fi
    return 1
}

shown()
{
    local log=$1 status=0 reader line
    shift

    # shellcheck disable=SC2059 # as the caller wants it
    exec 6> >(while IFS= read -r line; do
        printf '%s\n' "$line"
        [[ $line != 'setup: '* ]] || printf "${setup_shown:-    %s\n}" "${line:7}" >&5
    done 5>&1 > "$log")
    reader=$!
    "$@" >&6 2>&1 < /dev/null 6>&- || status=$?
    exec 6>&-
    wait "$reader"
    return "$status"
}

# setup_watch TEXT FOLDER COMMAND...: what is done; then, each 15 seconds, for how long, and how large the folder is
setup_watch()
{
    local text=$1 folder=$2 began=$SECONDS watch watcher status=0
    shift 2

    setup_say "$text"
    exec {watch}> >(while read -rt 15; [ $? -gt 128 ]; do
        setup_say "$((SECONDS - began)) s${folder:+, $(du -sm "$folder" 2> /dev/null | cut -f 1) MB}: $text"
    done)
    watcher=$!
    ("$@") {watch}>&- || status=$?
    exec {watch}>&-
    wait "$watcher"
    return "$status"
}

copy_sources()
{
    local file

    mkdir -p "$1" || return 1
    if [ -e "$ROLLCALL_TOP/.git" ]; then
        need_packages git || return 1
        git -c 'safe.directory=*' -C "$ROLLCALL_TOP" ls-files --cached --others --exclude-standard |
            while IFS= read -r file; do
                [ ! -e "$ROLLCALL_TOP/$file" ] || printf '%s\n' "$file"
            done > "$1/MANIFEST" &&
            touch -d "@$(git -c 'safe.directory=*' -C "$ROLLCALL_TOP" log -1 --format=%ct)" "$1/MANIFEST" || return 1
    else
        cp -p "$ROLLCALL_TOP/MANIFEST" "$1/MANIFEST" || return 1
    fi
    tar -C "$ROLLCALL_TOP" -cf - -T "$1/MANIFEST" | tar -C "$1" --no-same-owner -xf -
}

# Packages that a build with every part needs.
setup_build_packages=(gcc ccache perl procps libc6-dev make autoconf automake libtool pkg-config
    libslurm-dev libcmocka-dev libpmix-dev libhwloc-dev)

# Builds that differ in a part, and distcheck's, compile most files alike. Paths below the tree count as relative
# ones: a build finds what another build folder of the same depth has compiled.
with_ccache()
{
    local -x CCACHE_DIR=$ROLLCALL_TOP/build/ccache CCACHE_BASEDIR=$ROLLCALL_TOP CCACHE_NOHASHDIR=1
    local -x PATH=/usr/lib/ccache:$PATH

    "$@"
}

# locked COMMAND...: one at a time, of all layers: apt and pip, and what they make once for several
locked()
{
    {
        flock 9
        "$@"
    } 9> "$ROLLCALL_TOP/build/lock"
}

# configure_tree DIR PREFIX [CONFIGURE-ARGUMENT...]: configures in DIR, again where the arguments changed.
configure_tree()
{
    local dir=$1 prefix=$2 wanted configure=$ROLLCALL_TOP/configure
    shift 2

    if [ ! -x "$configure" ] || [ "$configure.ac" -nt "$configure" ]; then
        "$ROLLCALL_TOP/autogen.sh" || return 1
    fi
    mkdir -p "$dir" || return 1
    wanted="--prefix=$prefix $* CC=${CC:-} CFLAGS=${CFLAGS:-} LDFLAGS=${LDFLAGS:-}"
    if [ ! -f "$dir/Makefile" ] || [ "$(cat "$dir/configured" 2> /dev/null)" != "$wanted" ]; then
        (cd "$dir" && "$configure" "--prefix=$prefix" "$@") || return 1
        printf '%s\n' "$wanted" > "$dir/configured"
    fi
}

# build_tree DIR PREFIX [CONFIGURE-ARGUMENT...]: the same, and makes.
build_tree()
{
    configure_tree "$@" && make -C "$1" -j"$(nproc)"
}

build_and_install()
{
    local prefix=$1 dir=${ROLLCALL_BUILD:-$ROLLCALL_TOP/build/release} parent

    need_packages "${setup_build_packages[@]}" || return 1
    build_tree "$dir" "$prefix" ${ROLLCALL_CONFIGURE:-} || return 1
    parent=$prefix
    while [ ! -e "$parent" ]; do
        parent=$(dirname "$parent")
    done
    if [ -w "$parent" ]; then
        make -C "$dir" install
    else
        as_root make -C "$dir" install
    fi
}
