#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# got.bats - what a step got, against what its job has: a task with fewer CPUs than -c (RC915), a step with some of the
# job's GPUs (RC906); and that steps which have all, or a part on purpose, have no such line.
#
# Both nodes are this machine, of which each believes that it has all cores.

# bats file_tags=series

load helpers

made='RC906|RC915'

# task/affinity binds, as on most clusters
setup_file()
{
    needs_root || return 0
    cpus=$(nproc --all)
    export cpus
    cluster_up --nodes 2 --cpus "$cpus" --gpus 4 --conf TaskPlugin=task/affinity
}

setup()
{
    unless_left_out
    [ "$cpus" -ge 2 ] || skip 'one core is all that a task may have'
    [ "$(env -u OMP_NUM_THREADS nproc)" = "$cpus" ] || skip 'not all cores are for these tests'
}

teardown()
{
    [ -z "${slurmd:-}" ] || bind_slurmd "0-$((cpus - 1))"
}

# short NODE CAUSE: one line says that, for the whole step
short()
{
    succeeded || return 1
    [ "$(cat "$out" "$err" | grep -c RC915)" = 1 ] || explain 'not one line' || return 1
    said "^rollcall: warning RC915: a task of $1 may use 1 of SLURM_CPUS_PER_TASK=$cpus CPUs: $2"
}

# nothing SECONDS CMD...: it ends well, and has all that it was promised
nothing()
{
    succeeds "$@" || return 1
    unsaid 'RC915|RC906'
}

@test "srun before 23.11 does not take -c over, and says so; what it says to type helps" {
    local job=(salloc -N2 --ntasks-per-node=1 -c "$cpus")
    attempt 40 "${job[@]}" srun --ddp --cpu-bind=cores true
    if [ -n "${SERIES:-}" ]; then
        succeeded
        unsaid RC915
    else
        short n1 'this srun does not take that over; type srun --cpus-per-task=\$SLURM_CPUS_PER_TASK$'
    fi
    nothing 40 "${job[@]}" sh -c 'srun --ddp --cpus-per-task=$SLURM_CPUS_PER_TASK --cpu-bind=cores true'
    # the same of a user without the plugin
    attempt 40 "${job[@]}" srun --cpu-bind=cores rollcall exec --ddp=exchange=off -- true
    if [ -n "${SERIES:-}" ]; then
        succeeded
        unsaid RC915
    else
        short n1 'srun has bound it so; type srun --cpus-per-task='
    fi
}

# A shell that is a task of one core, and submits a job: its mask goes with the job's environment.
@test "SLURM_CPU_BIND that another step has left: said once, and unset helps" {
    local inner=(-N1 -n1 -c "$cpus" -w n2)
    printf '#!/bin/sh\n%s\n' 'env | grep ^SLURM_CPU_BIND' 'srun --ddp true' > "$shared/left"
    succeeds 60 srun -N1 -n1 -w n1 --cpu-bind=cores sbatch --wait -o "$shared/batch.out" "${inner[@]}" "$shared/left"
    cat "$shared/batch.out" >> "$out"
    said '^SLURM_CPU_BIND_LIST=0x'
    short n2 "SLURM_CPU_BIND, left by another step, is in srun's environment; type unset SLURM_CPU_BIND before srun\$"
    # as it is typed there; a list that was typed is meant
    printf '#!/bin/sh\n%s\n' 'srun --ddp -c $SLURM_CPUS_PER_TASK --cpu-bind=map_cpu:1 true' 'unset SLURM_CPU_BIND' \
        'srun --ddp -c $SLURM_CPUS_PER_TASK true' > "$shared/left"
    succeeds 60 srun -N1 -n1 -w n1 --cpu-bind=cores sbatch --wait -o "$shared/batch.out" "${inner[@]}" "$shared/left"
    cat "$shared/batch.out" >> "$out"
    unsaid RC915
}

# bind_slurmd LIST: slurmd of n2, which then starts tasks on these CPUs
bind_slurmd()
{
    slurmd=bound
    on n2 sh -c 'for of in /proc/[0-9]*; do
        [ "$(cat "$of/comm")" != slurmd ] || taskset -acp "$0" "${of#/proc/}"
    done' "$1" > "$BATS_TEST_TMPDIR/taskset"
}

@test "slurmd under taskset: its node says so, and bind=cores helps" {
    local job=(salloc -N2 --ntasks-per-node=1 -c "$cpus" srun -c "$cpus" --cpu-bind=none)
    bind_slurmd 0
    attempt 40 "${job[@]}" --ddp true
    short n2 'it was bound before Slurm started it \(slurmd under taskset or CPUAffinity=\); '
    [ ! -x "$ROLLCALL_PREFIX/libexec/rollcall/rollcall-map" ] || nothing 40 "${job[@]}" --ddp=bind=cores true
}

@test "steps with all that they were promised, or with less on purpose, have no line" {
    local options ours=(-c "$cpus")
    while IFS= read -r options; do
        nothing 40 salloc -N1 -n1 "${ours[@]}" srun --ddp $options true
    done << END
--cpu-bind=none
-c$cpus
-c1
-n2 -c1
-c$cpus --cpu-bind=map_cpu:1
-c$cpus --cpu-bind=mask_cpu:0x2
-n$((cpus + 1)) --overcommit
-c$cpus --hint=nomultithread
-c$cpus --threads-per-core=1
-c$cpus --cpu-bind=cores
-c1 --exact
END
    nothing 40 srun --ddp -N2 --ntasks-per-node=1 -c "$cpus" true
    nothing 40 srun --ddp -N2 --ntasks-per-node="$cpus" -c 1 --cpu-bind=cores true
    nothing 40 srun -N2 --ntasks-per-node=1 -c "$cpus" --cpu-bind=cores rollcall exec --ddp=exchange=off -- true
    nothing 40 srun -N1 -n1 -c "$cpus" --cpu-bind=none taskset -c 0 rollcall exec --ddp=exchange=off -- true
    nothing 40 srun --ddp -N1 -n1 -c1 : -N1 -n1 -c1 true
}

# gpus COUNT REGEX LINE...: a batch script with these lines, in a job with four GPUs a node; COUNT messages say so
gpus()
{
    batch 60 -N2 --ntasks-per-node=2 --gres=gpu:4 < <(printf '%s\n' "${@:3}")
    succeeded || return 1
    [ "$(grep -c RC906 "$out")" = "$1" ] || explain "not $1 lines" || return 1
    [ "$1" = 0 ] || said "^rollcall: warning RC906: the step has $2\$" || return 1
    [ "$1" = 0 ] || unsaid RC902
}

@test "a step with one of its job's four GPUs, for two tasks or four workers: said once, with the variable" {
    local use='use srun --gpus-per-node=4' unset='unset SLURM_GPUS_PER_NODE, which srun takes for an option, or '
    local agents='--ntasks-per-node=1 -n2'
    mkdir -p "$shared/named"
    ln -sf /bin/true "$shared/named/torchrun"
    gpus 1 "1 of the job's 4 GPUs on this node, for 2 tasks; $use" 'srun --ddp --gres=gpu:1 true'
    gpus 1 "1 of the job's 4 GPUs on this node, for 2 tasks; $unset$use" 'SLURM_GPUS_PER_NODE=1 srun --ddp true'
    gpus 1 "1 of the job's 4 GPUs on this node, for 4 workers; $use" \
        "srun --ddp $agents --gres=gpu:1 $shared/named/torchrun --nproc_per_node=4 train.py"
    gpus 1 "1 of the job's 4 GPUs on this node, for 2 tasks; $use" \
        'srun --mpi=none --gres=gpu:1 rollcall exec --ddp=exchange=off -- true'
    # all of them, or as many as tasks, or none
    gpus 0 '' 'srun --ddp true' "srun --ddp ${use#use srun} true" 'srun --ddp -N1 -n1 --gres=gpu:1 true' \
        'srun --ddp --gres=gpu:2 true' 'srun --ddp --gres=none true' 'srun --ddp --gpus-per-task=1 true' \
        "srun --ddp $agents $shared/named/torchrun --nproc_per_node=4 train.py" \
        "srun --ddp $agents --gres=gpu:2 $shared/named/torchrun --nproc_per_node=2 train.py"
}

@test "workers that share fewer CPUs than the node has: one line; all CPUs, or one worker: none" {
    attempt 40 srun --ddp=nproc=2,bind=off -N2 --ntasks-per-node=1 -c1 --cpu-bind=cores true
    succeeded
    [ "$(cat "$out" "$err" | grep -c RC916)" = 1 ] || explain 'not one line'
    said '^rollcall: warning RC916: 2 workers share 1 of the node'"'"'s [0-9]* CPUs; type srun --cpus-per-task=2$'
    attempt 40 srun --ddp=nproc=2,bind=off -N2 --ntasks-per-node=1 -c "$cpus" true
    succeeded
    unsaid RC916
    attempt 40 srun --ddp=bind=off -N2 --ntasks-per-node=1 -c1 --cpu-bind=cores true
    succeeded
    unsaid RC916
}

@test "mpirun that binds each process to one core: one line; --bind-to none: none" {
    attempt 60 salloc -N2 --ntasks-per-node=1 -c "$cpus" mpirun -np 2 --map-by node --bind-to core rollcall exec --ddp=worker -- true
    succeeded
    said 'RC916: each process may use one core, though the node has [0-9]* for each: .*--bind-to none$'
    attempt 60 salloc -N2 --ntasks-per-node=1 -c "$cpus" mpirun -np 2 --map-by node --bind-to none rollcall exec --ddp=worker -- true
    succeeded
    unsaid RC916
}
