#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# launches.bats - what people type most: one task, torchrun in a script, an argument of torchrun's too many.

load helpers

cluster=(--nodes 2 --cpus 4 --gpus 2)
alone=compared

# script LINE...: $shared/run.sh, which rollcall does not read
script()
{
    printf '%s\n' '#!/bin/sh' "$@" > "$shared/run.sh"
    chmod 755 "$shared/run.sh"
}

# bats test_tags=series
@test "one task: --ddp and exec -> rank 0 of 1" {
    for launch in 'srun --ddp -n1' 'srun --ddp -n1 --gpus-per-node=1' 'srun -n1 rollcall exec --'; do
        answers 'ranks world=1 nodes=1' 60 $launch python "$programs/ddp.py"
    done
    attempt 20 srun -n1 rollcall show
    said '^mode +worker: one task, with no more than one GPU'
    said '^  set +RANK +0 '
}

@test "one task: mpirun, the shell of salloc, a batch script, rollcall.apply() -> rank 0 of 1" {
    for launch in 'salloc -Qn1 env CUDA_VISIBLE_DEVICES=0 mpirun -np 1 -x CUDA_VISIBLE_DEVICES rollcall exec --' \
        'salloc -Qn1 rollcall exec --'; do
        answers 'ranks world=1 nodes=1' 60 $launch python "$programs/ddp.py"
        unsaid RC311
    done
    # the nodes have two GPUs each, and the job has none
    batch 60 -n1 <<< "rollcall exec -- python $programs/ddp.py"
    everybody ranks world=1 nodes=1
    attempt 60 env PYTHONPATH="$ROLLCALL_PREFIX/share/rollcall/python:$programs" srun -n1 python -c 'import rollcall, runpy, sys
rollcall.apply(alone=True)
runpy.run_path(sys.argv[1], run_name="__main__")' "$programs/ddp.py"
    everybody ranks world=1 nodes=1
}

@test "one task: Lightning, torchrun --standalone and mp.spawn inside -> they train" {
    succeeds 90 srun --ddp -n1 python "$programs/lit.py" --devices 1 --num-nodes 1
    said '^ROLL rank=0 world=1 .* environment=SLURMEnvironment '
    script "exec torchrun --standalone --nproc-per-node=2 $programs/torchrun_train.py"
    answers 'ranks world=2 nodes=1' 90 srun --ddp -n1 "$shared/run.sh"
    answers 'ranks world=2 nodes=1' 90 srun -n1 rollcall exec -- "$shared/run.sh"
}

@test "one task in a job of many: srun -n1 rollcall exec -> rank 0 of 1" {
    answers 'ranks world=1 nodes=1' 90 salloc -Q -N2 --ntasks-per-node=2 srun -n1 -N1 rollcall exec -- python "$programs/ddp.py"
}

# bats test_tags=series
@test "torchrun in a script, one task a node with at most one GPU -> both nodes train together" {
    script "exec torchrun --nproc-per-node=2 $programs/torchrun_train.py"
    for launch in 'srun --ddp' 'srun rollcall exec --'; do
        trains 90 ${launch/srun/srun -N2 --ntasks-per-node=1} "$shared/run.sh"
    done
}

@test "torchrun in a script, with --nnodes and --node_rank, in a Makefile, behind flock -> the same" {
    script "exec torchrun --nnodes=2 --node_rank=\$SLURM_NODEID --nproc-per-node=2 $programs/torchrun_train.py"
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=1 "$shared/run.sh"
    printf 'train:\n\ttorchrun --nproc-per-node=2 %s\n' "$programs/torchrun_train.py" > "$shared/Makefile"
    trains 90 srun --ddp -N2 --ntasks-per-node=1 make -s -C "$shared" train
    trains 90 srun --ddp -N2 --ntasks-per-node=1 flock "/tmp/lock" torchrun --nproc-per-node=2 "$programs/torchrun_train.py"
}

# In a script nothing is known of --standalone, and the nodes' number stands in the environment.
@test "torchrun --standalone in a script on two nodes -> it ends with an error, and nobody trains apart" {
    script "exec torchrun --standalone --nproc-per-node=2 $programs/torchrun_train.py"
    fails 60 env PET_RDZV_CONF=join_timeout=10 srun --ddp -N2 --ntasks-per-node=1 "$shared/run.sh"
    said RendezvousTimeoutError
    ! grep -q '^ROLL ' "$out" || explain "a node trains by itself"
    # one for each node, as docs/symptoms.md has it
    script "exec torchrun --standalone --nnodes=1 --nproc-per-node=2 $programs/torchrun_train.py"
    succeeds 60 srun --ddp -N2 --ntasks-per-node=1 "$shared/run.sh"
    [ "$(grep -c '^ROLL .* world=2 ' "$out")" -eq 4 ] || explain 'not each node for itself'
}

@test "c10d without an endpoint -> the nodes meet at rank 0's" {
    for launch in 'srun --ddp' 'srun rollcall exec --'; do
        trains 90 ${launch/srun/srun -N2 --ntasks-per-node=1} torchrun --rdzv-backend=c10d --nproc-per-node=2 \
            "$programs/torchrun_train.py"
    done
}

# bats test_tags=series
@test "an argument that would hang: every task ends with one error, also under exec without -K" {
    for words in '--node_rank=0' '--nnodes=2 --node_rank=0 --master_addr=n1' '--nnodes=3' '--master_addr=localhost' \
        '--rdzv_backend=c10d --rdzv_endpoint=localhost:29400'; do
        fails 30 srun --ddp -N2 --ntasks-per-node=1 torchrun $words --nproc-per-node=2 "$programs/torchrun_train.py"
        [ "$status" -ne 124 ] || explain "it hangs"
        said 'RC312: torchrun was given .*: torchrun .*torchrun_train.py'
        fails 30 srun -N2 --ntasks-per-node=1 rollcall exec -- torchrun $words --nproc-per-node=2 \
            "$programs/torchrun_train.py"
        [ "$status" -ne 124 ] || explain "it hangs"
        [ "$(grep -c RC312 "$err")" -eq 2 ] || explain "not each task says it"
    done
}

@test "--nproc_per_node=\$SLURM_GPUS_PER_NODE that is empty or a kind of GPU -> one line with what to type" {
    for value in '' gpu:2; do
        fails 30 srun --ddp -N2 --ntasks-per-node=1 torchrun --nproc_per_node="$value" "$programs/torchrun_train.py"
        said "RC313: torchrun was given --nproc_per_node='$value', .*: torchrun .*torchrun_train.py"
    done
}

@test "launcher mode: show says what the mode is for" {
    attempt 20 srun -N2 --ntasks-per-node=1 --gpus-per-node=2 rollcall show
    said 'for torchrun, Lightning and others that start one process a GPU; a script that reads RANK needs .*ntasks-per-node=2'
    said 'ok for a launcher'
}
