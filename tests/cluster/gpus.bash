# SPDX-License-Identifier: BSD-3-Clause
# gpus.bash - what gpus.bats and gpucgroup.bats share: steps with GPUs, one a row of a table; sourced after helpers.bash
#
#   device_cgroups        whether minicluster --gpu-cgroup may be had here
#   gpu_cluster ARG...    in setup_file: four nodes of eight processors and four GPUs (minicluster up ARG...)
#   beside_a_job CMD...   runs CMD while a job has the first GPU of each node
#   gpus_are < TABLE      runs each row's step with $ddp, or --ddp, and without, side by side, and compares: gpus.py

# shellcheck shell=bash disable=SC2154 # programs, shared, status, ... come from helpers.bash

device_cgroups()
{
    if ! [ -w /sys/fs/cgroup/devices/tasks ] || ! [ -w /sys/fs/cgroup/freezer/tasks ]; then
        return 1
    fi
    unshare --mount sh -c 'mount -t tmpfs -o mode=755 none /mnt && mknod /mnt/gpu c 240 0' 2> /dev/null
}

gpu_cluster()
{
    cluster_up --nodes 4 --cpus 8 --gpus 4 "$@"
}

beside_a_job()
{
    local result=0 runs=$shared/runs
    rm -f "$runs".*
    login timeout 120 srun -J beside -N4 --ntasks-per-node=1 --gpus-per-node=1 sh -c 'echo > "$0.$SLURM_PROCID"; exec sleep 120' "$runs" \
        > "$BATS_TEST_TMPDIR/beside" 2>&1 3>&- < /dev/null &
    until [ -e "$runs.0" ] && [ -e "$runs.1" ] && [ -e "$runs.2" ] && [ -e "$runs.3" ]; do
        if ! kill -0 $!; then
            cat "$BATS_TEST_TMPDIR/beside" >&2
            return 1
        fi
        sleep 0.05
    done
    "$@" || result=1
    login scancel --name=beside
    wait $! || true
    return "$result"
}

# Each step has nodes of its own, and not those of the row before, which may not be free yet. Slurm tells an srun that a
# job has ended by a port, at which the next srun may be listening by then: that one gives up, and is asked again.
gpus_are()
{
    local table=$shared/gpus.table folder=$shared/gpus row number=0 tasks options nodes one other
    rm -rf --one-file-system "$folder"
    mkdir "$folder"
    grep -v '^ *\(#\|$\)' > "$table"
    {
        cat << 'END'
step()
{
    said=$1
    shift
    for try in 1 2 3; do
        srun "$@" > "$said" 2> "$said.errors" < /dev/null
        grep -q 'still not ready' "$said.errors" || break
    done
}
END
        echo "cd '$folder' || exit 1"
        while IFS= read -r row; do
            tasks=${row%%|*}
            options=${row##*|}
            one=n$((number % 2 * 2 + 1)) other=n$((number % 2 * 2 + 2)) nodes=-N1
            case $options in
                *-N2*) one=n1,n2 other=n3,n4 nodes= ;;
            esac
            echo "step $number.without -n ${tasks// /} -w $one $nodes $options '$programs/gpus.sh' &"
            echo "step $number.with ${ddp:---ddp} -n ${tasks// /} -w $other $nodes $options '$programs/gpus.sh'"
            echo "wait"
            number=$((number + 1))
        done < "$table"
    } > "$folder/steps.sh"
    attempt 100 sh "$folder/steps.sh"
    succeeded || return 1
    "$cluster_tests/gpus.py" "$folder" "$table"
}
