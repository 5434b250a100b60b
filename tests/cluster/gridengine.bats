#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gridengine.bats - row M1: ABCI's jobs. Grid Engine starts the job script on the first host; mpirun, one process
# a node, starts the workers' parents.
#
# Debian's Open MPI is built for Grid Engine: by the variables of the job it takes the hosts from PE_HOSTFILE and
# starts its daemons with `qrsh -inherit`. In the first half qrsh is a script that goes to the node by the cluster's
# own rsh, with the whole environment, as -V has it, and the rest of the job's variables is as gridengine's exec_job.c
# and docs.abci.ai have them. In the second half all is Debian's own Grid Engine (gridengine.bash): its qsub, its
# hosts, its qrsh.

load helpers
load gridengine

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 3 --cpus 4
    train_alone
    # A line of a host file without slots: one process to Open MPI 4 and 5, all of the node's cores to 6.
    per_node=
    [ "${SERIES:-}" != 26.05 ] || per_node='--map-by ppr:1:node'
    export per_node
    mkdir -p "$shared/sge/bin/lx-amd64"
    cat > "$shared/sge/bin/lx-amd64/qrsh" <<'QRSH'
#!/bin/bash
# qrsh [-inherit] [-nostdin] [-V] [-verbose] HOST COMMAND WORD...
while [[ $1 == -* ]]; do
    shift
done
host=$1
shift
here=$(mktemp "${0%/*}/environment.XXXXXX")
{ export -p && printf '%s\n' "$*"; } > "$here"
exec $MINICLUSTER_RSH "$host" "bash $here"
QRSH
    chmod 755 "$shared/sge/bin/lx-amd64/qrsh"
}

# job HOSTS: runs the job script on standard input as a job on these hosts, on the first of them.
job()
{
    local host
    rm -rf "$shared/job"
    mkdir "$shared/job"
    for host in $1; do
        echo "$host" >> "$shared/job/hostlist"
        echo "$host 1 all.q@$host UNDEFINED" >> "$shared/job/pe_hostfile"
    done
    { echo "cd $shared/job" && cat; } > "$shared/job/script"
    set -- $1
    from=$1 attempt 180 env SGE_ROOT="$shared/sge" SGE_ARCH=lx-amd64 ARC=lx-amd64 SGE_CELL=default \
        JOB_ID=12345 JOB_NAME=script QUEUE=gpu PE=perack17 NHOSTS=$# NQUEUES=$# NSLOTS=$# \
        SGE_TASK_ID=undefined SGE_TASK_FIRST=undefined SGE_TASK_LAST=undefined SGE_TASK_STEPSIZE=undefined \
        SGE_LOCALDIR=/tmp SGE_JOB_HOSTLIST="$shared/job/hostlist" PE_HOSTFILE="$shared/job/pe_hostfile" \
        ENVIRONMENT=BATCH REQUEST=script RESTARTED=0 MINICLUSTER_RSH="$minicluster rsh" PRELOAD="$preload" \
        bash "$shared/job/script"
}

@test "the template of docs/jobs" {
    # without it mpirun does not find the job's hosts by itself; Debian's Open MPI 6 is such a build
    [ -z "${SERIES:-}" ] || login prte_info | grep -q 'ras: gridengine' || skip "this Open MPI was built without Grid Engine"
    mkdir -p "$shared/home" "$shared/job"
    ln -sfn "$ROLLCALL_PREFIX" "$shared/home/rollcall"
    cp "$whoami" "$shared/home/train.py"
    job "n1 n2" <<< "export CUDA_VISIBLE_DEVICES=0,1 HOME=$shared/home; cd \$HOME; $(cat "$tree/docs/jobs/gridengine.sh")"
    everybody whoami world=4 nodes=2
}

# What ABCI's manual says to write; four GPUs, as its nodes have, are what makes it launcher mode.
abci()
{
    printf '%s\n' 'export CUDA_VISIBLE_DEVICES=0,1,2,3' 'cat $SGE_JOB_HOSTLIST > hostfile' "mpirun --hostfile hostfile -np \$NHOSTS $per_node $*"
}

@test "M1: the same line with rollcall exec, the very same with the preload" {
    job "n1 n2" < <(abci rollcall exec -- python "$programs/spawn.py")
    everybody ranks world=4 nodes=2
    grep -c 'worker_vars=none' "$out" | grep -qx 4
    job "n1 n2" < <(echo 'export LD_PRELOAD=$PRELOAD' && abci python "$programs/spawn.py" --init tcp)
    everybody ranks world=4 nodes=2
    grep -c 'worker_vars=none' "$out" | grep -qx 4
}

# bats test_tags=all
@test "M1: no GPUs, launcher mode is asked for, the job begins on another node" {
    job "n3 n1" <<SCRIPT
cat \$SGE_JOB_HOSTLIST > hostfile
mpirun --hostfile hostfile -np \$NHOSTS $per_node rollcall exec --ddp=launcher -- python $programs/spawn.py
SCRIPT
    everybody ranks world=4 nodes=2
}

@test "M1: the first line of the host file is not the node of the job script" {
    job "n1 n2" <<SCRIPT
tac \$SGE_JOB_HOSTLIST > hostfile
mpirun --hostfile hostfile -np \$NHOSTS $per_node rollcall exec --ddp=launcher -- $whoami
SCRIPT
    [ "$(head -n 1 "$shared/job/hostfile")" = n2 ]
    # mpirun's own node keeps rank 0, but Open MPI 6 goes by the order of the file
    if [ "${SERIES:-}" = 26.05 ]; then
        nodes_are n2 n1
    else
        nodes_are n1 n2
    fi
}

# nodes_are HOST...: these hosts, in this order, have one task each, and MASTER_ADDR is an address of the first.
nodes_are()
{
    succeeded
    sed -n 's/^ROLL //p' "$out" | jq -s -e '
        sort_by(.id.NODE_RANK) | map(.host) == $ARGS.positional and
        map(.id.NODE_RANK) == [range(length) | tostring] and map(.master_here) == [range(length) | . == 0] and
        (map([.id.MASTER_ADDR, .id.MASTER_PORT]) | unique | length) == 1 and
        (map(.id | has("RANK") or has("LOCAL_RANK")) | any | not)' --args "$@" || explain "nodes are not $*"
}

@test "M1: a host file without the node that the job script runs on" {
    job "n1 n2 n3" <<SCRIPT
tail -n 2 \$SGE_JOB_HOSTLIST > hostfile
mpirun --hostfile hostfile -np 2 $per_node rollcall exec --ddp=launcher -- $whoami
SCRIPT
    nodes_are n2 n3
}

@test "M1: a job script and what it starts by itself are no tasks" {
    job "n1 n2" <<SCRIPT
rollcall exec -- $whoami
rollcall show --why
SCRIPT
    everybody nothing count=1
    said 'RC107'
    said 'inside Grid Engine'
}

@test "a real job: mpirun starts its daemons with qrsh -inherit" {
    qsub_job -pe mpi 4 <<< "mpirun rollcall exec -- python $programs/env.py"
    everybody ranks n1=0,1 n2=2,3
}

# Given to qsub it would not arrive: Grid Engine takes LD_PRELOAD out of what -v and -V hand on.
# bats test_tags=all
@test "a real job with the preload, which its script exports" {
    qsub_job -pe mpi 4 -v LD_PRELOAD="$preload" <<SCRIPT
echo "from qsub: \$LD_PRELOAD"
export LD_PRELOAD=\$PRELOAD
mpirun python $programs/env.py
SCRIPT
    everybody ranks n1=0,1 n2=2,3
    said '^from qsub: $'
}

@test "a real job that begins on the last host" {
    qsub_job -pe mpi 6 -masterq all.q@n3 <<< "mpirun rollcall exec -- $whoami"
    everybody whoami n3=0,1 n1=2,3 n2=4,5
}

# bats test_tags=all
@test "a real job: rank 0 is not on the host that the job begins on" {
    qsub_job -pe mpi 6 -masterq all.q@n1 <<SCRIPT
awk 'NR > 1 { print \$1 }' \$PE_HOSTFILE | tac > $shared/hostfile
mpirun --hostfile $shared/hostfile -np 4 rollcall exec -- python $programs/env.py
SCRIPT
    everybody ranks n2=0,1 n3=2,3
}

@test "M1 in a real job: one process a node, hosts from PE_HOSTFILE" {
    qsub_job -pe node 2 <<SCRIPT
cut -d ' ' -f 1 \$PE_HOSTFILE > $shared/hostfile
mpirun --hostfile $shared/hostfile -np \$NHOSTS rollcall exec --ddp=launcher -- $whoami
SCRIPT
    nodes_are n1 n2
}

@test "MPICH's mpiexec in a real job: it takes the hosts and qrsh from Grid Engine as well" {
    qsub_job -pe mpi 4 <<< "mpiexec.hydra -n 4 rollcall exec -- $whoami"
    everybody whoami n1=0,1 n2=2,3
}

# What qrsh starts has its own host's numbers: NHOSTS=1, NSLOTS=2.
@test "a real job's script, what qrsh starts in it and an element of an array are no tasks" {
    printf '%s\n' "rollcall exec -- $whoami" 'echo "$NHOSTS $NSLOTS $SGE_TASK_ID $JOB_NAME"' > "$shared/each"
    qsub_job -pe mpi 4 <<SCRIPT
bash $shared/each
qrsh -inherit -V n2 bash $shared/each
SCRIPT
    everybody nothing count=2
    said '^2 4 undefined batch.sh$'
    said '^1 2 undefined petask$'
    qsub_job -t 3 <<< "bash $shared/each"
    everybody nothing count=1
    said '^1 1 3 batch.sh$'
}
