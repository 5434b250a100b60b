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
