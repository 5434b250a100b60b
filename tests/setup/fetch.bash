# SPDX-License-Identifier: BSD-3-Clause
# fetch.bash - what is fetched and not installed; tests/setup.bash sources it.
#
#   need_gridengine            Debian's Grid Engine, unpacked and not installed, in $ROLLCALL_GRIDENGINE
#   need_nccl                  NCCL's library and its header, of PyPI's package, in $ROLLCALL_NCCL
#   need_cross                 Debian's compilers for aarch64, ppc64le and riscv64, unpacked and not installed, in
#                              $ROLLCALL_CROSS/usr/bin
#
# Environment: ROLLCALL_GRIDENGINE (build/gridengine), ROLLCALL_NCCL (build/nccl), ROLLCALL_CROSS (build/cross).

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
