#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# inherited.bats - sbatch that is typed in a shell inside of another job: what it copies into the new one, and the line
# of the doctor that cures it.

# bats file_tags=series

load helpers

cluster=(--nodes 2 --cpus 4 --gpus 2)

# submit OPTION...: a job whose script asks the doctor first; its output is $shared/job.out
submit()
{
    printf '%s\n' '#!/bin/bash' 'rollcall doctor' 'srun sh -c "echo task of \$SLURMD_NODENAME"' > "$shared/job.sh"
    attempt 60 sbatch --wait -o "$shared/job.out" "$@" "$shared/job.sh"
    cat "$shared/job.out"
}

# inside OUTER...: submits a job of two nodes in a shell of OUTER, as it is typed there and as the doctor says: typed.out
# and cured.out
inside()
{
    rm -f "$shared"/*.out
    printf '%s\n' '#!/bin/bash' '#SBATCH --nodes=2' 'rollcall doctor' 'srun sh -c "echo task of \$SLURMD_NODENAME"' \
        > "$shared/job.sh"
    cat > "$shared/shell" << 'SHELL'
cd "$1" || exit 1
python -c 'import pty; pty.spawn(["rollcall", "doctor", "--json", "job.sh"])' < /dev/null > before
line=$(python -c 'import json, sys
text = sys.stdin.read()
findings = json.loads(text[text.index("{"):])["findings"]
print(*(row["change"] for row in findings if row["id"] == "D114"))' < before)
echo "line: $line"
sbatch --wait -o typed.out job.sh
eval "${line/sbatch/sbatch --wait -o cured.out}"
SHELL
    attempt 120 "$@" bash "$shared/shell" "$shared"
    said '^line: \(unset SLURM_.*; sbatch job\.sh\)$' || return 1
    [ "$(grep -c '^task of n[12]$' "$shared/cured.out")" -eq 2 ] || explain "$(cat "$shared/cured.out")"
    ! grep -E 'D11[45]|error' "$shared/cured.out" || explain "$(cat "$shared/cured.out")"
}

@test "a shell of salloc's: the job is one task instead of two, and the doctor's line cures it" {
    inside salloc -n1
    said '^line: .*SLURM_NTASKS\b'
    [ "$(grep -c '^task of' "$shared/typed.out")" -eq 1 ]
    inside salloc -n1 --gpus-per-node=1
    said '^line: .*SLURM_GPUS_PER_NODE\b'
    grep -q '^warning D114' "$shared/typed.out"
    grep -q 'change  unset SLURM_GPUS_PER_NODE' "$shared/typed.out"
    grep -qi 'gres' "$shared/typed.out"
}

@test "a shell in a step: its binding goes along" {
    inside srun -n1 --cpu-bind=cores
    said '^line: .*SLURM_CPU_BIND\b'
    grep -q 'change  unset SLURM_CPU_BIND' "$shared/typed.out"
}

@test "jobs that were submitted outside: nothing is named of what they have asked for" {
    local options
    for options in '-N2' '-N2 --ntasks-per-node=2' '-N2 -n4 --gpus-per-node=1' '-n2 --gpus-per-task=1 -c1' \
        '-N2 --gres=gpu:2 --cpus-per-task=2' '-n2 --gpus=2' '-N1 --gpus-per-node=1 --cpus-per-gpu=1' \
        '-N1 --ntasks-per-node=2 --array=1-2'; do
        submit $options
        succeeded
        grep -q '^verdict' "$shared/job.out"
        ! grep D114 "$shared/job.out" || explain "$options"
    done
}

# submits TYPE OPTION...: a job from a login shell, a task of srun, a pseudo terminal of srun, a batch script or a shell of
# salloc, by its script job.sh; its environment is in the file TYPE.env, its number of tasks in $tasks
submits()
{
    local type=$1 line="sbatch --wait -o $shared/job.out $shared/job.sh"
    rm -f "$shared/job.out"
    shift
    case $type in
        login) attempt 60 sh -c "$line" ;;
        srun) attempt 60 srun -N1 "$@" sh -c "[ \$SLURM_PROCID != 0 ] || $line" ;;
        pty) attempt 60 python -c 'import pty, sys; pty.spawn(sys.argv[1:])' srun -N1 --pty "$@" bash -c "$line" ;;
        batch)
            printf '%s\n' '#!/bin/bash' "$line" > "$shared/outer.sh"
            attempt 60 sbatch --wait -N1 -o "$shared/outer.out" "$@" "$shared/outer.sh"
            ;;
        salloc) attempt 60 salloc -N1 "$@" sh -c "$line" ;;
    esac
    # from 24.11 on a task with GPUs hands on SLURM_TRES_PER_TASK, which a job without GPUs is refused for
    tasks=$(grep -c '^task$' "$shared/job.out") || [[ $* == *gpus* ]] || explain "$(cat "$shared/job.out")"
    grep -v '^task$' "$shared/job.out" > "$BATS_TEST_TMPDIR/$type.env"
}

@test "sbatch in a task or script of --ddp: the job has the environment of one from a login shell" {
    local type options tasks plain
    printf '%s\n' '#!/bin/bash' '#SBATCH -N2 -n6' env 'srun sh -c "echo task"' > "$shared/job.sh"
    unset OMP_NUM_THREADS
    submits login
    [ "$tasks" -eq 6 ]
    mv "$BATS_TEST_TMPDIR/login.env" "$BATS_TEST_TMPDIR/shell"
    while read -r type options; do
        # shellcheck disable=SC2086 # options are words
        submits "$type" ${options%--ddp*}
        mv "$BATS_TEST_TMPDIR/$type.env" "$BATS_TEST_TMPDIR/plain"
        plain=$tasks
        # shellcheck disable=SC2086
        submits "$type" $options
        [ "$tasks" -eq "$plain" ] || explain "$type $options: $tasks of $plain tasks"
        "$cluster_tests/inherited.py" "$BATS_TEST_TMPDIR"/{shell,plain,"$type.env"} || explain "$type $options"
    done << 'ROWS'
srun -n2 --ddp=worker,nic=auto
srun -n2 --ddp=bind=cores,watch,lookup=numeric
srun -n2 --gpus-per-task=1 --ddp=order=node
srun -n2 --gpus-per-node=2 --ddp=gpus=own
srun -n1 --gpus-per-node=2 --ddp=launcher,bind=cores,lookup=numeric
srun -n2 --ddp=alone
pty -n1 --ddp
batch -n2 --ddp
salloc -n2 --ddp
ROWS
}

@test "sbatch in a task of --ddp: what the user has set goes along" {
    printf '%s\n' '#!/bin/bash' 'env | grep -E "^(RANK|OMP_NUM_THREADS|CUDA_DEVICE_ORDER|PYTHONPATH)="' > "$shared/job.sh"
    OMP_NUM_THREADS=3 CUDA_DEVICE_ORDER=PCI_BUS_ID PYTHONPATH=/a:/b attempt 60 srun -N1 -n2 --gpus-per-task=1 --ddp=watch \
        sh -c "[ \$SLURM_PROCID != 0 ] || RANK=7 sbatch --wait -o $shared/job.out $shared/job.sh"
    succeeded
    [ "$(sort "$shared/job.out" | xargs)" = 'CUDA_DEVICE_ORDER=PCI_BUS_ID OMP_NUM_THREADS=3 PYTHONPATH=/a:/b RANK=7' ] ||
        explain "$(cat "$shared/job.out")"
}

# steps TYPE INNER OPTION...: the environment of a task of INNER, an srun in a task or a pseudo terminal of srun OPTION...
# or in the shell of salloc, is in the file step
steps()
{
    local type=$1 options="${*:3}" line=$shared/inner.sh
    rm -f "$shared/step.env"
    # in a file: for a text rollcall chooses mode none
    printf '%s\n' '#!/bin/sh' "[ \${SLURM_PROCID:-0} != 0 ] || $2 --overlap -N1 -n1 env > $shared/step.env" > "$line"
    chmod 755 "$line"
    case $type in
        srun) line="srun $options $line" ;;
        pty) line="python -c 'import pty, sys; pty.spawn(sys.argv[1:])' srun --pty $options $line" ;;
    esac
    attempt 60 bash -c "exec salloc -N1 -n2 --gpus-per-node=2 $line"
    succeeded
    mv "$shared/step.env" "$BATS_TEST_TMPDIR/step"
}

@test "srun in a task of --ddp, without --ddp: the step has the environment of one in a plain task" {
    local inner type options
    while read -r inner type options; do
        inner=${inner/+/ }
        steps shell "$inner"
        mv "$BATS_TEST_TMPDIR/step" "$BATS_TEST_TMPDIR/shell"
        # shellcheck disable=SC2086 # options are words
        steps "$type" "$inner" ${options%--ddp*}
        mv "$BATS_TEST_TMPDIR/step" "$BATS_TEST_TMPDIR/plain"
        # shellcheck disable=SC2086
        steps "$type" "$inner" $options
        "$cluster_tests/inherited.py" "$BATS_TEST_TMPDIR"/{shell,plain,step} || explain "$inner in $type $options"
    done << 'ROWS'
srun srun -n2 --ddp=worker,nic=auto
srun+--ddp=off srun -n2 --ddp=watch,lookup=numeric
srun srun -n1 --ddp=launcher,bind=cores
srun pty -n1 --ddp=worker
ROWS
}

@test "salloc and srun in a task, sbatch --export=NONE: as many tasks as they ask for" {
    printf '%s\n' '#!/bin/bash' '#SBATCH -N2 -n6' 'srun /bin/sh -c "echo task"' > "$shared/job.sh"
    for inner in 'salloc -N2 -n6 srun sh -c "echo task"' 'srun --overlap -O -N2 -n6 sh -c "echo task"' \
        "sbatch --export=NONE --wait -o $shared/job.out $shared/job.sh; cat $shared/job.out"; do
        attempt 60 salloc -N2 -n2 srun --ddp=worker -n2 sh -c "[ \$SLURM_PROCID != 0 ] || { $inner; }"
        succeeded
        [ "$(grep -c '^task$' "$out")" -eq 6 ] || explain "$inner"
    done
}
