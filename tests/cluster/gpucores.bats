#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gpucores.bats - beside a device cgroup each task's cores and network card are those beside the GPU that it may open.
#
# There every task sees GPU 0, and reads the step's first GPU in SLURM_STEP_GPUS. This machine has neither GPUs nor
# cards, so rollcall-map is a script that answers two pins, GPU N beside core N and mlx5_N. Which task comes first
# differs from step to step: each line is run several times.

# bats file_tags=series

load helpers
load gpus

setup_file()
{
    device_cgroups && [ "$(nproc --all)" -ge 2 ] || return 0
    own=$(mktemp -d /var/tmp/rollcall-gpucores.XXXXXX)
    export own
    mkdir -p "$(dirname "$own/${plugin_file#"$ROLLCALL_PREFIX"/}")" "$own/libexec"
    cp "$plugin_file" "$own/${plugin_file#"$ROLLCALL_PREFIX"/}"
    cp -r "$ROLLCALL_PREFIX/libexec/rollcall" "$own/libexec/"
    plugin_file=$own/${plugin_file#"$ROLLCALL_PREFIX"/}
    rm -f "$own/libexec/rollcall/rollcall-map"
    cat > "$own/libexec/rollcall/rollcall-map" << 'END'
#!/bin/sh
cat > /dev/null
echo 'node fabric=mlx5_0,mlx5_1'
echo 'pin cpus=0 cores=1 gpu=0 fabric=mlx5_0'
echo 'pin cpus=1 cores=1 gpu=1 fabric=mlx5_1'
END
    chmod 755 "$own" "$own/libexec/rollcall/rollcall-map"
    set -- --nodes 1 --cpus 2 --gpus 2 --gpu-cgroup
    [ -z "${SERIES:-}" ] || set -- "$@" --bind "$own"
    cluster_up "$@"
}

teardown_file()
{
    [ -n "${own:-}" ] || return 0
    cluster_down
    rm -rf --one-file-system "$own"
}

setup()
{
    [ -n "${own:-}" ] || skip 'no cgroups of version 1 for devices, or one core'
}

# beside CARD RANK_0 RANK_1 OPTION...: in each of five steps rank 0 may open GPU RANK_0 and rank 1 the other one, and each
# has the core, and where CARD is "card" the network card, of that number
beside()
{
    local card=$1 first=$2 second=$3 expected
    shift 3
    expected=$(for pair in "0 $first" "1 $second"; do
        name=none
        [ "$card" != card ] || name=mlx5_${pair#* }:1
        echo "GPUCORES rank=${pair% *} gpu=${pair#* } cpus=${pair#* } card=$name"
    done)
    for _ in 1 2 3 4 5; do
        attempt 60 srun "$@" -N1 -n2 --cpu-bind=none "$programs/gpucores.sh"
        succeeded
        [ "$(sort "$out")" = "$expected" ] || explain "expected: $expected"
    done
}

@test "one GPU each, --gpu-bind=map_gpu:1,0: the cores beside its own" {
    beside - 1 0 --ddp --gpus-per-node=2 --gpu-bind=map_gpu:1,0
}

@test "one GPU each, --gpus-per-task=1: cores and network card beside its own" {
    beside card 0 1 --ddp=worker,bind=cores,nic=auto --gpus-per-task=1
    beside card 1 0 --ddp=worker,bind=cores,nic=auto --gpus-per-node=2 --gpu-bind=map_gpu:1,0
}
