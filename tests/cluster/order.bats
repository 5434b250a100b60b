#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# order.bats - ranks that do not follow the step's list of nodes: networks from Slurm 26.05 on, components of srun A : B.

load helpers

setup()
{
    needs_root || return 0
}

teardown()
{
    cluster_down
}

# Whether ranks follow switches and blocks.
by_network()
{
    [ "${SERIES:-22.05}" = 26.05 ]
}

# ordered EACH NODE...: EACH tasks on each node, whose ranks follow the nodes in this order
ordered()
{
    local each=$1 node rank=0 expected=()
    shift
    for node; do
        expected+=("$node=$(seq -s, $rank $((rank + each - 1)))")
        rank=$((rank + each))
    done
    everybody whoami world=$rank nodes=$# "${expected[@]}"
}

# three_ways NODE...: plugin, command and preload, on a cluster whose ranks follow the nodes in
# this order from 26.05 on, and the list before
three_ways()
{
    local listed=(n1 n2 n3 n4) network=("$@") each
    by_network || network=("${listed[@]}")
    for each in 2 1; do
        attempt 30 srun --ddp --mpi=none -N4 --ntasks-per-node=$each "$whoami"
        ordered $each "${network[@]}"
    done
    attempt 30 srun --mpi=none -N4 --ntasks-per-node=2 -m plane=2 rollcall exec -- "$whoami"
    ordered 2 "${listed[@]}"
    attempt 30 srun --mpi=none -N4 --ntasks-per-node=2 rollcall exec -- "$whoami"
    if by_network; then
        failed
        unsaid '^ROLL'
        [ "$(grep -c 'RC106.*follow the network' "$err")" = 8 ] || explain "not all tasks say RC106"
    else
        ordered 2 "${listed[@]}"
    fi
    attempt 30 srun --mpi=none -N4 --ntasks-per-node=2 env LD_PRELOAD="$preload" "$whoami"
    if by_network; then
        everybody nothing count=8
    else
        ordered 2 "${listed[@]}"
    fi
}

# bats test_tags=series
@test "two switches, the second one's nodes first in the list" {
    cluster_up --nodes 4 --cpus 4 --mpi pmix --topology tree:n[3-4],n[1-2]
    three_ways n3 n4 n1 n2
    attempt 30 srun --ddp --mpi=none -N2 -n4 --ntasks-per-node=2 -w n2,n3 "$whoami"
    if by_network; then ordered 2 n3 n2; else ordered 2 n2 n3; fi
    attempt 30 srun --ddp=order=node --mpi=none -N4 --ntasks-per-node=2 -m cyclic "$whoami"
    ordered 2 n1 n2 n3 n4
}

# bats test_tags=all,newest
@test "two switches whose nodes take turns: first and last node see nothing of it" {
    cluster_up --nodes 4 --cpus 4 --mpi pmix --topology tree:n[1,3],n[2,4]
    three_ways n1 n3 n2 n4
}

# bats test_tags=all,newest
@test "two blocks" {
    by_network || [ "${SERIES:-}" = 24.11 ] || skip "Slurm 22.05 has no topology/block"
    cluster_up --nodes 4 --cpus 4 --mpi pmix --topology block:n[3-4],n[1-2]
    three_ways n3 n4 n1 n2
}

# bats test_tags=series
@test "components in the reverse order of their nodes' names" {
    local way
    cluster_up --nodes 3 --cpus 4 --mpi pmix
    for way in "--ddp -w n3 -n1 $whoami : -w n2 -n1 $whoami : -w n1 -n1 $whoami" \
        "-w n3 -n1 rollcall exec -- $whoami : -w n2 -n1 rollcall exec -- $whoami : -w n1 -n1 rollcall exec -- $whoami"; do
        attempt 30 srun --mpi=none $way
        ordered 1 n3 n2 n1
    done
    attempt 30 env LD_PRELOAD="$preload" srun --mpi=none -w n3 -n2 "$whoami" : -w n1,n2 -N2 -n2 "$whoami"
    everybody whoami n3=0,1 n1=2 n2=3
    # a step of several components in a plain job has nothing that names them; the plugin sees it all the same
    fails 30 salloc -N3 --ntasks-per-node=1 srun --ddp -K0 --mpi=none -w n3 -n1 "$whoami" : -w n2 -n1 "$whoami" : \
        -w n1 -n1 "$whoami"
    unsaid '^ROLL'
    [ "$(grep -c RC106 "$err")" = 3 ] || explain "not all components say RC106"
}
