#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# timelimit.bats - Slurm ends a job or requeues it, or --signal= sends a signal before that: with --ddp the tasks have as
# much time to save as without, even if one of them leaves at once with a status other than 0.

load helpers

# slurmd waits for max(KillWait, 5 s) before it kills the tasks of a job that it ends.
# saves: shorter than KillWait; outlasts: longer, for signals that end nothing
saves=3
outlasts=12
cluster=(--nodes 2 --cpus 32 --conf KillWait=10)

setup()
{
    rm -rf "$shared"/job.*
    # On a signal rank 1 leaves with a status, and rank 0 saves after that. Some signals come twice, and to children.
    cat > "$shared/task" << 'END'
#!/bin/bash
end()
{
    local until=$((SECONDS + SAVE))
    trap : USR1 TERM
    printf '%(%T)T: rank %s has a signal\n' -1 "$SLURM_PROCID"
    [ "$SLURM_PROCID" = 0 ] || { : > "$DIR/left"; exit 3; }
    until [ -e "$DIR/left" ] && ((SECONDS > until)); do sleep 0.1; done
    echo SAVED
    exit 0
}
trap end USR1 TERM
touch "$DIR/ready.$SLURM_PROCID"
while sleep 0.1; do :; done
END
    chmod 755 "$shared/task"
    status=0
    names=()
    pids=()
}

# start NAME SAVE COMMAND...: in the background, once without --ddp and once with it, which is $DDP
start()
{
    local name ddp
    for ddp in '' --ddp; do
        name=$1$ddp
        names+=("$name")
        mkdir -p "$shared/job.$name"
        DDP=$ddp DIR=$shared/job.$name SAVE=$2 login "${@:3}" \
            > "$shared/job.$name/out" 2>&1 3>&- < /dev/null &
        pids+=($!)
    done
}

batch_job()
{
    start "$1" "$2" sh -c 'exec sbatch --wait -N2 -n2 -J "${DIR##*/}" -o "$DIR/out" --open-mode=append "$@"' sbatch "${@:3}"
}

srun_job()
{
    start "$1" "$2" sh -c 'exec srun $DDP -N2 -n2 -J "${DIR##*/}" "$@" "$0"' "$shared/task" "${@:3}"
}

# ready NAME: both of its jobs; $id and $id_ddp
ready()
{
    local tries=$((200 * patience)) ddp rank
    for ddp in '' --ddp; do
        for rank in 0 1; do
            until [ -e "$shared/job.$1$ddp/ready.$rank" ]; do
                ((tries-- > 0)) || explain "$1$ddp has not started: $(cat "$shared/job.$1$ddp/out")"
                sleep 0.1
            done
        done
    done
    id=$(login squeue --noheader -n "job.$1" -o %A)
    id_ddp=$(login squeue --noheader -n "job.$1--ddp" -o %A)
}

# await NAME STATE: both of its jobs; '' if they have ended
await()
{
    local tries=$((300 * patience))
    until [ "$(login squeue --noheader --array -n "job.$1,job.$1--ddp" -o %T | sort -u)" = "$2" ]; do
        ((tries-- > 0)) || explain "$1: $(login squeue)"
        sleep 0.2
    done
}

# end_of_all NAME...: these have saved; the others, if they have done so without --ddp; and nothing is rollcall's
end_of_all()
{
    local name count without
    wait "${pids[@]}" || true
    await_end_of_jobs
    for name in "${names[@]}"; do
        out=$shared/job.$name/out
        unsaid '^rollcall: '
        count=$(grep -c '^SAVED$' "$out") || true
        [ "$name" != "${name%--ddp}" ] || without=$count
        [ "$count" = "$without" ] || explain "$name: SAVED $count times, and $without times without --ddp"
        [[ " $* " != *" ${name%--ddp} "* ]] || [ "$count" = 1 ] || explain "$name: no SAVED"
    done
}

# bats test_tags=series
@test "time limit: scancel of a job or of its step, requeue -> the other task saves as without --ddp" {
    srun_job job $saves
    srun_job step $saves
    batch_job batch $saves --wrap "srun \$DDP $shared/task"
    batch_job requeue $saves --requeue --wrap "srun \$DDP $shared/task"
    ready job
    login scancel "$id" "$id_ddp"
    ready step
    login scancel "$id.0" "$id_ddp.0"
    ready batch
    login scancel "$id" "$id_ddp"
    ready requeue
    login scontrol requeue "$id,$id_ddp"
    await requeue PENDING
    login scancel "$id" "$id_ddp"
    end_of_all job batch requeue
}

# slurmctld looks every 30 s for jobs whose time is over.
# bats test_tags=all
@test "time limit: reached, or --signal= before it -> the other task saves as without --ddp" {
    srun_job limit $saves -t 10
    batch_job batchlimit $saves -t 10 --wrap "srun \$DDP $shared/task"
    batch_job signal $outlasts -t 2 --signal=USR1@120 --wrap "srun \$DDP $shared/task"
    srun_job srunsignal $outlasts -t 2 --signal=USR1@120
    batch_job script $outlasts -t 2 --signal=B:USR1@120 \
        --wrap "trap 'kill -USR1 \$pid' USR1; srun \$DDP $shared/task & pid=\$!; wait \$pid; wait \$pid"
    ready limit
    login scontrol update "JobId=$id" EndTime=now
    login scontrol update "JobId=$id_ddp" EndTime=now
    ready batchlimit
    login scontrol update "JobId=$id" EndTime=now
    login scontrol update "JobId=$id_ddp" EndTime=now
    end_of_all limit batchlimit signal srunsignal script
}
