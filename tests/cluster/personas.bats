#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# personas.bats - the preload library in the jobs of people who have nothing else: no plugin, no rollcall exec,
# a line `export LD_PRELOAD=...` in a job script or -x LD_PRELOAD behind mpirun.
#
# Launchers and their daemons get it too then, and must neither take an identity nor hand one on. What they hand
# on is seen in ranks that have ROLLCALL=off.

load helpers

plugin=no
cluster=(--nodes 2 --cpus 4 --gpus 2 --mpi pmix)
alone=compared

# It is no part of what another Slurm series comes with; tests/run --all puts it there.
need_mpich()
{
    [ -z "${SERIES:-}" ] || [ -e "$root/usr/bin/mpiexec.mpich" ] ||
        skip "the root folder of Slurm $SERIES has Open MPI alone"
}

# Of ROLLCALL_DEBUG: in how many processes the shim has set something, in this mode.
took_part_as()
{
    grep -cE "^rollcall: launcher [a-z]+, mode $1 .* [1-9][0-9]* set" "$err"
}

# The same of all processes that it looked at and left alone, for this reason (ROLLCALL_DEBUG=2).
left_alone()
{
    grep -cE "^rollcall: launcher [a-z]+, mode .*$1.*, 0 set, 0 unset" "$err"
}

@test "no launcher at all: nothing is set, nothing is said" {
    answers 'nothing count=1' 30 env LD_PRELOAD="$preload" ROLLCALL_DEBUG=3 bash -c "python $whoami; env -i true"
    silent
}

@test "srun, exported before: srun itself and its helpers stay as they are" {
    identifies 60 env LD_PRELOAD="$preload" ROLLCALL_DEBUG=1 srun -N2 --ntasks-per-node=2 "$whoami"
    [ "$(took_part_as worker)" -eq 4 ]
    attempt 60 env LD_PRELOAD="$preload" srun --export=ALL,ROLLCALL=off -N2 --ntasks-per-node=2 "$whoami"
    everybody nothing count=4
}

@test "a batch script: the script and its bash wrappers are no task, the srun in it has four" {
    batch 60 -N2 --ntasks-per-node=2 --gpus-per-node=2 <<SCRIPT
export LD_PRELOAD=$preload
python $whoami
bash -c 'exec env X=1 bash -c "python $whoami"'
echo ==
srun bash -c 'cd /; exec env X=1 bash -c "python $whoami"'
SCRIPT
    sed '/^==$/,$d' "$out" > "$out.script"
    sed '1,/^==$/d' "$out" > "$out.step"
    roll nothing "$out.script" count=2
    cp "$out.step" "$out"
    everybody whoami world=4 nodes=2
}

@test "a shell of salloc is no task" {
    answers 'nothing count=2' 60 env LD_PRELOAD="$preload" salloc -N2 --ntasks-per-node=2 --gpus-per-node=2 \
        bash -c "python $whoami; bash -lc $whoami"
}

@test "mpirun -x LD_PRELOAD in a job: only the ranks have it" {
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node \
        -x LD_PRELOAD="$preload" -x ROLLCALL_DEBUG=1 "$whoami"
    [ "$(took_part_as worker)" -eq 4 ]
}

@test "exported before mpirun in a job: srun, mpirun and orted have it, and hand nothing on" {
    attempt 60 env LD_PRELOAD="$preload" salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node "$whoami"
    everybody whoami n1=0,1 n2=2,3
    answers 'nothing count=4' 60 env LD_PRELOAD="$preload" salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node -x ROLLCALL=off "$whoami"
}

@test "the daemons of Open MPI have the library, and hold no port" {
    # a rank looks at its parent, as the same user
    cat > "$shared/parent" <<'SCRIPT'
#!/bin/bash
parent=$(tr '\0' ' ' < /proc/$PPID/cmdline)
mapped=$(grep -c librollcall-preload /proc/$PPID/maps)
held=$(ls -l /proc/$PPID/fd | awk '/socket:/ && $(NF - 2) >= 64' | wc -l)
echo "PARENT ${parent%% *} mapped=$((mapped > 0)) held=$held rank=$RANK"
SCRIPT
    chmod 755 "$shared/parent"
    # one process a node, and the nodes have two GPUs each: it would be a launcher
    succeeds 60 env ROLLCALL=worker LD_PRELOAD="$preload" salloc -N2 --ntasks-per-node=1 \
        mpirun -np 2 --map-by ppr:1:node "$shared/parent"
    # from Open MPI 5 on it is PRRTE's
    said '^PARENT .*(orted|prted) mapped=1 held=0 rank=0$'
    said '^PARENT .*(orted|prted) mapped=1 held=0 rank=1$'
    # mpirun on the node of rank 0 is its daemon
    from=n1 succeeds 60 env LD_PRELOAD="$preload" mpirun "${over_rsh[@]}" -np 1 "$shared/parent"
    said '^PARENT .*(mpirun|prterun) mapped=1 held=0 rank=$'
}

@test "mpirun without Slurm: bash wrappers around python in each rank" {
    cat > "$shared/wrap" <<'SCRIPT'
#!/bin/bash
# what sites write: set something by local rank, then become the program
export CUDA_VISIBLE_DEVICES=$LOCAL_RANK
exec env OMP_NUM_THREADS=1 bash -c 'python "$@"' - "$@"
SCRIPT
    chmod 755 "$shared/wrap"
    from=n1 identifies 60 mpirun "${over_rsh[@]}" -np 4 -x LD_PRELOAD="$preload" "$shared/wrap" "$whoami"
}

@test "in a container with process numbers of its own, started by srun and by mpirun" {
    # as Apptainer and others pass it in; what starts the container does not have it
    local container=(unshare --pid --fork --mount-proc env LD_PRELOAD="$preload" ROLLCALL_DEBUG=1)
    identifies 60 srun -N2 --ntasks-per-node=2 "${container[@]}" "$whoami"
    [ "$(took_part_as worker)" -eq 4 ]
    attempt 60 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node "${container[@]}" "$whoami"
    if [ -z "${SERIES:-}" ]; then
        everybody whoami n1=0,1 n2=2,3
        [ "$(took_part_as worker)" -eq 4 ]
    else
        # PRRTE's daemons, which would have to be counted, are out of sight
        said 'error RC110: rank 2 of 4 and local rank 0 of 2 do not determine the node of this task'
        said 'mpirun --map-by ppr:N:node rollcall exec -- COMMAND'
    fi
}

@test "the preload and rollcall exec together: one identity, said once" {
    identifies 60 env LD_PRELOAD="$preload" ROLLCALL_DEBUG=1 srun -N2 --ntasks-per-node=2 rollcall exec -- "$whoami"
    [ "$(took_part_as worker)" -eq 4 ]
    identifies 60 srun -N2 --ntasks-per-node=2 rollcall exec -- \
        env LD_PRELOAD="$preload" ROLLCALL_DEBUG=1 python "$whoami"
    [ "$(took_part_as worker)" -eq 0 ]
}

@test "torchrun in two tasks of srun: the agents are launchers, their children are torchrun's" {
    trains 90 env LD_PRELOAD="$preload" ROLLCALL_DEBUG=2 \
        srun -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$programs/torchrun_train.py"
    [ "$(took_part_as launcher)" -eq 2 ]
    [ "$(took_part_as worker)" -eq 0 ]
    [ "$(left_alone 'torchrun started this process')" -ge 4 ]
}

@test "torchrun by hand, without any launcher: its children keep what it gave them" {
    succeeds 60 env LD_PRELOAD="$preload" torchrun --standalone --nproc-per-node=2 --no-python "$whoami"
    "$PYTHON" - "$out" <<'PYTHON'
import json, sys

with open(sys.argv[1]) as file:
    found = [json.loads(line.partition("ROLL ")[2]) for line in file if "ROLL " in line]
found.sort(key=lambda line: line["id"]["RANK"])
for rank, line in enumerate(found):
    host, port = line["host"], line["id"]["MASTER_PORT"]
    assert line["id"] == {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1", "MASTER_ADDR": host, "MASTER_PORT": port}, line
    assert all(name.startswith("TORCHELASTIC_") for name in line["env"]), line
assert len(found) == 2, found
PYTHON
}

@test "MPICH's mpiexec in a job, exported before: four ranks, and the proxies hand nothing on" {
    need_mpich
    attempt 60 env LD_PRELOAD="$preload" salloc -N2 --ntasks-per-node=2 mpiexec.hydra -n 4 -ppn 2 "$whoami"
    everybody whoami n1=0,1 n2=2,3
    answers 'nothing count=4' 60 env LD_PRELOAD="$preload" salloc -N2 --ntasks-per-node=2 \
        mpiexec.hydra -n 4 -ppn 2 -genv ROLLCALL off "$whoami"
}
