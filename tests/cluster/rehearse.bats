#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rehearse.bats - the same job under Slurm and in `rollcall rehearse`: each process has the same words and variables.
# shellcheck disable=SC2016

# bats file_tags=series

load helpers

cluster=(--nodes 3 --cpus 4 --gpus 2)
# no step of it asks for rollcall
plugin=no

# same OPTIONS LINES: a job whose `python` records what it was started with
same()
{
    local folder=$shared/job.$BATS_TEST_NUMBER.$((++jobs))
    mkdir -p "$folder/bin" "$folder/real"
    printf '#!/bin/sh\nexec %s %s record %s "$@"\n' "$(command -v python3)" "$cluster_tests/rehearse.py" "$folder/real" \
        > "$folder/bin/python"
    cp "$cluster_tests/rehearse.py" "$folder/bin/"
    sed -i "s|$cluster_tests|$folder/bin|" "$folder/bin/python"
    chmod 755 "$folder/bin/python"
    printf '#!/bin/bash\n#SBATCH %s\n%s\n' "$1" "$2" > "$folder/job.sh"
    attempt 60 env PATH="$folder/bin:$PATH" sbatch --wait -D "$folder" -o "$folder/out" "$folder/job.sh"
    cat "$folder/out" >> "$out"
    (cd "$folder" && "$ROLLCALL_PREFIX/bin/rollcall" rehearse --slurm "${SERIES:-22.05}" \
        --json sbatch job.sh > rehearsed) || true
    python3 "$cluster_tests/rehearse.py" compare "$folder/real" "$folder/rehearsed" || explain "$1: $2"
}

@test "tasks: --ntasks-per-node, --ntasks, both, neither, in the job and in the step" {
    same '-N2 --ntasks-per-node=2' 'srun python train.py'
    same '-N2 -n4 --exclusive --gpus-per-node=2' 'srun python train.py'
    same '-N2' 'srun python train.py'
    same '-N2 -n3 --exclusive --gpus-per-node=2' 'srun python train.py; srun -n2 python second.py; srun -N1 -n1 python third.py'
    same '-N2 --ntasks-per-node=2' 'srun --ntasks-per-node=1 python a.py; srun -N2 --ntasks-per-node=1 python b.py'
    same '-N3 --ntasks-per-node=1' 'srun -N2 -n2 -r1 python a.py; srun -w n2 -n1 python b.py; srun -x n1 -N2 -n2 python c.py'
}

@test "GPUs: for the node, for the task, in the step" {
    same '-N2 --ntasks-per-node=2 --gpus-per-node=2' 'python first.py; srun python train.py'
    same '-N2 --ntasks-per-node=2 --gres=gpu:2' 'srun python train.py'
    same '-N2 --ntasks-per-node=2 --gpus-per-task=1' 'srun python train.py'
    same '-N2 --ntasks-per-node=2 --gpus-per-node=2' 'srun --gpus-per-task=1 python train.py; srun --gpu-bind=single:1 python a.py'
}

@test "environments: --export, -E, -c, cyclic, arrays, a wrapper, the batch script itself" {
    same '-N2 -n4 --exclusive --gpus-per-node=2 --export=ALL,COLOR=red' 'export RANK=$SLURM_PROCID; python first.py; srun --export=PATH,HOME python a.py'
    same '-N2 -n4 --exclusive --gpus-per-node=2' 'srun -E -n2 python a.py; srun -m cyclic python b.py; srun --export=RANK=3,PATH python c.py'
    same '-N2 -n2 -c2' 'srun python a.py; srun bash -c "MASTER_ADDR=n1 RANK=\$SLURM_PROCID python b.py"'
    same '-N1 -a 3-3' 'python $SLURM_ARRAY_TASK_ID.py; srun python a.py'
}
