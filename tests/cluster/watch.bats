#!/usr/bin/env bats
# watch.bats - who joins torch as another one than its task is: with the real torch and the real Lightning.
#
# What is said of whom is in tests/cli/watch.bats, call by call; here is that it reaches the real ones.

# shellcheck disable=SC2154 # programs, over_rsh, out, err and status come from helpers.bash

load helpers

setup_file()
{
    cluster_up --nodes 2 --cpus 4 --gpus 2
}

teardown_file()
{
    cluster_down
}

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

@test "each task trains alone: all four are named at once, none is ended" {
    attempt 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$programs/misnumbered.py" alone
    succeeded
    named RC701 'rank 0 of 1 .*its task is rank '{0..3}' of 4'
    [ "$(grep -c 'joined=0/1' "$out")" = 4 ]
}

@test "two worlds on purpose: they are named, and train" {
    attempt 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$programs/misnumbered.py" half
    succeeded
    named RC702 'rank 0 of 2 .*its task is rank 0 of 4' 'rank 0 of 2 .*its task is rank 1 of 4' \
        'rank 1 of 2 .*its task is rank 2 of 4' 'rank 1 of 2 .*its task is rank 3 of 4'
    [ "$(grep -c 'among=0,1' "$out")" = 4 ]
}

@test "a second rank 0, past all repairs, is named as soon as it joins; unwatched, all wait and nobody says why" {
    attempt 90 srun --ddp=watch -N2 --ntasks-per-node=1 python "$programs/misnumbered.py" first
    [ "$(grep -c '^waits$' "$out")" = 2 ] || explain "they did not wait"
    named RC703 'joins as rank 0 of 2 .*its task is rank 1 of 2'
    attempt 90 srun --ddp=watch=off -N2 --ntasks-per-node=1 python "$programs/misnumbered.py" first
    [ "$(grep -c '^waits$' "$out")" = 2 ] || explain "they did not wait"
    unsaid RC70
}

@test "who joins as its task is: watched, and not named" {
    PYTHONPATH=/nowhere ROLLCALL_DEBUG=1 attempt 90 srun --ddp=watch -N2 --ntasks-per-node=2 python "$programs/env.py"
    everybody ranks world=4 nodes=2
    [ "$(grep -c 'rollcall: watch: process .* and its task is rank' "$err")" = 4 ]
    unsaid 'RC70[1-4]'
}

@test "workers of torchrun and of mp.spawn have ranks that their tasks have not, and are not named" {
    attempt 120 srun --ddp=launcher,nproc=2,watch -N2 --ntasks-per-node=1 torchrun "$programs/torchrun_train.py"
    everybody ranks world=4 nodes=2
    unsaid RC70
    attempt 120 srun --ddp=launcher,watch -N2 --ntasks-per-node=1 python "$programs/spawn.py"
    everybody ranks world=4 nodes=2
    unsaid RC70
}

@test "mpirun, and Lightning with num_nodes=1: its own arithmetic is named" {
    from=n1 attempt_until 4 'RC702: .* of 2 \(passed by lightning.*check devices= and num_nodes=' 150 \
        mpirun "${over_rsh[@]}" -np 4 rollcall exec --ddp=watch -- python "$programs/lit.py" --num-nodes 1
}

@test "python -I, and TORCH_DEVICE_BACKEND_AUTOLOAD=0: nothing, and the latter is said" {
    TORCH_DEVICE_BACKEND_AUTOLOAD=0 attempt 90 srun --ddp=watch -N2 --ntasks-per-node=1 \
        python "$programs/misnumbered.py" alone
    succeeded
    said 'warning RC705: '
    unsaid RC701
    attempt 90 srun --ddp=watch -N2 --ntasks-per-node=1 python -I -c "import sys; sys.path.append('$programs')
sys.argv[1:] = ['alone']; import misnumbered; misnumbered.main()"
    succeeded
    unsaid RC70
}
