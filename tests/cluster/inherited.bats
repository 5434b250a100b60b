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

# handed OPTION...: what a job has that a task of `srun OPTION...` submits, without what differs from job to job
handed()
{
    rm -f "$shared/job.out"
    attempt 60 srun -N1 "$@" sh -c "[ \$SLURM_PROCID != 0 ] || sbatch --wait -o $shared/job.out $shared/job.sh"
    succeeded || return 1
    # SLURM_CPU_BIND is Slurm's, of a task that is bound; OMP_NUM_THREADS may be the user's
    sed -E '/^(SLURM_(JOB_?ID|JOB_(START|END)_TIME|JOB_SLUID|TASK_PID|STEP_?ID|STEP_LAUNCHER_PORT|SRUN_COMM_PORT|LAUNCH_NODE.*|CPU_BIND.*|TOPOLOGY.*|NODE_ALIASES|PMIX.*)|PMIX_.*|OMPI_MCA_.*|OMP_NUM_THREADS|TMPDIR|_)=/d' \
        "$shared/job.out" | sort
}

@test "sbatch in a task: the job has the same environment and as many tasks, with --ddp as without" {
    printf '%s\n' '#!/bin/bash' '#SBATCH -N2 -n6' env 'srun sh -c "echo task"' > "$shared/job.sh"
    for option in -n2,worker -n1,launcher -n2,watch,lookup=numeric -n2,order=node -n2,worker,nic=auto; do
        handed "${option%%,*}" > "$BATS_TEST_TMPDIR/plain"
        [ "$(grep -c '^task$' "$BATS_TEST_TMPDIR/plain")" -eq 6 ]
        handed "${option%%,*}" "--ddp=${option#*,}" > "$BATS_TEST_TMPDIR/ddp"
        diff "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/ddp" || explain "$option"
    done
    # a value of the user's own goes along
    sed -i 's/^env$/echo "rank $RANK"/' "$shared/job.sh"
    attempt 60 srun -N1 -n2 --ddp sh -c \
        "[ \$SLURM_PROCID != 0 ] || RANK=7 sbatch --wait -o $shared/job.out $shared/job.sh"
    succeeded
    grep -q '^rank 7$' "$shared/job.out"
    # and what srun hands to slurmstepd does not
    printf '%s\n' '#!/bin/bash' 'env | grep "^SLURM_ROLLCALL_" || echo none' > "$shared/job.sh"
    ROLLCALL=worker attempt 60 srun -N1 -n1 sbatch --wait -o "$shared/job.out" "$shared/job.sh"
    succeeded
    [ "$(cat "$shared/job.out")" = none ] || explain "$(cat "$shared/job.out")"
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
