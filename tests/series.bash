# SPDX-License-Identifier: BSD-3-Clause
# series.bash - another Slurm series for the cluster tests; sourced after setup.bash, never run.
#
#   need_root_folder SERIES   its root folder; takes a minute or two where it is not there yet, and may run
#                             beside other things
#   need_series SERIES        that, and the plugin built with its headers, as
#                             $ROLLCALL_PREFIX/lib/slurm-SERIES/rollcall.so
#
# Both return nonzero, after one line that says why, if it cannot be had.

# shellcheck shell=bash

# What the jobs need there beyond minicluster.
series_packages=(python3)

need_root_folder()
{
    need_packages mmdebstrap &&
        as_root "$ROLLCALL_TOP/contrib/minicluster/make-root" "$1" "${series_packages[@]}"
}

# Only Slurm's headers are the other series': the plugin needs nothing but libc, and a newer one runs it.
series_plugin()
{
    local series=$1 root=$2 headers=$ROLLCALL_TOP/build/slurm-$1 dir=$ROLLCALL_TOP/build/release-$1 wanted

    mkdir -p "$headers/include" "$dir" && ln -sfn "$root/usr/include/slurm" "$headers/include/slurm" || return 1
    wanted="$ROLLCALL_PREFIX $root CC=${CC:-} CFLAGS=${CFLAGS:-} LDFLAGS=${LDFLAGS:-}"
    if [ "$ROLLCALL_TOP/configure" -nt "$dir/Makefile" ] || [ "$(cat "$dir/configured" 2> /dev/null)" != "$wanted" ]; then
        (cd "$dir" && with_ccache "$ROLLCALL_TOP/configure" --quiet --enable-werror "--prefix=$ROLLCALL_PREFIX" \
            "--with-slurm=$headers" "--with-plugindir=$ROLLCALL_PREFIX/lib/slurm-$series") || return 1
        printf '%s\n' "$wanted" > "$dir/configured"
    fi
    grep -q "SLURM_SERIES \"$series\"" "$dir/lib/config.h" || {
        setup_say "$root has headers of another Slurm than $series"
        return 1
    }
    # the file alone: make install would install the rest once more, while others use what is installed
    with_ccache make -C "$dir" -j"$(nproc)" spank/rollcall.la &&
        install -D "$dir/spank/.libs/rollcall.so" "$ROLLCALL_PREFIX/lib/slurm-$series/rollcall.so"
}

need_series()
{
    need_root_folder "$1" && series_plugin "$1" "${MINICLUSTER_ROOTS:-/var/lib/minicluster-roots}/$1"
}
