#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# requeue.bats - row L7: Lightning's own requeueing of a Slurm job on SIGUSR1 works under srun --ddp.

load helpers

cluster=(--nodes 2 --cpus 4 --conf JobRequeue=1)

# in_output COUNT REGEX SECONDS: until that many lines of the batch job match
in_output()
{
    local deadline=$((SECONDS + $3))
    while [ "$(grep -cE "$2" "$shared/batch.out")" -lt "$1" ]; do
        [ $SECONDS -lt $deadline ] || {
            cp "$shared/batch.out" "$out"
            explain "not $1 lines match '$2' after $3 s"
            return 1
        }
        # Slurm lets a requeued job wait for two minutes, for its nodes to be clean
        [ -z "${restarted:-}" ] || login scontrol update JobId="$restarted" StartTime=now 2> /dev/null || true
        sleep 0.3
    done
}

@test "L7: SIGUSR1: checkpoint, requeue, and the restarted job trains on" {
    batch_script <<< "exec srun --ddp python $ours/requeue.py $shared/checkpoints"
    : > "$shared/batch.out"
    : > "$err"
    status=0
    job=$(login sbatch --parsable --requeue --signal=SIGUSR1@90 --open-mode=append -N2 --ntasks-per-node=2 \
        -o "$shared/batch.out" "$shared/batch.sh")
    in_output 4 'what=began .* restarts=0 ' 120
    in_output 1 'what=busy' 60
    # what --signal would send 90 seconds before the job's time is over
    login scancel --signal=USR1 "$job.0"
    restarted=$job
    in_output 4 'what=ended .* restarts=1 ' 180
    grep 'what=began .* restarts=0 ' "$shared/batch.out" > "$out"
    everybody ranks world=4 nodes=2
    grep 'what=ended' "$shared/batch.out" > "$out"
    everybody ranks world=4 nodes=2
    # it went on where it had been, in Slurm's environment, on one port
    [ "$(grep -cE ' begun=3 restarts=1 environment=SLURMEnvironment ' "$out")" -eq 4 ]
    [ "$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' "$out" | sort -u | wc -l)" -eq 1 ]
}
