#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bind.bats - which cores a task has, read back in the task, its threads and its data loaders, on a real Slurm.
#
# The conditions and the answers of rollcall-map are in tests/fake-spank/test_bind.py and tests/cli; here is that Slurm and
# mpirun are understood. Both nodes are this machine, and each believes that its cores are its own.

load helpers

# task/affinity binds where a user says so (--cpu-bind), as on most clusters.
setup_file()
{
    needs_root || return 0
    cpus=$(nproc --all)
    export cpus each=$((cpus / 2))
    # each test says what it wants
    unset -v OMP_NUM_THREADS
    cluster_up --nodes 2 --cpus "$cpus" --conf TaskPlugin=task/affinity
}

setup()
{
    unless_left_out
    [ "$cpus" -ge 2 ] || skip 'two cores for two tasks'
    [ "$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')" = "$cpus" ] || skip 'not all cores are for these tests'
    [ -x "$ROLLCALL_PREFIX/libexec/rollcall/rollcall-map" ] || skip 'built without hwloc'
    unset -v OMP_NUM_THREADS
}

# The whole node, which Slurm leaves its tasks.
whole=(-c "$(($(nproc --all) / 2))" --cpu-bind=none)

# cores COUNT SECONDS CMD...: so many lines; in each the thread's and the data loader's mask is the task's
cores()
{
    succeeds "${@:2}" || return 1
    [ "$(grep -c ^CORES "$out")" = "$1" ] || explain "not $1 lines" || return 1
    grep ^CORES "$out" | while read -r _ _ _ task thread loader _; do
        [ "${task#*=}" = "${thread#*=}" ] && [ "${task#*=}" = "${loader#*=}" ] || return 1
    done || explain 'a thread or a data loader has other cores than its task'
}

# apart: on each node no hardware thread is two tasks'
apart()
{
    local host
    for host in n1 n2; do
        [ -z "$(sed -n "s/^CORES host=$host .* cpus=\([^ ]*\) .*/\1/p" "$out" | tr , '\n' | sort | uniq -d)" ] ||
            explain "$host: two tasks have the same hardware thread" || return 1
    done
}

# bound: the hardware threads of each task
bound()
{
    sed -n 's/^CORES .* cpus=\([^ ]*\) .*/\1/p' "$out" | sort
}

# each_has FIELD VALUE: of every line
each_has()
{
    [ "$(grep -c " $1=$2\( \|\$\)" "$out")" = "$(grep -c ^CORES "$out")" ] || explain "not all have $1=$2"
}

all_cpus()
{
    seq -s , 0 $((cpus - 1))
}

@test "each task has its own cores, and so have its threads and its data loaders" {
    ROLLCALL_DEBUG=1 cores 4 60 srun --ddp -N2 --ntasks-per-node=2 "${whole[@]}" "$programs/cores.py"
    apart
    said 'note RC913: bound to [0-9]+ cores?, hardware threads [0-9,-]+ \(bind=auto\)'
    # a thread for each core
    for line in $(sed -n 's/.*cpus=\([^ ]*\) .* omp=\([0-9-]*\) .*/\1:\2/p' "$out"); do
        [ "${line#*:}" != - ]
        [ "${line#*:}" -le "$(tr , '\n' <<< "${line%:*}" | wc -l)" ]
    done
}

@test "torch's own data loaders, and the user's own OMP_NUM_THREADS" {
    OMP_NUM_THREADS=3 cores 2 90 srun --ddp=exchange=off -N1 -n2 "${whole[@]}" python "$programs/cores.py" torch
    apart
    each_has omp 3
}

@test "bind=off, and a step that did not ask: nothing is changed" {
    cores 2 30 srun --ddp=bind=off -N1 -n2 "${whole[@]}" "$programs/cores.py"
    each_has cpus "$(all_cpus)"
    each_has omp -
    cores 2 30 srun -N1 -n2 "${whole[@]}" "$programs/cores.py"
    each_has cpus "$(all_cpus)"
}

@test "Slurm's own binding stays under bind=auto, and gives way to bind=cores" {
    ROLLCALL_DEBUG=1 cores 2 30 srun --ddp -N1 -n2 -c "$each" --cpu-bind=map_cpu:1,1 "$programs/cores.py"
    each_has cpus 1
    each_has omp -
    said 'note RC911: not bound to cores: its launcher, taskset or numactl has bound it already'
    cores 2 30 srun --ddp=bind=cores -N1 -n2 -c "$each" --cpu-bind=map_cpu:1,1 "$programs/cores.py"
    apart
}

# Slurm puts them all on one core.
# bats test_tags=series
@test "rollcall-map fails on a node -> one warning with the node's name, and show and doctor report it" {
    local map=$ROLLCALL_PREFIX/libexec/rollcall/rollcall-map reason="rollcall-map could not be queried: Permission denied"
    cp "$map" "$shared/closed"
    chmod 000 "$shared/closed"
    on n2 mount --bind "$shared/closed" "$map"
    attempt 60 srun --ddp -N2 --ntasks-per-node=2 "${whole[@]}" rollcall show
    succeeded
    [ "$(grep -c RC917 "$err")" -eq 1 ]
    grep -q "warning RC917: the tasks of n2 are not bound to cores: $reason" "$err" || explain "no line of n2's"
    said ' RC917$'
    attempt 60 srun --ddp=bind=off -N2 --ntasks-per-node=2 "${whole[@]}" true
    succeeded
    unsaid RC917
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 "${whole[@]}" rollcall doctor
    on n2 umount "$map"
    failed
    said 'error D110'
    said 'cannot be run: Permission'
}

@test "more tasks than cores: by name they share all of them, and nobody has none" {
    cores $((cpus + 1)) 30 srun --ddp=bind=cores -N1 -n $((cpus + 1)) --overcommit "$programs/cores.py"
    # each core is somebody's, and nobody has none
    [ "$(sed -n 's/.* cpus=\([^ ]*\) .*/\1/p' "$out" | tr , '\n' | sort -nu | paste -sd ,)" = "$(all_cpus)" ]
    run ! grep -q ' cpus= ' "$out"
}

@test "a launcher keeps all cores, and carries those of its workers" {
    cores 2 30 srun --ddp=launcher,nproc=2 -N2 -n2 -c "$cpus" --cpu-bind=none "$programs/cores.py"
    each_has cpus "$(all_cpus)"
    [ "$(grep -c 'pins=[0-9]' "$out")" = 2 ]
}

# pinned LOCAL_RANK LIST: that worker, its data loaders too, and no other hardware thread
pinned()
{
    local cpus
    cpus=$(sed -n "s|^CORES local=$1 pinned=$1 cpus=\\([^ ]*\\) fork=\\1 spawn=\\1 pins=.*|\\1|p" "$out")
    [ -n "$cpus" ] && [ "$cpus" = "$(as_numbers "$2")" ] || explain "LOCAL_RANK $1 is not on $2 with its data loaders"
}

# "0-2,5" as "0,1,2,5"
as_numbers()
{
    tr , '\n' <<< "$1" | while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done | paste -sd ,
}

@test "torchrun's workers have the cores of their local rank, and so have data loaders by fork and by spawn" {
    succeeds 90 srun --ddp=nproc=2 -N1 -n1 -c "$cpus" --cpu-bind=none torchrun "$programs/pinned.py"
    IFS=/ read -r first second <<< "$(sed -n 's/.* pins=//p' "$out" | sort -u)"
    pinned 0 "$first"
    pinned 1 "$second"
}

# bats test_tags=all
@test "Lightning's children have, too; the first worker, which starts them, keeps all" {
    succeeds 90 srun --ddp=launcher,nproc=2 -N1 -n1 -c "$cpus" --cpu-bind=none python "$programs/pinned.py" lightning
    IFS=/ read -r _ second <<< "$(sed -n 's/.* pins=//p' "$out" | sort -u)"
    grep -q "^CORES local=0 pinned=- cpus=$(all_cpus) fork=$(all_cpus) " "$out"
    pinned 1 "$second"
}

@test "mpirun: what it has bound stays, and what it has not is bound by rollcall exec" {
    # not -c: with it Slurm 24.11 leaves Open MPI 5's daemon, and so all of its processes, one task's cores
    cores 2 60 salloc -N1 -n2 --exclusive mpirun -np 2 --bind-to core "$programs/cores.py"
    alone=$(bound)
    cores 2 60 salloc -N1 -n2 --exclusive mpirun -np 2 --bind-to core rollcall exec -v -- "$programs/cores.py"
    [ "$(bound)" = "$alone" ] || explain "mpirun alone binds so: $alone"
    said 'note RC911: not bound to cores: its launcher, taskset or numactl has bound it already'
    cores 2 60 salloc -N1 -n2 --exclusive mpirun -np 2 --bind-to none rollcall exec -v -- "$programs/cores.py"
    apart
    said 'note RC913: bound to '
}

# Found under Slurm 24.11 with Open MPI 5 (lib/effects/binding.c); the others leave the daemon all of the job's cores.
@test "mpirun in a job with -c: a daemon with one task's cores is said once, and its cure is one" {
    job=(salloc -N2 --ntasks-per-node=2 -c "$each")
    cores 4 60 "${job[@]}" mpirun -np 4 --map-by ppr:2:node rollcall exec -- "$programs/cores.py"
    if [ "${SERIES:-}" = 24.11 ]; then
        [ "$(grep -c 'RC914' "$err")" = 1 ] || explain 'not once'
        said "rollcall: warning RC914: mpirun's 2 tasks share $each of the job's $((2 * each)) cores on this node: "
    else
        unsaid RC914
    fi
    cores 4 60 "${job[@]}" env -u SLURM_CPUS_PER_TASK -u SLURM_TRES_PER_TASK \
        mpirun -np 4 --map-by ppr:2:node --bind-to none rollcall exec --ddp=bind=off -- "$programs/cores.py"
    each_has cpus "$(all_cpus)"
    unsaid RC914
}
