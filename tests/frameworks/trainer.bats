#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# trainer.bats - row M7: Hugging Face's Trainer, DeepSpeed's init_distributed, FairScale.

# bats file_tags=all

load helpers

setup_file()
{
    needs_root || return 0
    python_of large
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
    # DeepSpeed compiles a module when it is first used on a CPU: once, and not by four at a time
    export TORCH_EXTENSIONS_DIR=$ROLLCALL_PYTHONS/large/extensions
    PATH=$ROLLCALL_PYTHONS/large/bin:$PATH RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_SIZE=1 MASTER_ADDR=127.0.0.1 \
        MASTER_PORT=29555 timeout 500 python "$ours/deepspeed_init.py" > "$BATS_FILE_TMPDIR/deepspeed.log" 2>&1 || {
        cat "$BATS_FILE_TMPDIR/deepspeed.log" >&2
        return 1
    }
}

@test "Trainer under srun --ddp, under mpirun inside a job, and started by torchrun" {
    trains 120 srun --ddp -N2 --ntasks-per-node=2 python "$ours/trainer.py" "$shared/trainer"
    [ "$(grep -c ' steps=2 ' "$out")" -eq 4 ]
    trains 120 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$ours/trainer.py" "$shared/mpirun"
    trains 120 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$ours/trainer.py" "$shared/torchrun"
}

@test "deepspeed.init_distributed() under srun --ddp, and under mpirun inside a job" {
    trains 90 srun --ddp -N2 --ntasks-per-node=2 python "$ours/deepspeed_init.py"
    [ "$(grep -c ' sum=6 ' "$out")" -eq 4 ]
    trains 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$ours/deepspeed_init.py"
}

@test "FairScale's sharded data parallel under srun --ddp" {
    trains 90 srun --ddp -N2 --ntasks-per-node=2 python "$ours/fairscale_train.py"
}
