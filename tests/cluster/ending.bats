#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ending.bats - how a step ends with --ddp: the first task that fails takes the others with it, and its words are heard.

# bats file_tags=series

load helpers
load faults

cluster=(--nodes 2 --cpus 8)
made=RC711

teardown()
{
    [ -z "${busy:-}" ] || kill "${busy[@]}"
}

# fails SECONDS CMD...: by itself, before its time is over
fails()
{
    attempt "$@"
    failed || return 1
    [ "$status" -ne 124 ] || explain 'the step was not ended'
}

# Rank 3 does that; the others would stay for as long as a test may take.
rest='[ $SLURM_PROCID = 3 ] || exec sleep 500;'

# ends REGEX SECONDS CMD...: badly, at once; rank 3 was heard, and srun says how it ended
ends()
{
    fails "${@:2}" || return 1
    said '^last words$' || return 1
    said "^srun: error: n2: task 3: $1" || return 1
    unsaid 'rollcall: '
    nothing_remains
}

# stays CMD...: the others go on after rank 3 has failed
stays()
{
    attempt 60 "$@" -N2 --ntasks-per-node=2 sh -c '[ $SLURM_PROCID != 3 ] || exit 3; sleep 2 && echo still here'
    failed || return 1
    [ "$(grep -c '^still here$' "$out")" -eq 3 ] || explain "the step was ended: $*"
}

@test "the first task that fails ends the step, however it fails, and its last line is heard" {
    local way
    for way in 'Exited with exit code 3:exit 3' 'Killed:kill -KILL $$' 'Segmentation fault:kill -SEGV $$'; do
        ends "${way%%:*}" 40 srun --ddp -N2 --ntasks-per-node=2 sh -c "$rest echo last words; ${way#*:}"
    done
    ends 'Exited with exit code 1' 60 srun --ddp -N2 --ntasks-per-node=2 python -c '
import os, time
if os.environ["RANK"] != "3":
    time.sleep(500)
print("last words")
raise RuntimeError("of rank 3")'
    said '^RuntimeError: of rank 3$'
}

@test "however --ddp is asked for: ROLLCALL, #SBATCH, a job array, --multi-prog" {
    local words="$rest echo last words; exit 3"
    ends 'Exited' 40 env ROLLCALL=auto srun -N2 --ntasks-per-node=2 sh -c "$words"
    printf '#!/bin/sh\n#SBATCH --ddp -N2 --ntasks-per-node=2\nexec srun sh -c %q\n' "$words" > "$shared/job"
    fails 60 sbatch --wait --array=1 -o "$shared/job.out" "$shared/job"
    grep -q '^last words$' "$shared/job.out"
    printf '#!/bin/sh\necho last words\nexit 3\n' > "$shared/dies"
    printf '0-2 sleep 500\n3 sh %s/dies\n' "$shared" > "$shared/programs"
    ends 'Exited' 40 srun --ddp -N2 --ntasks-per-node=2 --multi-prog "$shared/programs"
    nothing_remains
}

@test "it stays as it was: -K0, its variable, without --ddp, and torchrun that goes on by itself" {
    stays srun --ddp -K0
    stays env SLURM_KILL_BAD_EXIT=0 srun --ddp
    stays srun
    stays srun --ddp=off
    # torchrun's stand-in
    printf '#!/bin/sh\n[ $SLURM_NODEID != 1 ] || exit 3\nsleep ${STAY:-2} && echo still here\n' > "$shared/torchrun"
    chmod 755 "$shared/torchrun"
    for option in --max-restarts=3 --nnodes=1:2; do
        attempt 60 srun --ddp -N2 -n2 "$shared/torchrun" $option --nproc-per-node=2 train.py
        failed
        said '^still here$'
    done
    attempt 60 env STAY=40 srun --ddp -N2 -n2 "$shared/torchrun" --max-restarts=0 --nnodes=2 train.py --max-restarts=3
    failed
    unsaid '^still here$'
}

@test "a task that ends well ends nobody; all tasks that fail alike end once" {
    succeeds 40 srun --ddp -N2 --ntasks-per-node=2 sh -c '[ $SLURM_PROCID != 3 ] || exit 0; sleep 1; echo still here'
    [ "$(grep -c '^still here$' "$out")" -eq 3 ]
    fails 40 srun --ddp -N2 -n64 --overcommit sh -c 'echo last words; exit 3'
    [ "$(grep -c '^last words$' "$out")" -ge 1 ]
    unsaid 'rollcall: '
    nothing_remains
}

@test "a failing task signals its own process group: kill 0, kill -9 0, a terminal that hangs up -> the step ends" {
    local end
    for end in "trap 'trap - TERM; kill 0' EXIT; exit 3" 'kill -9 0'; do
        fails 40 srun --ddp -N2 --ntasks-per-node=2 sh -c "[ \$SLURM_NODEID = 1 ] || exec sleep 500; echo last words; $end"
        said '^last words$'
    done
    fails 40 python -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
        srun --pty --ddp -N2 -n2 sh -c '[ $SLURM_NODEID = 0 ] || exec sleep 500; exit 3'
    nothing_remains
}

@test "srun cannot start rollcall-exchange -> RC624: no task's exit ends the step, but with -K" {
    : > "$shared/none"
    on login mount --bind "$shared/none" "$helper"
    stays srun --ddp
    said "warning RC624: srun cannot start rollcall-exchange: Permission denied; no roll call is held, "
    fails 40 srun -K --ddp -N1 -n2 sh -c '[ $SLURM_PROCID = 0 ] || exec sleep 500; exit 3'
    on login umount "$helper"
    nothing_remains
}

@test "srun A : B has no server: with -K a task of another component of the job ends the step" {
    fails 60 srun -K --ddp -N1 -n2 -w n1 sh -c 'exec sleep 500' : -K --ddp -N1 -n2 -w n2 sh -c 'echo last words; exit 3'
    said '^last words$'
    said '^srun: error: n2: tasks? [-0-9,]+: Exited with exit code 3'
    nothing_remains
}

# joins CODE: a script of torch, whose ranks have met when CODE runs, and which wait for the others
joins()
{
    printf '%s\n' 'import os, time, torch, torch.distributed as dist' 'dist.init_process_group("gloo")' 'dist.barrier()' \
        'rank = dist.get_rank()' "$1" 'dist.barrier()' 'dist.barrier()' > "$shared/joins.py"
}

# named REGEX: one line of rollcall says who was first
named()
{
    said "^rollcall: warning RC711: $1" || return 1
    [ "$(grep -c 'rollcall: ' "$err")" -eq 1 ] || explain 'more than one line'
}

@test "watch: the exception that came first is named, with its rank and node, out of all tracebacks" {
    joins 'if rank == 3: raise RuntimeError("of rank 3")'
    fails 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$shared/joins.py"
    named 'the first exception came from rank 3 on n2: RuntimeError: of rank 3(; .*)?; begin with its output$'
    joins 'raise OSError("no shard %d" % rank)'
    fails 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$shared/joins.py"
    named '[2-4] of 4 ranks failed alike, rank [0-3] on n[12] among them: OSError: no shard [0-3]; '
    # torchrun names the worker that a signal has ended
    joins $'if rank == 3: os.kill(os.getpid(), 9)\ntime.sleep(500)'
    fails 90 srun --ddp=watch,nproc=2 -N2 --ntasks-per-node=1 torchrun "$shared/joins.py"
    named 'a signal ended rank 3 on n2: SIGKILL; '
    nothing_remains
}

# bats test_tags=all
@test "beside four busy loops the last line is heard each time, from a shell and from Python with torch" {
    local program
    printf 'import os, torch, sys, time\nif os.environ["RANK"] != "3":\n    time.sleep(500)\nprint("last words")\nos._exit(3)\n' \
        > "$shared/last.py"
    for _ in 1 2 3 4; do
        sh -c 'while :; do :; done' 3>&- &
        busy+=($!)
    done
    for program in "sh -c '$rest echo last words; exit 3'" "python $shared/last.py"; do
        for ((i = 0; i < ${tries:-10}; i++)); do
            eval "attempt 100 srun --ddp -N2 --ntasks-per-node=2 $program"
            failed
            said '^last words$'
        done
    done
    nothing_remains
}
