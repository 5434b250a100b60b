#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# torch.bats - rows T6 (every pair of ranks exchanges tensors) and T9 (a port for each process).

load helpers

cluster=(--nodes 2 --cpus 4 --mpi pmix)

@test "T6: send, recv, isend, irecv and the collectives between all pairs, gloo, under srun" {
    answers 'ranks n1=0,2 n2=1,3' 90 srun --ddp -N2 --ntasks-per-node=2 -m cyclic python "$ours/pairs.py" gloo
    [ "$(grep -c ' pairs=6 backend=gloo ' "$out")" -eq 4 ]
}

# bats test_tags=all
@test "T6: the same under mpirun" {
    answers 'ranks n1=0,2 n2=1,3' 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by node rollcall exec -- python "$ours/pairs.py" gloo
    [ "$(grep -c ' pairs=6 backend=gloo ' "$out")" -eq 4 ]
}

# bats test_tags=all
@test "T6: the same with nccl, where there is a GPU" {
    command -v nvidia-smi > /dev/null && nvidia-smi -L | grep -q GPU || skip "no GPU"
    answers 'ranks world=2 nodes=1' 120 srun --ddp -N1 -n2 python "$ours/pairs.py" nccl
}

# One process alone cannot know what the others drew: it can show what it has, and what the step gives to all.
@test "T9: show --why shows each process its own port, and the one that all would have" {
    succeeds 60 srun --ddp -N2 --ntasks-per-node=2 sh -c \
        'MASTER_PORT=$((21000 + SLURM_PROCID)) exec rollcall show --why --all'
    for rank in 0 1 2 3; do
        said "^ +keep +MASTER_PORT = 2100$rank\$"
    done
    all=$(sed -n 's/.* changed since; all tasks use \([0-9]*\)$/\1/p' "$out" | sort | uniq -c)
    [ "$(wc -l <<< "$all")" -eq 1 ]
    [[ $all =~ ^\ *4\ [1-9][0-9]+$ ]] || explain "without: $all"
}
