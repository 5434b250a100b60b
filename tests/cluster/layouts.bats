#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# layouts.bats - the layouts that every launch must survive: who is who, read back inside the tasks.

load helpers

cluster=(--nodes 3 --cpus 4 --gpus 2 --mpi pmix)

# layout "NODE=RANKS..." CMD...: the nodes have these ranks
layout()
{
    answers "whoami $1" 30 "${@:2}"
}

# bats test_tags=series
@test "even, uneven, cyclic, plane, blocks again by order=node" {
    layout 'n1=0,1 n2=2,3' srun --ddp -N2 -n4 -c2 "$whoami"
    [ "$(roll field "$out" SLURM_NTASKS_PER_NODE)" = 2 ]
    # what Slurm makes of this line on nodes of four processors
    layout 'n1=0,1,2 n2=3' srun --ddp -N2 -n4 "$whoami"
    run ! roll field "$out" SLURM_NTASKS_PER_NODE
    layout 'n1=0,2 n2=1,3' srun --ddp -N2 -n4 -c2 -m cyclic "$whoami"
    layout 'n1=0,3,4 n2=1 n3=2' srun --ddp -N3 -n5 -m cyclic "$whoami"
    layout 'n1=0,1,4,5 n2=2,3' srun --ddp -N2 -n6 -m plane=2 "$whoami"
    layout 'n1=0,1 n2=2,3' srun --ddp=order=node -N2 -n4 -c2 -m cyclic "$whoami"
}

# bats test_tags=series
@test "arbitrary: the hosts from PMIx, or from srun where there is none, and from SLURM_HOSTFILE" {
    layout 'n2=0,3 n1=1,2' srun --ddp --mpi="$mpi" -m arbitrary -n4 -w n2,n1,n1,n2 "$whoami"
    printf '%s\n' n3 n1 n3 n1 n1 > "$shared/hosts"
    layout 'n3=0,2 n1=1,3,4' env SLURM_HOSTFILE="$shared/hosts" srun --ddp --mpi=none -m arbitrary -n5 "$whoami"
}

# bats test_tags=series
@test "a step on some nodes of a larger job" {
    layout 'n2=0,1 n3=2,3' salloc -N3 --ntasks-per-node=2 \
        srun --ddp -N2 -n4 --ntasks-per-node=2 -w n2,n3 "$whoami"
}

@test "two steps at once in one job: both train, on ports of their own" {
    attempt 90 salloc -N2 --ntasks-per-node=2 bash -c '
        for step in a b; do
            srun --ddp --overlap -N2 -n2 sh -c "echo port \$MASTER_PORT; exec \"\$@\"" - \
                "$PYTHON" "$1/save.py" "$shared/$step.pt" > "$shared/$step.txt" 2>&1 &
            pids="$pids $!"
        done
        for pid in $pids; do wait "$pid" || exit 1; done' - "$programs"
    cat "$shared/a.txt" "$shared/b.txt" >> "$out"
    succeeded
    local a b
    a=$(sort -u "$shared/a.txt" | sed -n 's/^port //p')
    b=$(sort -u "$shared/b.txt" | sed -n 's/^port //p')
    [[ $a =~ ^[0-9]+$ ]] && [[ $b =~ ^[0-9]+$ ]] || explain "ports '$a' and '$b'"
    [ "$a" != "$b" ] || explain "both steps have port $a"
    grep -q 'rank=0 world=2 ' "$shared/a.txt"
    grep -q 'rank=0 world=2 ' "$shared/b.txt"
}

# Without a word the outer step's values are not taken for the inner one's.
# bats test_tags=series
@test "srun in srun: the inner step has an identity of its own, or none" {
    identifies 30 srun --ddp -N2 -n2 -c2 bash -c \
        "[ \$SLURM_PROCID = 1 ] || exec srun --ddp --overlap -N2 -n4 -c1 $whoami"
    answers 'nothing count=4' 30 srun --ddp -N2 -n2 -c2 bash -c \
        "[ \$SLURM_PROCID = 1 ] || exec srun --overlap -N2 -n4 -c1 $whoami"
}

@test "values that an older shell exported, for srun and for a batch script" {
    identifies 30 env RANK=7 WORLD_SIZE=9 LOCAL_RANK=3 NODE_RANK=5 MASTER_PORT= srun --ddp -N2 -n4 "$whoami"
    batch 30 -N2 -n4 <<< "export RANK=7 WORLD_SIZE=8; srun --ddp $whoami"
    everybody whoami world=4 nodes=2
}

@test "MASTER_ADDR of nobody in the step: replaced if the nodes meet, else an error; that of another launcher is replaced" {
    local how gone=10.77.0.99
    for how in oldhost "$gone"; do
        identifies 30 env MASTER_ADDR="$how" srun --ddp -N2 -n4 -c2 "$whoami"
        said "warning RC423: MASTER_ADDR $how does not lead to rank 0's node, but to .* for tasks 0-3 on n\\[1-2\\]; all tasks use 10\\.77\\.0\\.2, "
    done
    fails 30 env MASTER_ADDR=oldhost srun --ddp=exchange=off -K0 -N2 -n2 "$whoami"
    said 'RC408: n1 cannot resolve MASTER_ADDR oldhost '
    said 'RC408: n2 cannot resolve MASTER_ADDR oldhost '
    unsaid RC621
    # without srun's server Slurm's own rules hold (spank_rollcall(8), "The first task that fails")
    for how in "srun -K --ddp=exchange=off -N2 -n2" "srun -K -N2 -n2 rollcall exec --ddp=exchange=off --"; do
        fails 30 env MASTER_ADDR="$gone" $how sh -c 'sleep 20 && echo STARTED'
        said "RC407: this is rank 0, but MASTER_ADDR $gone .*; unset it"
        ! grep -q STARTED "$out" || explain "$how: a task has started"
    done
    identifies 30 env MASTER_ADDR="$gone" MASTER_PORT=29400 TORCHELASTIC_RUN_ID=x RANK=3 LOCAL_RANK=1 WORLD_SIZE=4 \
        srun --ddp -N2 -n4 -c2 "$whoami"
    said 'RC417: MASTER_ADDR .10.77.0.99. and MASTER_PORT .29400. belong to an outer launch by torchrun; '
}

# bats test_tags=series
@test "--export=NONE, --export=PATH" {
    identifies 30 srun --ddp --export=NONE -N2 -n4 "$whoami"
    identifies 30 srun --ddp --export=PATH -N2 -n4 "$whoami"
}

# bats test_tags=series
@test "--ddp of sbatch, #SBATCH and salloc is the default of the job's steps, and gives way to srun's" {
    batch 30 -N2 -n4 --ddp <<< "srun $whoami"
    everybody whoami world=4 nodes=2
    batch 30 <<< "#SBATCH -N2 -n4 --ddp
srun $whoami"
    everybody whoami world=4 nodes=2
    identifies 30 salloc --ddp -N2 -n4 srun "$whoami"
    batch 30 -N2 -n4 --ddp <<< "srun --ddp=off $whoami"
    everybody nothing count=4
}

# bats test_tags=series
@test "one task: rank 0 of 1 with --ddp, and nothing without" {
    answers 'nothing count=1' 30 srun -n1 "$whoami"
    answers 'whoami world=1 nodes=1' 30 srun --ddp -n1 "$whoami"
    answers 'whoami world=1 nodes=1' 30 env ROLLCALL=worker srun --ddp -n1 "$whoami"
}

# bats test_tags=series
@test "--ddp=bogus: no job, and the right values" {
    local before
    before=$(login scontrol show config | grep NEXT_JOB_ID)
    fails 30 srun --ddp=bogus -N2 -n4 "$whoami"
    unsaid '^ROLL'
    said 'RC20[12].*bogus'
    said 'auto.*worker.*launcher.*off'
    [ "$before" = "$(login scontrol show config | grep NEXT_JOB_ID)" ]
}

# bats test_tags=series
@test "one task a node with two GPUs each: launcher mode, or --ddp=worker" {
    answers 'launcher nodes=2 nproc=2' 30 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 "$whoami"
    answers 'whoami world=2 nodes=2' 30 srun --ddp=worker -N2 --ntasks-per-node=1 --gpus-per-node=2 "$whoami"
}
