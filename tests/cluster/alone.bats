#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# alone.bats - --ddp=alone: one process in a job of many tasks is rank 0 of 1.

load helpers

cluster=(--nodes 2 --cpus 8 --gpus 4 --mpi pmix)

# one COUNT: so many processes, each rank 0 of 1, and nothing of rollcall's to read
each_is_one()
{
    succeeded || return 1
    [ "$(grep -c '^ROLL .*rank=0 .*world=1 .*seen=0 ' "$out")" -eq "$1" ] || explain "not $1 processes, each rank 0 of 1"
    [ "$(grep -c ^ROLL "$out")" -eq "$1" ] || explain "more than $1 processes"
    unsaid 'rollcall: '
}

ddp=(python "$programs/ddp.py")
lightning=(python "$programs/lit.py" --num-nodes 1 --devices)

# bats test_tags=series
@test "exec: a batch script of --ntasks=8 -> torch and Lightning are rank 0 of 1" {
    made=RC915 batch 150 -N2 --ntasks=8 <<< "
        export MASTER_ADDR=n2 MASTER_PORT=29500 RANK=\$SLURM_PROCID WORLD_SIZE=8
        rollcall exec --ddp=alone -- ${ddp[*]} & first=\$!
        ROLLCALL=alone rollcall exec -- ${ddp[*]} && wait \$first && rollcall exec --ddp=alone -- ${lightning[*]} 1"
    each_is_one 3
}

# bats test_tags=series
@test "srun --ddp=alone: each task is rank 0 of 1, and none ends the others" {
    attempt 90 srun --ddp=alone -N2 -n4 "${ddp[@]}"
    each_is_one 4
    attempt 60 srun --ddp=alone -n2 sh -c '[ "$(hostname)" != n1 ] || [ $RANK = 0 ] && mkdir '"$shared"'/first.$SLURM_JOB_ID 2> /dev/null && exit 3; sleep 2; echo ended'
    [ "$status" -eq 3 ]
    said '^ended$'
}

@test "srun and exec, mpirun and exec, preload: rank 0 of 1" {
    attempt 90 srun --mpi=$mpi -N2 -n4 rollcall exec --ddp=alone -- "${ddp[@]}"
    each_is_one 4
    attempt 90 salloc -N2 --ntasks-per-node=2 mpirun -np 4 rollcall exec --ddp=alone -- "${ddp[@]}"
    each_is_one 4
    attempt 90 srun -N2 -n4 env ROLLCALL=alone LD_PRELOAD="$preload" "${ddp[@]}"
    each_is_one 4
}

@test "several GPUs: Lightning starts its own workers, torch is rank 0 of 1, torchrun trains on the node" {
    attempt 150 srun -N1 -n1 --gpus-per-node=4 rollcall exec --ddp=alone -- "${lightning[@]}" 4
    everybody ranks world=4 nodes=1
    [ "$(grep -c 'environment=LightningEnvironment' "$out")" -eq 4 ]
    batch 150 -N2 --ntasks=8 --gpus-per-node=4 <<< "rollcall exec --ddp=alone -- ${lightning[*]} 4"
    everybody ranks world=4 nodes=1
    attempt 90 srun --ddp=alone -N1 -n1 --gpus-per-node=4 "${ddp[@]}"
    each_is_one 1
    attempt 90 srun --ddp=alone,nproc=1 -N1 -n1 --gpus-per-node=4 sh -c 'echo "local $LOCAL_RANK"'
    said '^local 0$'
    attempt 150 srun --ddp=alone -N1 -n1 --gpus-per-node=4 torchrun "$programs/torchrun_train.py"
    everybody ranks world=4 nodes=1
}

@test "a launch inside of it: srun and mpirun number their own tasks" {
    attempt 90 salloc -N2 --ntasks-per-node=2 rollcall exec --ddp=alone -- \
        sh -c 'srun --ddp -N2 --ntasks-per-node=2 "$@"' sh "${ddp[@]}"
    everybody ranks world=4 nodes=2
    attempt 90 srun --ddp=alone -N1 -n1 sh -c 'ROLLCALL= rollcall show --json | grep -E "rank|world"'
    said '"world_size": 1'
}
