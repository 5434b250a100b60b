# SPDX-License-Identifier: BSD-3-Clause
# packages.bash - Debian packages; tests/setup.bash sources it.
#
#   need_packages PKG...       Debian packages, installed if they are missing (root or sudo)
#   as_root COMMAND...         runs a command as root

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
