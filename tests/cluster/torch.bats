#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# torch.bats - what people write with torch alone: rows T1 to T10 of the launches that must work.

load helpers

cluster=(--nodes 2 --cpus 4 --gpus 2)
alone=compared

@test "T1: srun --ddp, env://, DistributedDataParallel" {
    trains 90 srun --ddp -N2 --ntasks-per-node=2 python "$programs/ddp.py"
}

# applying SECONDS LAUNCH...: ddp.py, which says nothing of rollcall, after rollcall.apply()
applying()
{
    attempt "$1" env PYTHONPATH="$ROLLCALL_PREFIX/share/rollcall/python:$programs" "${@:2}" python -c 'import rollcall, runpy, sys
rollcall.apply()
runpy.run_path(sys.argv[1], run_name="__main__")' "$programs/ddp.py"
    everybody ranks world=4 nodes=2
}

@test "T1: rollcall.apply() in the script, with plain srun" {
    applying 90 srun -N2 --ntasks-per-node=2
}

# bats test_tags=all
@test "T1: rollcall.apply() in the script, with mpirun, and with srun --ddp" {
    applying 90 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node -x PYTHONPATH
    applying 90 srun --ddp -N2 --ntasks-per-node=2
}

# bats test_tags=series
@test "T2: torchrun without arguments, the GPUs tell the number of workers" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$programs/torchrun_train.py"
    grep -c 'elastic=True master=n1 ' "$out" | grep -qx 4
}

# bats test_tags=all
@test "T2, T3: torchrun without GPUs, --ddp=launcher,nproc=2; the user's arguments win" {
    trains 90 srun --ddp=launcher,nproc=2 -N2 --ntasks-per-node=1 torchrun "$programs/torchrun_train.py"
    answers 'ranks world=2 nodes=2' 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 \
        torchrun --nproc-per-node=1 "$programs/torchrun_train.py"
}

@test "T3: torchrun with the user's c10d rendezvous at MASTER_ADDR:MASTER_PORT" {
    trains 90 srun --ddp=launcher,nproc=2 -N2 --ntasks-per-node=1 sh -c \
        'exec torchrun --rdzv-backend=c10d --rdzv-endpoint=$MASTER_ADDR:$MASTER_PORT "$0"' \
        "$programs/torchrun_train.py"
}

@test "T3: arguments that contradict the step are named" {
    attempt_until 1 'RC304.*nnodes' 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 \
        torchrun --nnodes=1 --nproc-per-node=2 "$programs/torchrun_train.py"
    fails 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 \
        torchrun --node_rank 0 --nproc-per-node=2 "$programs/torchrun_train.py"
    said 'RC312.*node.rank'
}

# Rank 0 is on n2, and the user meets at n1. torch warns of a node rank that its rendezvous does not use.
@test "T3: the user's c10d rendezvous at a node that is not rank 0's" {
    printf 'n2\nn1\n' > "$shared/reverse"
    trains 60 env SLURM_HOSTFILE="$shared/reverse" srun --ddp -n2 -m arbitrary torchrun --nnodes=2 \
        --nproc_per_node=2 --rdzv_backend=c10d --rdzv_id=8 --rdzv_endpoint=n1:23458 "$programs/torchrun_train.py"
    unsaid 'node_rank is only used|RC304'
}

# bats test_tags=all
@test "T3: the same in a script that rollcall does not read" {
    printf 'n2\nn1\n' > "$shared/reverse"
    printf '#!/bin/sh\nexec torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_endpoint=n1:23458 %s\n' \
        "$programs/torchrun_train.py" > "$shared/run.sh"
    trains 60 env SLURM_HOSTFILE="$shared/reverse" srun --ddp=launcher -n2 -m arbitrary sh "$shared/run.sh"
}

# bats test_tags=all
@test "T3: one srun for each node, whose agents meet without a run id of one step" {
    for rank in 0 1; do
        echo "srun --ddp -N1 -n1 -w n$((rank + 1)) torchrun --nnodes=2 --node_rank=$rank --nproc_per_node=2 \
            --master_addr=n1 --master_port=23459 $programs/torchrun_train.py &"
    done > "$shared/loop"
    echo wait >> "$shared/loop"
    batch 90 -N2 --ntasks-per-node=1 < "$shared/loop"
    everybody ranks world=4 nodes=2
    unsaid RC304
}

# As sbatch --signal=USR1@90 does it, near the end of the time limit.
@test "T3: a signal of Slurm's reaches torchrun's workers, which have the time to save" {
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$programs/signalled.py" SIGUSR1
    [ "$(grep -c ' saved=SIGUSR1 ' "$out")" -eq 4 ]
}

# bats test_tags=all
@test "T3: the same by SIGUSR2" {
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$programs/signalled.py" SIGUSR2
    [ "$(grep -c ' saved=SIGUSR2 ' "$out")" -eq 4 ]
}

@test "T3: torchrun --standalone does not wait for the other node" {
    succeeds 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 \
        torchrun --standalone --nproc-per-node=2 "$programs/torchrun_train.py"
    [ "$(roll duplicates "$out")" = "0 1" ]
    said RC305
}

@test "T4: python -m torch.distributed.launch, the script takes --local_rank" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 \
        python -m torch.distributed.launch --nproc_per_node=2 "$programs/launch_train.py"
    grep -c 'how=argument' "$out" | grep -qx 4
}

# bats test_tags=all
@test "T4: python -m torch.distributed.launch --use_env" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 \
        python -m torch.distributed.launch --nproc_per_node=2 --use_env "$programs/launch_train.py"
    grep -c 'how=environment' "$out" | grep -qx 4
}

@test "T5: mp.spawn, env://" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 python "$programs/spawn.py"
    grep -c 'worker_vars=none' "$out" | grep -qx 4
}

# bats test_tags=all
@test "T5: mp.spawn, tcp://MASTER_ADDR:MASTER_PORT" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 python "$programs/spawn.py" --init tcp
}

@test "T7: exactly one process saves, and the file loads" {
    succeeds 90 srun --ddp -N2 --ntasks-per-node=2 python "$programs/save.py" "$shared/model.pt"
    grep -c 'saved=.* rank=0 world=4 ' "$out" | grep -qx 1
    [ "$(grep -c saved= "$out")" -eq 1 ]
    login python - "$shared/model.pt" "$programs" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[2])
import toy, torch
toy.model().load_state_dict(torch.load(sys.argv[1]))
PYTHON
}

@test "T8: init_method=file://, explicit rank" {
    trains 90 srun --ddp -N2 --ntasks-per-node=2 python "$programs/file_init.py" "$shared/meeting"
}

@test "T10: DataParallel in one process: rank 0 of 1, which changes nothing for it" {
    succeeds 90 srun --ddp -n1 --gpus-per-node=1 python "$programs/dataparallel.py"
    said "^ROLL loss=$loss found=RANK,WORLD_SIZE,LOCAL_RANK,NODE_RANK,MASTER_ADDR,MASTER_PORT "
}
