# SPDX-License-Identifier: BSD-3-Clause
# setup.bash - what tests/run and contrib/demo need from the machine; sourced, never run.
#
#   need_packages PKG...       Debian packages, installed if they are missing (root or sudo)
#   need_python [tests]        sets and exports PYTHON: one that has torch and Lightning or, with
#                              the word `tests`, pytest with its TAP plugin and hypothesis
#   need_frameworks NAME...    Pythons of the test layer frameworks, each with what PYTHON has and more, as
#                              $ROLLCALL_PYTHONS/NAME/bin/python; the names are those of setup_frameworks
#   need_gridengine            Debian's Grid Engine, unpacked and not installed, in $ROLLCALL_GRIDENGINE
#   need_nccl                  NCCL's library and its header, of PyPI's package, in $ROLLCALL_NCCL
#   need_cross                 Debian's compilers for aarch64, ppc64le and riscv64, unpacked and not installed, in
#                              $ROLLCALL_CROSS/usr/bin
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
# Environment: PYTHON (used as it is if it has the modules), ROLLCALL_PYTHONS (build/pythons),
# ROLLCALL_GRIDENGINE (build/gridengine), ROLLCALL_NCCL (build/nccl), ROLLCALL_CROSS (build/cross), ROLLCALL_BUILD, ROLLCALL_CONFIGURE (more arguments for configure), CC, CFLAGS and friends.

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
        [[ $line != 'setup: '* ]] || printf "${setup_shown:-    %s\n}" "${line:7:59}" >&5
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

# Runs a command as root.
as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo > /dev/null; then
        sudo -- "$@"
    else
        setup_say "cannot run '$1' as root: become root, or install sudo"
        return 1
    fi
}

# The package lists, once.
setup_update()
{
    [ -z "${setup_updated:-}" ] || return 0
    as_root apt-get -qq update >&2 && export setup_updated=yes
}

# What Debian's packages are needed for, where they are not called like their one program.
declare -A setup_provides=(
    [binutils]=readelf [bsdextrautils]=column [dpkg-dev]=dpkg-buildpackage [fonts-dejavu-core]="" [iproute2]=ip
    [libc6-dev]=stdio.h [libcmocka-dev]=cmocka.h [libhwloc-dev]=hwloc.h [libpmix-dev]=pmix.h
    [libslurm-dev]=slurm/spank.h [libtool]=libtoolize [man-db]=man [openmpi-bin]=mpirun [procps]=pkill [python3-venv]=python3
    [slurm-wlm]=slurmctld [slurm-wlm-basic-plugins]=slurmctld [util-linux]=unshare
)

# Whether a package's program or header is here, whoever has installed it.
setup_is_here()
{
    local what=${setup_provides[$1]-$1}

    case $what in
        '') ;;
        *.h) printf '#include <stddef.h>\n#include <%s>\n' "$what" | "${CC:-cc}" -E -x c - > /dev/null 2>&1 ;;
        *) PATH=$PATH:/usr/sbin:/sbin command -v "$what" > /dev/null ;;
    esac
}

# In a subshell, for its trap.
setup_apt()
{
    # No service may start by being installed: a policy-rc.d that says so stands there meanwhile; whatever happens, it
    # goes again.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
        trap 'exit 130' INT TERM HUP
        printf '#!/bin/sh\nexit 101\n' | as_root tee /usr/sbin/policy-rc.d > /dev/null || exit 1
        as_root chmod 755 /usr/sbin/policy-rc.d || exit 1
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o Dpkg::Use-Pty=0 install "$@" > /dev/null
}

need_packages()
{
    local package state missing=() lacking=()

    for package; do
        state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null)
        [ "$state" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! command -v apt-get > /dev/null || ! has_root 2> /dev/null; then
        for package in "${missing[@]}"; do
            setup_is_here "$package" || lacking+=("${setup_provides[$package]-$package}")
        done
        [ ${#lacking[@]} -gt 0 ] || return 0
        setup_say "these programs and headers are missing: ${lacking[*]}. Install them (in Debian: ${missing[*]})"
        return 1
    fi

    setup_update || return 1
    setup_watch "installing ${missing[*]}" '' setup_apt "${missing[@]}" || {
        setup_say "apt-get could not install ${missing[*]}"
        return 1
    }
}

setup_torch_version=2.13.0
setup_lightning_version=2.6.6
# pytest 9.2 does not start with this plugin
setup_pytest=('pytest<9.1' pytest-tap==3.5 hypothesis)

# True if that Python has what is asked for (find_spec: importing torch takes seconds).
setup_python_has()
{
    local python=$1
    shift
    command -v "$python" > /dev/null && "$python" - "$@" > /dev/null 2>&1 <<'PYTHON'
import importlib.util, sys
sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[1:]))
PYTHON
}

# setup_pip FOLDER ARGUMENT...: pip install there, in a virtual environment. What it unpacks lies there as well: /tmp may be
# small.
setup_pip()
{
    local folder=$1 status=0
    shift

    mkdir -p "$folder/tmp" || return 1
    setup_watch "pip install $*" "$folder" \
        env TMPDIR="$folder/tmp" "$folder/bin/pip" -q --disable-pip-version-check install "$@" >&2 || status=$?
    rm -rf "$folder/tmp"
    return "$status"
}

setup_venv()
{
    local python

    [ ! -x "$ROLLCALL_TOP/.venv/bin/pip" ] || return 0
    # By its full name, /usr/bin/python3.11: in another Slurm's root folder /usr/bin/python3 is another one.
    python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))') &&
        "$python" -m venv "$ROLLCALL_TOP/.venv" >&2
}

# setup_imports FOLDER: importing torch, and more so Lightning, makes a million objects, and the garbage collector looks
# at all of them again and again: a third of the processor time of most of the tests' processes (torch 2.13, Python
# 3.11: 2.2 s and 1.3 s). A .pth file reaches each Python of a virtual environment, whoever starts it.
setup_imports()
{
    local site

    for site in "$1"/lib/python3.*/site-packages; do
        [ -e "$site/fewer-collections.pth" ] ||
            printf 'import gc; gc.set_threshold(100000, 50, 100)\n' > "$site/fewer-collections.pth" || return 1
    done
}

need_python()
{
    local modules=(torch lightning pytorch_lightning) venv=$ROLLCALL_TOP/.venv

    [ "${1:-}" != tests ] || modules=(pytest hypothesis pytest_tap)
    if [ -n "${PYTHON:-}" ] && [ "$PYTHON" != "$venv/bin/python" ]; then
        setup_python_has "$PYTHON" "${modules[@]}" || {
            setup_say "PYTHON=$PYTHON lacks one of ${modules[*]}: install them there, or unset PYTHON"
            return 1
        }
        # sudo has another PATH
        PYTHON=$(command -v "$PYTHON")
        export PYTHON
        return 0
    fi
    if ! setup_python_has "$venv/bin/python" "${modules[@]}"; then
        need_packages python3 python3-venv && setup_venv || return 1
        if [ "${1:-}" = tests ]; then
            setup_pip "$venv" "${setup_pytest[@]}" || return 1
        else
            # torch first and alone: Lightning by itself would take any newer one.
            setup_pip "$venv" "torch==$setup_torch_version" &&
                setup_pip "$venv" "torch==$setup_torch_version" "lightning==$setup_lightning_version" \
                    "pytorch_lightning==$setup_lightning_version" || return 1
        fi
    fi
    setup_imports "$venv" || return 1
    PYTHON=$venv/bin/python
    export PYTHON
}

# What each Python of the layer frameworks has beyond PYTHON: one line of pip's arguments per name. Versions
# are pinned where a test depends on one. "large" is for tests/run --all only.
declare -A setup_frameworks=(
    [small]='accelerate==1.15.0 mpi4py==4.1.2 submitit==1.5.4'
    # the oldest Lightning that starts with Python 3.11 and this torch; it imports pkg_resources
    [lightning-2.1]='lightning==2.1.0 pytorch_lightning==2.1.0 setuptools<81'
    [large]='accelerate==1.15.0 transformers==5.23.0 jax[cpu]==0.10.2 fairscale==0.4.13
        deepspeed==0.19.8'
)

# One that stands on another's packages: a virtual environment does not inherit from a virtual environment,
# but a .pth file names any folder, and pip counts what it finds there as installed.
need_frameworks()
{
    local name folder base site
    export ROLLCALL_PYTHONS=${ROLLCALL_PYTHONS:-$ROLLCALL_TOP/build/pythons}

    base=$("$PYTHON" -c 'import importlib.util as u, os
print(os.path.dirname(os.path.dirname(u.find_spec("torch").origin)))') || return 1
    for name; do
        folder=$ROLLCALL_PYTHONS/$name
        if [ "$(cat "$folder/holds" 2> /dev/null)" = "$base ${setup_frameworks[$name]}" ]; then
            setup_imports "$folder" || return 1
            continue
        fi
        rm -rf --one-file-system "$folder"
        "$PYTHON" -m venv "$folder" >&2 || return 1
        site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
        printf '%s\n' "$base" > "$site/base.pth"
        # for what has to be built; not isolated, since DeepSpeed's setup.py imports torch
        setup_pip "$folder" 'setuptools<81' wheel || return 1
        # the base's torch and no other: the newest one of PyPI brings gigabytes of CUDA
        DS_BUILD_OPS=0 setup_pip "$folder" --no-build-isolation "torch==$setup_torch_version" \
            ${setup_frameworks[$name]} || return 1
        printf '#!%s\nfrom torch.distributed.run import main\nmain()\n' "$folder/bin/python" > "$folder/bin/torchrun"
        chmod 755 "$folder/bin/torchrun"
        setup_imports "$folder" || return 1
        printf '%s\n' "$base ${setup_frameworks[$name]}" > "$folder/holds"
    done
}

setup_download()
{
    cd "$1" && apt-get -qq -o APT::Sandbox::User= download "${@:2}" >&2
}

# setup_unpack FOLDER NEEDED PACKAGE...: Debian's packages for amd64 there, unpacked and not installed; what their programs
# are linked with (NEEDED, blanks between) is.
setup_unpack()
{
    local folder=$1 needed=$2 package
    shift 2

    [ ! -d "$folder" ] || return 0
    if ! command -v apt-get > /dev/null || [ "$(dpkg --print-architecture 2> /dev/null)" != amd64 ]; then
        setup_say "this is not Debian on amd64: $1 is not tried"
        return 1
    fi
    rm -rf --one-file-system "$folder.new"
    mkdir -p "$folder.new" && setup_update || return 1
    setup_watch "apt-get download $*" "$folder.new" setup_download "$folder.new" "$@" || {
        setup_say "apt-get has no $1: it is not tried"
        return 1
    }
    # shellcheck disable=SC2086 # a list of words
    need_packages $needed || return 1
    for package in "$folder.new"/*.deb; do
        dpkg-deb --extract "$package" "$folder.new" && rm "$package" || return 1
    done
    mv -T "$folder.new" "$folder"
}

# Installed, they would bring a mail server, a user and daemons that start with the machine.
need_gridengine()
{
    export ROLLCALL_GRIDENGINE=${ROLLCALL_GRIDENGINE:-$ROLLCALL_TOP/build/gridengine}

    setup_unpack "$ROLLCALL_GRIDENGINE" 'libdb5.3 libhwloc15 libjemalloc2 libmunge2 libssl3 libtirpc3' \
        gridengine-master gridengine-exec gridengine-client gridengine-common
}

# A release whose bootstrap protocol tests/cluster/programs/unique_id.py speaks. Not installed: it is found where a
# test says so, and nowhere else.
setup_nccl_version=2.26.2

need_nccl()
{
    local folder
    export ROLLCALL_NCCL=${ROLLCALL_NCCL:-$ROLLCALL_TOP/build/nccl}

    [ ! -e "$ROLLCALL_NCCL/libnccl.so.2" ] || return 0
    if [ "$(uname -m)" != x86_64 ]; then
        setup_say "NCCL is not run on $(uname -m)"
        return 1
    fi
    need_packages python3 python3-venv || return 1
    folder=$ROLLCALL_NCCL.new
    rm -rf --one-file-system "$folder"
    mkdir -p "$folder" && python3 -m venv "$folder/venv" >&2 || return 1
    setup_watch "pip download nvidia-nccl-cu12==$setup_nccl_version" "$folder" \
        env TMPDIR="$folder" "$folder/venv/bin/pip" -q --disable-pip-version-check download --no-deps --only-binary :all: -d "$folder" \
        "nvidia-nccl-cu12==$setup_nccl_version" >&2 || {
        setup_say "pip has no NCCL: it is not run"
        rm -rf --one-file-system "$folder"
        return 1
    }
    python3 - "$folder" <<'PYTHON' && rm -rf --one-file-system "$folder/venv" "$ROLLCALL_NCCL" && mv -T "$folder" "$ROLLCALL_NCCL"
import glob, os, shutil, sys, zipfile
folder = sys.argv[1]
(wheel,) = glob.glob(folder + "/*.whl")
with zipfile.ZipFile(wheel) as files:
    for name in ("nvidia/nccl/lib/libnccl.so.2", "nvidia/nccl/include/nccl.h"):
        with files.open(name) as source, open(os.path.join(folder, os.path.basename(name)), "wb") as to:
            shutil.copyfileobj(source, to)
os.remove(wheel)
PYTHON
}

# Installed, they would drive out gcc-multilib, which the 32-bit tests need; and gcc finds its parts from where it is.
# gcc-12 brings what they are linked with.
need_cross()
{
    local machine debian packages=()
    export ROLLCALL_CROSS=${ROLLCALL_CROSS:-$ROLLCALL_TOP/build/cross}

    for machine in aarch64 powerpc64le riscv64; do
        debian=${machine/aarch64/arm64}
        debian=${debian/powerpc64le/ppc64el}
        packages+=({gcc,cpp}-12-"$machine"-linux-gnu binutils-"$machine"-linux-gnu
            {libc6,libc6-dev,linux-libc-dev,libgcc-s1,libgcc-12-dev}-"$debian"-cross)
    done
    setup_unpack "$ROLLCALL_CROSS" gcc-12 "${packages[@]}"
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
