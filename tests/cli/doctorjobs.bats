#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# doctorjobs.bats - rollcall doctor job.sh: what a file is, what the job starts, and what was not looked at.

load helper
load doctor
load ../pages

setup()
{
    only_python
}

@test "each wrong job of the table has its finding, and the right one beside it none" {
    local here=$BATS_TEST_DIRNAME/doctor
    HOME=$BATS_TEST_TMPDIR run -0 python3 -B "$here/table.py" "$prefix/libexec/rollcall/doctor"
    [ "$output" = "$(grep -c '^== ' "$here/rows.txt") rows" ]
}

@test "a job script is followed to the file that it starts" {
    mkdir code
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=4' 'cd code' 'RUN="python -u"' \
        "srun --ddp \$RUN train.py --lr 1" > job.sh
    printf '%s\n' 'import os' 'os.environ["MASTER_ADDR"] = "localhost"' > code/train.py
    for arguments in job.sh '--script job.sh' '-- sbatch job.sh'; do
        matches 1 '*D404  code/train.py:2*' doctor $arguments
        [ "${lines[-1]}" = 'verdict   1 warning; begin with D404, code/train.py:2' ]
    done
    matches 1 '*D404  code/train.py:2*' doctor -- srun --ddp -N2 -n8 python code/train.py
    echo 'import os' > code/train.py
    run -0 doctor job.sh
    [[ $output == *'script    code/train.py: '* && ${lines[-1]} == 'verdict   nothing found' ]]
    printf '%s\n' '#!/usr/bin/env python3' '#SBATCH -N 2' 'import lightning' \
        'lightning.Trainer(num_nodes=2, devices=4)' > lit
    for arguments in lit '-- sbatch lit'; do
        run -3 doctor $arguments
        [[ $output == *'D514  lit:1'* && $output == *'script    lit: Lightning'* ]]
    done
}

@test "what was not looked at is said, and is no all-clear" {
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=4' 'srun --ddp python train.py' > job.sh
    run -4 doctor job.sh
    [ "${lines[-1]}" = 'verdict   nothing found, but not all was looked at; see D422, job.sh:3' ]
    [[ $output == *'what    not looked at: train.py, which is not here'* ]]
    matches 4 '*not looked at: train.py, which is not here*' doctor -- srun --ddp -N2 -n8 python train.py
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2' 'srun --ddp apptainer exec x.sif ./run.sh' 'srun $ARGS train' > job.sh
    matches 4 '*not looked at: ./run.sh, which is not here*' doctor job.sh
    [[ $output == *'not looked at: $ARGS, which is known in the job alone'* ]]
    printf '%s\n' '#!/bin/bash' 'exec torchrun --nnodes=3 train.py' > run.sh
    matches 3 '*D512  job.sh:3*--nnodes=3, but the step has 2 nodes*' doctor job.sh
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=4' 'srun --ddp python train.py' > job.sh
    echo 'def broken(:' > train.py
    for arguments in train.py job.sh '-- srun --ddp -N2 -n8 python train.py'; do
        run -4 doctor $arguments
        [[ $output == *'D421  train.py:1'* && $output == *'not looked at: SyntaxError'* ]]
    done
    matches 4 '*not looked at: it is neither Python nor a shell script*' doctor /bin/ls
    printf '#!/bin/tcsh\nsetenv A 1\n' > job.csh
    matches 4 '*not looked at: it is for tcsh*' doctor job.csh
    matches 4 '*D421  /bin/ls*' doctor --script /bin/ls
}

@test "--ddp= of a job is read as srun would read it" {
    touch train.py
    for option in workr worker,nproc=4; do
        printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=4' "srun --ddp=$option python train.py" > job.sh
        matches 3 '*error D524  job.sh:3*' doctor job.sh
    done
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=4' "srun --ddp=worker,nproc=\$N python train.py" \
        'srun --ddp=launcher,nproc=4 python train.py' > job.sh
    run -0 doctor job.sh
    matches 3 '*error D524*srun --ddp=worker*' doctor -- srun -N2 -n8 --ddp worker python train.py
}

@test "an srun that does not run is no finding of a script, and an unknown Slurm is said" {
    printf '#!/bin/sh\nexit 1\n' > bin/srun
    chmod 755 bin/srun
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=4 --cpus-per-task=8' 'srun --ddp python train.py' \
        > job.sh
    touch train.py
    matches 4 '*D422  job.sh:3*whether srun takes over --cpus-per-task=8*' doctor job.sh
    [ "${lines[-1]}" = 'verdict   nothing found, but not all was looked at; see D422, job.sh:3' ]
    sed 's/srun/& --cpus-per-task=8/' job.sh > asked.sh
    run -0 doctor asked.sh
    run -0 doctor train.py -- srun --ddp -N2 -n8 python train.py
    for version in 22.05.8 23.02.7; do
        printf '#!/bin/sh\necho slurm %s\necho --ddp\n' $version > bin/srun
        matches 1 '*D510  job.sh:3*' doctor job.sh
    done
    printf '#!/bin/sh\necho slurm 23.11.10\necho --ddp\n' > bin/srun
    run -0 doctor job.sh
    printf '#!/bin/sh\necho slurm 26.05.5\necho --ddp\n' > bin/srun
    environment=(SLURM_GPUS_PER_NODE=4) # in a shell of salloc --gpus-per-node=4
    matches 3 '*error D535  command line:1*' doctor -- srun --ddp -N2 -n8 --gres=gpu:4 python train.py
}

@test "the jobs of README.md and docs/user.md, and the templates of docs/jobs: nothing is found" {
    printf '#!/bin/sh\necho slurm 22.05.8\necho --ddp\n' > bin/srun
    chmod 755 bin/srun
    printf '%s\n' 'import os, torch' 'import torch.distributed as dist' 'dist.init_process_group("nccl")' \
        'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))' \
        'loader = torch.utils.data.DataLoader([], num_workers=4)' > train.py
    cp "$top"/docs/jobs/*.s[bh]* .
    page_blocks "$top/README.md" diff 1 | grep -v '^-' | cut -c2- > readme.sh
    for number in 2 4; do # the others are how such jobs were before
        page_blocks "$top/docs/user.md" bash "$number" > "user$number.sh"
        grep -q rollcall "user$number.sh"
    done
    set -- *.s[bh]*
    [ $# -eq 15 ]
    for template; do
        matches 0 '*script    train.py: *' doctor "$template"
        [ "${lines[-1]}" = 'verdict   nothing found' ]
    done
    # of a cluster without the plugin
    printf '#!/bin/sh\necho slurm 22.05.8\n' > bin/srun
    matches 0 '*script    train.py: *' doctor readme.sh
    [ "${lines[-1]}" = 'verdict   nothing found' ]
}
