#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# topology.bats - order=topology: the nodes in the order of the network, which is not the order of their names.

load helpers

# Slurm's node order is n1 n2 n3 n4; n3 and n4 are below the first switch, n1 and n2 below the second.
cluster=(--nodes 4 --cpus 4 --mpi pmix --topology 'tree:n[3-4],n[1-2]')

# What programs take for the rank and the node's number is the same in whatever variable they look.
numbers='echo "$SLURMD_NODENAME: $RANK $NODE_RANK $SLURM_PROCID $SLURM_NODEID $PET_NODE_RANK $MASTER_ADDR"'

# has_numbers LINE...: each once, in any order
has_numbers()
{
    succeeded || return 1
    [ "$(sort "$out")" = "$(printf '%s\n' "$@" | sort)" ] || explain "not these lines: $*"
}

reversed=(world=8 nodes=4 n3=0,1 n4=2,3 n1=4,5 n2=6,7)

# bats test_tags=series
@test "tree: ranks go switch by switch, the master and Slurm's numbers with them" {
    attempt 30 srun --ddp=order=topology -N4 --ntasks-per-node=2 "$whoami"
    everybody whoami "${reversed[@]}"
    attempt 30 srun --ddp=order=topology -N4 --ntasks-per-node=1 sh -c "$numbers"
    has_numbers "n3: 0 0 0 0 0 n3" "n4: 1 1 1 1 1 n3" "n1: 2 2 2 2 2 n3" "n2: 3 3 3 3 3 n3"
}

# bats test_tags=series
@test "tree: launcher mode, on some of the nodes" {
    attempt 30 srun --ddp=launcher,order=topology -N3 -n3 -w 'n[2-4]' sh -c "$numbers"
    has_numbers "n3:  0 0 0 0 n3" "n4:  1 1 1 1 n3" "n2:  2 2 2 2 n3"
}

# bats test_tags=series
@test "tree: an uneven and arbitrary layout is numbered node by node, with the launcher's order below a switch" {
    # In a job of whole nodes: for srun's own job topology/tree of 24.11 gives the first node as many CPUs as it can, and
    # the last one too few for its three tasks (eval_nodes_tree.c; _eval_nodes_consec goes by arbitrary_tpn).
    printf '%s\n' n2 n1 n3 n1 n3 n3 > "$shared/hosts"
    answers 'whoami n3=0,1,2 n2=3 n1=4,5' 30 salloc -N3 -w 'n[1-3]' --exclusive \
        env SLURM_HOSTFILE="$shared/hosts" srun --ddp=order=topology -m arbitrary -n6 "$whoami"
}

# bats test_tags=series
@test "rollcall check shows the order, and a second rollcall keeps it" {
    succeeds 30 srun --ddp=order=topology -N4 --ntasks-per-node=2 sh -c '
        [ "$RANK" -ne 5 ] || { rollcall check && env -u ROLLCALL_SCOPE rollcall show --json && exec env -u ROLLCALL_SCOPE \
            rollcall exec --ddp=exchange=off -- sh -c "echo now \$RANK \$SLURM_PROCID \$MASTER_ADDR"; }'
    said '^0-1 +n\[3-4\] +0-3 +worker +top.s1 +[0-9]+( of [0-9]+)? +n3:[0-9]+$'
    said '^2-3 +n\[1-2\] +4-7 +worker +top.s2 +[0-9]+( of [0-9]+)? +n3:[0-9]+$'
    said '"rank": *5'
    said '^now 5 5 n3$'
}

# bats test_tags=series
@test "a port that the user set is to be free where rank 0 is, and nowhere else" {
    local node
    for node in n1 n3; do
        on $node "$PYTHON" -c '
import signal, socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("", 28765))
listener.listen()
open(sys.argv[1], "w").close()
signal.pause()' "$shared/$node" 3>&- &
        until [ -e "$shared/$node" ]; do sleep 0.05; done
        attempt 30 env MASTER_PORT=28765 srun --ddp=order=topology -N4 -n4 sh -c "$numbers"
        kill $! || true
        wait $! || true
        if [ $node = n1 ]; then
            has_numbers "n3: 0 0 0 0 0 n3" "n4: 1 1 1 1 1 n3" "n1: 2 2 2 2 2 n3" "n2: 3 3 3 3 3 n3"
            unsaid RC
        else
            failed
            said 'RC405: port 28765 of n3 is taken'
            [ ! -s "$out" ] || explain "some tasks have started"
        fi
    done
}

# bats test_tags=series
@test "the nodes do not meet: one line, the launcher's order" {
    succeeds 30 srun --ddp=order=topology,exchange=off -N4 --ntasks-per-node=2 -w 'n[1-4]' "$whoami"
    [ "$(grep -c RC308 "$err")" -eq 1 ] || explain "not once"
    said 'RC308: order=topology was asked for, but the nodes have not met; the nodes are in the order of Slurm'
}

# bats test_tags=all,newest
@test "torch meets where rank 0 is now, in both modes; so does the first NCCL id's way" {
    succeeds 60 srun --ddp=order=topology -N2 -n2 -w n1,n3 python "$programs/save.py" "$shared/topology.pt"
    said 'rank=0 world=2 '
    succeeds 60 srun --ddp=order=topology -N2 --ntasks-per-node=1 -w n1,n3 \
        torchrun --nproc-per-node=2 "$programs/save.py" "$shared/topology.pt"
    said 'rank=0 world=4 '
    succeeds 60 env PYTHONPATH="$ROLLCALL_PREFIX/share/rollcall/python" \
        srun --ddp=order=topology -N2 -n2 -w n1,n3 python -c '
import os, rollcall
rank, node = rollcall.identity().rank, os.uname().nodename
print(rank, node, rollcall.broadcast("who", node.encode() if rank == 0 else None).decode())'
    said '^0 n3 n3$'
    said '^1 n1 n3$'
}

# bats test_tags=all,newest
@test "over PMIx, and with rollcall exec" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    attempt 30 srun --ddp=order=topology,exchange=pmix --mpi=pmix -N4 --ntasks-per-node=2 "$whoami"
    everybody whoami "${reversed[@]}"
    attempt 30 srun --mpi=pmix -N4 --ntasks-per-node=2 rollcall exec --ddp=order=topology -- "$whoami"
    everybody whoami "${reversed[@]}"
}

# bats test_tags=all,newest
@test "order=topology in plugstack.conf" {
    local state
    state=${shared%/shared}
    sed -i 's/$/ order=topology/' "$state/plugstack.conf"
    attempt 30 srun --ddp -N4 --ntasks-per-node=2 "$whoami"
    everybody whoami "${reversed[@]}"
    attempt 30 srun --ddp=order=given -N2 -n2 -w n1,n3 "$whoami"
    sed -i 's/ order=topology//' "$state/plugstack.conf"
    succeeded
    unsaid RC308
}

# bats test_tags=all,newest
@test "block, interleaved; many switches; without a topology" {
    local n
    cluster_down
    if [ "${SERIES:-22.05}" = 22.05 ]; then
        cluster_up --nodes 4 --topology 'tree:n[2,4],n[1,3]'
    else
        cluster_up --nodes 4 --topology 'block:n[2,4],n[1,3]'
    fi
    answers 'whoami n2=0,1 n4=2,3 n1=4,5 n3=6,7' 30 srun --ddp=order=topology -N4 --ntasks-per-node=2 "$whoami"
    cluster_down
    # by their numbers: s2 before s10
    cluster_up --nodes 11 --cpus 1 --topology "tree:$(for n in {11..1}; do printf 'n%s,' "$n"; done)"
    attempt 30 srun --ddp=order=topology -N11 -n11 "$whoami"
    everybody whoami world=11 nodes=11 $(for n in {1..11}; do echo "n$n=$((11 - n))"; done)
    cluster_down
    cluster_up --nodes 2
    answers 'whoami n1=0 n2=1' 30 srun --ddp=order=topology -N2 -n2 "$whoami"
    [ "$(grep -c 'RC308.*Slurm has no switches or blocks here' "$err")" -eq 1 ] || explain "not once"
}
