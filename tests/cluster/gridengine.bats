#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gridengine.bats - row M1: ABCI's jobs. Grid Engine starts the job script on the first host; mpirun, one process
# a node, starts the workers' parents.
#
# All is Debian's own Grid Engine (gridengine.bash): its qsub, its hosts, its qrsh. Debian's Open MPI is built for it: by
# the variables of the job it takes the hosts from PE_HOSTFILE and starts its daemons with `qrsh -inherit`.

load helpers
load gridengine

setup_file()
{
    needs_root || return 0
    has_grid_engine || return 0
    cluster_up --nodes 3 --cpus 4
    train_alone
}

@test "the template of docs/jobs" {
    mkdir -p "$shared/home"
    ln -sfn "$ROLLCALL_PREFIX" "$shared/home/rollcall"
    cp "$whoami" "$shared/home/train.py"
    qsub_job -pe node 2 <<< "export CUDA_VISIBLE_DEVICES=0,1 HOME=$shared/home; cd \$HOME; $(cat "$tree/docs/jobs/gridengine.sh")"
    everybody whoami world=4 nodes=2
}

# What ABCI's manual says to write, where SGE_JOB_HOSTLIST has the hosts; four GPUs, as its nodes have, are what makes it
# launcher mode.
abci()
{
    printf '%s\n' 'export CUDA_VISIBLE_DEVICES=0,1,2,3' "cut -d ' ' -f 1 \$PE_HOSTFILE > $shared/hostfile" \
        "mpirun --hostfile $shared/hostfile -np \$NHOSTS $*"
}

@test "M1: the same line with rollcall exec, the very same with the preload" {
    qsub_job -pe node 2 < <(abci rollcall exec -- python "$programs/spawn.py")
    everybody ranks world=4 nodes=2
    grep -c 'worker_vars=none' "$out" | grep -qx 4
    qsub_job -pe node 2 < <(echo 'export LD_PRELOAD=$PRELOAD' && abci python "$programs/spawn.py" --init tcp)
    everybody ranks world=4 nodes=2
    grep -c 'worker_vars=none' "$out" | grep -qx 4
}

@test "M1: no GPUs, launcher mode is asked for; a host file without the node that the job script runs on" {
    qsub_job -pe node 3 <<SCRIPT
awk 'NR > 1 { print \$1 }' \$PE_HOSTFILE > $shared/hostfile
mpirun --hostfile $shared/hostfile -np 2 rollcall exec --ddp=launcher -- $whoami
SCRIPT
    succeeded
    # in this order, with one task each, and MASTER_ADDR is an address of the first
    sed -n 's/^ROLL //p' "$out" | jq -s -e '
        sort_by(.id.NODE_RANK) | map(.host) == ["n2", "n3"] and map(.id.NODE_RANK) == ["0", "1"] and
        map(.master_here) == [true, false] and (map([.id.MASTER_ADDR, .id.MASTER_PORT]) | unique | length) == 1 and
        (map(.id | has("RANK") or has("LOCAL_RANK")) | any | not)' || explain "nodes are not n2 n3"
}

@test "mpirun starts its daemons with qrsh -inherit" {
    qsub_job -pe mpi 4 <<< "mpirun rollcall exec -- python $programs/env.py"
    everybody ranks n1=0,1 n2=2,3
}

# Given to qsub it would not arrive: Grid Engine takes LD_PRELOAD out of what -v and -V hand on.
@test "the preload, which the job script exports: script, mpirun and daemons are no tasks, and hand nothing on" {
    qsub_job -pe mpi 4 -v LD_PRELOAD="$preload" <<SCRIPT
echo "from qsub: \$LD_PRELOAD"
export LD_PRELOAD=\$PRELOAD
python $whoami
mpirun -x ROLLCALL=off $whoami
echo ==
mpirun $whoami
SCRIPT
    said '^from qsub: $'
    sed '/^==$/,$d' "$out" > "$out.script"
    sed -i '1,/^==$/d' "$out"
    roll nothing "$out.script" count=5
    everybody whoami n1=0,1 n2=2,3
}

@test "a job that begins on the last host" {
    qsub_job -pe mpi 6 -masterq all.q@n3 <<< "mpirun rollcall exec -- $whoami"
    everybody whoami n3=0,1 n1=2,3 n2=4,5
}

# bats test_tags=all
@test "rank 0 is not on the host that the job begins on" {
    qsub_job -pe mpi 6 -masterq all.q@n1 <<SCRIPT
awk 'NR > 1 { print \$1 }' \$PE_HOSTFILE | tac > $shared/hostfile
mpirun --hostfile $shared/hostfile -np 4 rollcall exec -- python $programs/env.py
SCRIPT
    everybody ranks n2=0,1 n3=2,3
}

@test "MPICH's mpiexec takes the hosts and qrsh from Grid Engine as well" {
    qsub_job -pe mpi 4 <<< "mpiexec.hydra -n 4 rollcall exec -- $whoami"
    everybody whoami n1=0,1 n2=2,3
}

# What qrsh starts has its own host's numbers: NHOSTS=1, NSLOTS=2.
# jobs_of_one N: so many processes, each rank 0 of 1
jobs_of_one()
{
    [ "$(grep -c '^ROLL .*"RANK": "0", "WORLD_SIZE": "1"' "$out")" -eq "$1" ] || explain "not $1 jobs of one process"
    [ "$(grep -c 'warning RC311: no launcher started this process' "$out")" -eq "$1" ] || explain "not RC311 $1 times"
}

@test "a job script, what qrsh starts in it and an element of an array: exec -> each is a job of one process, RC311" {
    printf '%s\n' "rollcall exec -- $whoami" 'echo "$NHOSTS $NSLOTS $SGE_TASK_ID $JOB_NAME"' > "$shared/each"
    qsub_job -pe mpi 4 <<SCRIPT
bash $shared/each
qrsh -inherit -V n2 bash $shared/each
SCRIPT
    jobs_of_one 2
    said '^2 4 undefined batch.sh$'
    said '^1 2 undefined petask$'
    qsub_job -t 3 <<< "bash $shared/each"
    jobs_of_one 1
    said '^1 1 3 batch.sh$'
}
