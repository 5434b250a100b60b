#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scale.bats - one rank to sixty-four, on one node to eight: each is there once, and all have one port.

# bats file_tags=all

load helpers
load faults

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 8 --cpus 32 --mpi pmix
    export transports='srun pmix'
    [ "$mpi" = pmix ] || transports=srun
}

teardown()
{
    [ -z "${left_out:-}" ] || return 0
    login scancel --user="$(id -un)"
}

# sizes OPTION SRUN-ARGUMENT...: nodes and ranks as they come.
sizes()
{
    local option=$1 nodes ranks
    shift
    while read -r nodes ranks; do
        step 60 "--ddp=worker$option" "-N$nodes" "-n$ranks" "$@"
        one_port "$ranks" || return 1
        sed -n 's/^port \([0-9]*\) .*/\1/p' "$out" | sort -n | diff <(seq 0 $((ranks - 1))) - ||
            explain "not each rank once: $ranks on $nodes" || return 1
        unsaid RC6 || return 1
    done <<< '1 1
1 2
2 2
1 4
3 4
4 4
5 8
8 8
2 64
7 64
8 64'
}

@test "at srun's server" {
    sizes ,exchange=srun
}

@test "over PMIx" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    sizes ,exchange=pmix
}

@test "without PMIx, and without the user's environment" {
    sizes '' --mpi=none --export=NONE
}

@test "dealt out over the nodes" {
    local transport
    for transport in $transports; do
        sizes ",exchange=$transport,order=node" -m cyclic
    done
}
