#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What `rollcall rehearse` prints, for which commands, and its exit status.
# shellcheck disable=SC2016

load jobs

rows()
{
    grep -E "^(at |$1)" <<< "$output" | tr -s ' '
}

@test "sbatch: a job of two nodes -> its numbers, and one line for each process" {
    job 2 'export MASTER_ADDR=n1 MASTER_PORT=29500
srun ./wrap.sh python train.py --lr 0.1'
    run -0 rollcall rehearse sbatch job.sh
    [ "${lines[0]}" = 'job.sh: 2 nodes, 4 tasks, 2 GPUs a node' ]
    [ "$(tr -s ' ' <<< "${lines[2]}")" = 'job.sh:6 0 n1 0 0 4 n1:29500 0,1 python train.py --lr 0.1' ]
    [ "$(tr -s ' ' <<< "${lines[5]}")" = ' 3 n2 3 1 4 n1:29500 0,1 python train.py --lr 0.1' ]
    [ "${lines[6]}" = 'verdict nothing found' ]
}

@test "options: the command line, SBATCH_ names and #SBATCH lines -> in that order" {
    job 2 'python single.py'
    run -0 rollcall rehearse sbatch -N3 job.sh
    [[ ${lines[0]} == 'job.sh: 3 nodes, 6 tasks'* ]]
    SBATCH_NUM_NODES=4 run -0 rollcall rehearse sbatch job.sh
    [[ ${lines[0]} == 'job.sh: 4 nodes, 8 tasks'* ]]
    run -0 rollcall rehearse sbatch --wrap 'srun python single.py' -n3
    [[ ${lines[0]} == 'wrap: 1 node, 3 tasks'* ]]
    run -0 rollcall rehearse bash -c 'sbatch job.sh'
    [[ ${lines[0]} == 'job.sh: 2 nodes, 4 tasks'* ]]
}

@test "salloc and srun outside of a job, a script that submits, mpirun on this machine" {
    printf '#!/bin/bash\nsrun python single.py\n' > inner.sh
    chmod +x inner.sh
    run -0 rollcall rehearse salloc -N2 -n2 ./inner.sh
    [[ $output == *'inner.sh:2'*'n1'*'n2'* ]]
    run -0 rollcall rehearse srun --ddp -N2 --ntasks-per-node=2 --gpus-per-node=2 python train.py
    [[ $output == *' n2 '*' 3 '* ]]
    job 1 'srun python single.py'
    printf '#!/bin/bash\nfor lr in 1 2; do sbatch job.sh $lr; done\n' > submit.sh
    chmod +x submit.sh
    run -0 rollcall rehearse ./submit.sh
    [ "$(grep -c '^job.sh: 2 nodes' <<< "$output")" = 2 ]
    run -3 rollcall rehearse mpirun -np 2 python default.py
}

@test "8000 tasks -> the first, second and last node, and all are counted" {
    run -0 rollcall rehearse srun --ddp -N1000 --ntasks-per-node=8 --gpus-per-node=8 python train.py
    [[ $output == *'0-7        n1     0-7'*'8-15       n2     8-15'*'7992-7999  n1000  7992-7999'* ]]
}

@test "the output of a program that did not run -> not known, status 4, and no finding rests on it" {
    job 2 'export MASTER_ADDR=$(nslookup head | head -n 1) MASTER_PORT=29500
srun ./wrap.sh python train.py'
    run -4 rollcall rehearse sbatch job.sh
    [[ $output == *'not known (job.sh:5): the output of `nslookup head`'* ]]
    [[ $output != *error* ]]
}

@test "a program that is not here -> which names it reads is not known" {
    job 2 'srun python other.py'
    run -4 rollcall rehearse sbatch job.sh
    [[ $output == *'other.py: it is not here'* ]]
}

@test "what Slurm would refuse -> an error: too many nodes, no #!, another scheduler, no such script" {
    wrong D615 2 'srun -N3 python single.py'
    echo 'srun python single.py' > job.sh
    run -3 rollcall rehearse sbatch job.sh
    printf '#!/bin/bash\n#PBS -l select=2\npython single.py\n' > job.sh
    run -3 rollcall rehearse sbatch job.sh
    [[ $output == *'#PBS are of another scheduler'* ]]
    run -3 rollcall rehearse sbatch missing.sh
    run -3 rollcall rehearse ./missing.sh
}

@test "--multi-prog, --het-group, A : B -> each task its own program" {
    printf '0 python single.py a\n1-3 python single.py %%t-%%o\n' > programs
    job 2 'srun --multi-prog programs'
    run -0 rollcall rehearse --json sbatch job.sh
    [[ $(tr -d ' \n' <<< "$output") == *'"argv":["python","single.py","3-2"]'* ]]
    printf '%s\n' '#!/bin/bash' '#SBATCH -n1' '#SBATCH hetjob' '#SBATCH -N2 -n2' 'srun --het-group=1 python a.py' \
        'srun -n1 python b.py : -n2 python c.py' > job.sh
    run rollcall rehearse sbatch job.sh
    [[ $(tr -s ' ' <<< "$output") == *'job.sh:5 0 n2 '*$'\n 1 n3 '*'job.sh:6 0 n1 '*'job.sh:6 1 n2 '*$'\n 2 n3 '* ]]
}

@test "--slurm: srun's --nodes and --ntasks-per-node against the job's --ntasks -> as that series does" {
    job 2 'srun -N2 --ntasks-per-node=1 python single.py'
    run -1 rollcall rehearse --slurm 22.05 sbatch job.sh
    [[ $output == *'srun ignores --ntasks-per-node=1'* ]]
    run -0 rollcall rehearse --slurm=24.11 sbatch job.sh
    [[ $(tr -s ' ' <<< "$output") == *$'\n 1 n2 '* ]]
}

@test "wrong usage -> status 2 and one line" {
    run -2 rollcall rehearse
    [ ${#lines[@]} -eq 1 ]
    run -2 rollcall rehearse --foo true
    run -2 rollcall rehearse --slurm 19.05 true
    [[ $output == *'--slurm is one of 22.05, 24.11, 26.05' ]]
}

@test "nothing is left: no folder, no process" {
    mkdir tmp
    job 1 'sleep 1000 & srun python single.py'
    TMPDIR=$PWD/tmp run -0 rollcall rehearse sbatch job.sh
    [ -z "$(ls -A tmp)" ]
}

@test "a free port found before srun -> the same for all, so nothing is left open" {
    job 1 'export MASTER_ADDR=$(hostname)
export MASTER_PORT=$(python -c "import socket; s = socket.socket(); s.bind((str(), 0)); print(s.getsockname()[1])")
srun torchrun --nnodes 2 --nproc_per_node gpu --rdzv_backend c10d --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT train.py'
    rehearsed 0
    sed -i 's/^srun.*/srun bash -c "MASTER_PORT=\\$(nslookup x) .\/wrap.sh python train.py"/; s/-node=1/-node=2/' job.sh
    rehearsed 4
}

@test "a loop that waits for what never comes -> ended at the bound, and its line is named" {
    job 1 'srun python single.py
until [ -e ready ]; do sleep 1; done'
    SECONDS=0
    rehearsed 4
    [[ $output == *'not known (job.sh:6): what follows'* ]]
    ((SECONDS < 60))
}
