#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# watch.bats - who joins torch as another one than its task is: with the real torch and the real Lightning.
#
# What is said of whom is in tests/cli/watch.bats, call by call; here is that it reaches the real ones.

load helpers

cluster=(--nodes 2 --cpus 4 --gpus 2)
made='RC711|RC713'

# named ID TEXT...: a line with each of them, of this id, from any process
named()
{
    local id=$1 text
    shift
    for text; do
        grep -aqE "^(\[.*\]: )?rollcall: warning $id: process [0-9]+ on n[12] .*$text" "$err" ||
            explain "$id names nobody with '$text'" || return 1
    done
}

# attempt_late SECONDS CMD...: the task that is late, which waits for $shared/late/go, comes once RC707 was said
attempt_late()
{
    local watcher
    rm -rf "$shared/late"
    mkdir -p "$shared/late"
    : > "$err"
    (until grep -q 'warning RC707: ' "$err"; do sleep 0.2; done && touch "$shared/late/go") 3>&- &
    watcher=$!
    attempt "$@"
    kill $watcher 2> /dev/null || true
    wait $watcher || true
}

# said_once ID REGEX: at srun's terminal one line of this id, and it matches
said_once()
{
    if [ "$(cat "$out" "$err" | grep -c "$1")" != 1 ] || ! grep -qE "^rollcall: [a-z]+ $1: $2" "$err"; then
        explain "not one line $1 with '$2'"
    fi
}

@test "each task trains alone: all four are named at once, none is ended" {
    succeeds 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$programs/misnumbered.py" alone
    named RC701 'rank 0 of 1 .*its task is rank '{0..3}' of 4'
    [ "$(grep -c 'joined=0/1' "$out")" = 4 ]
}

@test "a second rank 0, past all repairs, is named as soon as it joins" {
    attempt 90 srun --ddp=watch -N2 --ntasks-per-node=1 python "$programs/misnumbered.py" first
    [ "$(grep -c '^waits$' "$out")" = 2 ] || explain "they did not wait"
    named RC703 'joins as rank 0 of 2 .*its task is rank 1 of 2'
}

@test "a script that starts Python sets MASTER_ADDR or WORLD_SIZE: named if the processes wait, and not if they meet" {
    attempt_until 2 'RC712' 60 srun --ddp=watch -N2 --ntasks-per-node=1 sh -c \
        'export MASTER_ADDR=127.0.0.1; exec python "$1"' - "$programs/env.py"
    named RC712 'joins as rank '{0,1}' of 2 .*set MASTER_ADDR=127.0.0.1 .rollcall: n1.*type there: rollcall exec -- python '
    attempt_until 2 'RC712' 60 srun -N2 --ntasks-per-node=1 rollcall exec --ddp=watch -- sh -c \
        'export WORLD_SIZE=4; python "$1"' - "$programs/env.py"
    trains 90 srun --ddp=watch -N2 --ntasks-per-node=2 sh -c 'export MASTER_PORT=29555; python "$1"' - "$programs/env.py"
    unsaid 'RC7'
}

@test "who joins as its task is: watched, and not named" {
    PYTHONPATH=/nowhere ROLLCALL_DEBUG=1 trains 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$programs/env.py"
    [ "$(grep -c 'rollcall: watch: process .* and its task is rank' "$err")" = 4 ]
    unsaid 'RC70[1-4]'
}

@test "workers of torchrun and of mp.spawn have ranks that their tasks have not, and are not named" {
    trains 120 srun --ddp=launcher,nproc=2,watch -N2 --ntasks-per-node=1 torchrun "$programs/torchrun_train.py"
    unsaid RC70
    trains 120 srun --ddp=launcher,watch -N2 --ntasks-per-node=1 python "$programs/spawn.py"
    unsaid RC70
}

@test "mpirun, and Lightning with num_nodes=1: its own arithmetic is named" {
    from=n1 attempt_until 4 'RC702: .* of 2 \(passed by lightning.*check devices= and num_nodes=' 150 \
        mpirun "${over_rsh[@]}" -np 4 rollcall exec --ddp=watch -- python "$programs/lit.py" --num-nodes 1
}

# A job that hangs because one task does not get there; SECONDS are as many as the others may need from the first to
# the last of them, who go there together.
@test "watch=SECONDS: who has not reached init_process_group is named at srun's terminal, and when all have" {
    ROLLCALL=watch=5 attempt_late 90 srun --ddp -N2 --ntasks-per-node=2 python "$programs/late.py" "$shared/late" 2
    everybody ranks world=4 nodes=2
    said_once RC707 '5 s after the first, 3 of 4 tasks have reached init_process_group, but not task 2 on n2; .*srun --jobid='
    said_once RC708 'all 4 tasks have reached init_process_group now, [0-9]+ s after the first$'
    unsaid 'RC70[1-69]'
    succeeds 30 srun --ddp=worker,watch=60,exchange=off -N2 --ntasks-per-node=2 true
    said_once RC709 'watch=60 was asked for, but there is no rendezvous server beside srun; '
}

# bats test_tags=all
@test "watch=SECONDS: Lightning's tasks, and torchrun's workers, of which one is enough" {
    TOY_LATE="3 $shared/late/go" attempt_late 150 srun --ddp=watch=1 -N2 --ntasks-per-node=2 python "$programs/lit.py"
    everybody ranks world=4 nodes=2
    said_once RC707 '1 s after the first, [1-3] of 4 tasks have .*, but not tasks? [0-9,-]+ on n'
    said_once RC708 'all 4 tasks have reached init_process_group now, '
    TOY_LATE="1 $shared/late/go" attempt_late 120 srun --ddp=launcher,nproc=2,watch=1 -N2 --ntasks-per-node=1 \
        torchrun "$programs/torchrun_train.py"
    everybody ranks world=4 nodes=2
    said_once RC707 '1 s after the first, 1 of 2 tasks have reached init_process_group, but not task 1 on n2; '
    said_once RC708 'all 2 tasks have reached init_process_group now, '
}

# Nobody starts the other three tasks. The steps of the same script are right, and so is what only prepares.
@test "srun forgotten: Lightning in a batch script of sbatch --ddp waits for tasks, and is told which line starts them" {
    batch_script << SCRIPT
python -c 'import torch; print("prepared")'
srun -N2 --ntasks-per-node=2 python $programs/env.py
python $programs/lit.py
SCRIPT
    attempt_until 1 'RC309' 120 sbatch --ddp --wait -o "$shared/batch.out" -N2 --ntasks-per-node=2 "$shared/batch.sh"
    [ "$(grep -c "^ROLL .* world=4 " "$out")" = 4 ] || explain "the step did not train"
    grep -qE "^rollcall: warning RC309: process [0-9]+ on n1 waits for 3 others as rank 0 of 4, .*\
start it with srun: srun --ddp python [^ ]*lit.py\$" "$shared/batch.out" || explain "no line with the command"
    [ "$(grep -c RC309 "$shared/batch.out")" = 1 ]
}

# bats test_tags=all
@test "srun forgotten: torchrun waits for the other node; on one node it trains, and mpirun starts its own" {
    batch 90 --ddp -N1 --ntasks-per-node=2 <<< "torchrun --nproc_per_node=2 $programs/torchrun_train.py"
    everybody ranks world=2 nodes=1
    batch 90 --ddp -N2 --ntasks-per-node=2 <<< "mpirun -np 4 --map-by ppr:2:node rollcall exec -- python $programs/env.py"
    everybody ranks world=4 nodes=2
    unsaid RC309
    batch_script <<< "torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_endpoint=n1:23460 $programs/torchrun_train.py"
    attempt_until 1 'RC309.*waits for the other 1 nodes.*srun --ntasks-per-node=1 --ddp torchrun --nnodes=2' 60 \
        sbatch --ddp --wait -o "$shared/batch.out" -N2 --ntasks-per-node=2 "$shared/batch.sh"
}

# goodfire's nine hours on 128 GPUs
@test "a rank that failed hangs in destroy_process_group -> it is named, and the step ends 30 s later; torchrun, Lightning" {
    local launch
    for launch in "--ddp=watch python $programs/hangs.py" "--ddp=watch python $programs/hangs.py lightning" \
        "--ddp=launcher,nproc=1,watch torchrun $programs/hangs.py"; do
        # shellcheck disable=SC2086
        attempt 90 srun -N2 --ntasks-per-node=1 $launch
        failed
        [ "$status" -ne 124 ] || explain 'the step was not ended'
        grep -q waits "$out" || explain 'no rank waits'
        named RC713 'has failed and hangs in destroy_process_group'
        said 'RuntimeError: loss is NaN'
        said 'RC711: the first exception came from rank 1 on n2: RuntimeError: loss is NaN'
        said '^Timeout \(0:00:30\)!'
    done
}
