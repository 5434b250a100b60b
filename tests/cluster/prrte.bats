#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# prrte.bats - PRRTE without Open MPI (prterun): its tasks ask its PMIx server who they are.

# Debian 12 comes without PRRTE: tests/run has these under the other Slurm series alone.
# bats file_tags=prrte

load helpers

setup_file()
{
    needs_root || return 0
    [ -n "${SERIES:-}" ] || leave_out 'Debian 12 has no prterun: SERIES=24.11 names a Slurm that has' || return 0
    cluster_up --nodes 3 --cpus 4 --mpi none
    train_alone
    # the command alone, as somebody might copy it
    mkdir -p "$shared/alone/bin"
    cp "$ROLLCALL_PREFIX/bin/rollcall" "$shared/alone/bin"
    # a libpmix that is none
    mkdir -p "$shared/broken"
    : > "$shared/broken/libpmix.so.2"
}

setup()
{
    unless_left_out
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# refused REGEX: status 1, one line from each task that prterun let end by itself, and nobody got anything
refused()
{
    [ "$status" -eq 1 ] || explain "status $status" || return 1
    unsaid '^ROLL' && said "$1" || return 1
    ! grep -hE 'RC[0-9]+' "$out" "$err" | grep -vE "$1" || explain "something else was said"
}

# bats test_tags=series
@test "prterun: torch finds everybody" {
    from=n1 trains 120 prterun "${over_rsh[@]}" -np 4 rollcall exec -- python "$programs/env.py"
}

# bats test_tags=series
@test "prterun on a host without tasks, ranks by node in turn; inside a job, uneven" {
    attempt 60 prterun "${over_rsh[@]}" -np 4 --map-by node rollcall exec -- "$whoami"
    everybody whoami n1=0,2 n2=1,3
    attempt 60 salloc -N3 --ntasks-per-node=2 prterun -np 5 rollcall exec -- "$whoami"
    everybody whoami n1=0,1 n2=2,3 n3=4
    said 'RC301.*\(2 here\)'
}

# bats test_tags=newest
@test "prterun with a program a node: torchrun starts the rest" {
    from=n1 attempt 120 prterun "${over_rsh[@]}" -np 2 --map-by ppr:1:node \
        rollcall exec --ddp=nproc=2 -- torchrun "$programs/torchrun_train.py"
    succeeded
    [ "$(grep -c ' world=4 ' "$out")" -eq 4 ] || explain "not 4 workers"
}

# prun is not here: 3.0.8's hangs every third time or so where its job ends at once, rollcall or not.

# bats test_tags=series
@test "the program's own MPI_Init works after rollcall has asked" {
    # Open MPI 6, a release candidate there, does not reach other nodes under prterun, with or without rollcall
    from=n1 attempt 60 prterun --host n1:3 -np 3 rollcall exec -- python3 "$programs/mpi.py"
    succeeded
    for rank in 0 1 2; do
        grep -qx "MPI rank=$rank size=3 sum=3 env=$rank" "$out" || explain "rank $rank" || return 1
    done
}

# A server takes the end of a task's connection for one rank less in a fence of the others' MPI_Init.
@test "the task keeps the connection with which rollcall has asked" {
    local with without
    sockets='for fd in /proc/$$/fd/*; do readlink "$fd"; done | grep -c ^socket:'
    from=n1 attempt 60 prterun --host n1:2 -np 2 sh -c "[ \$PMIX_RANK -ne 1 ] || { $sockets; }; sleep 1"
    without=$(cat "$out")
    from=n1 attempt 60 prterun --host n1:2 -np 2 rollcall exec -- sh -c "[ \$PMIX_RANK -ne 1 ] || { $sockets; }; sleep 1"
    with=$(cat "$out")
    [ "$with" -eq $((without + 1)) ] || explain "$without sockets, $with behind rollcall"
}

# bats test_tags=all
@test "MPI_Init after rollcall has asked, sixty times" {
    local round
    for ((round = 0; round < 60; round++)); do
        from=n1 attempt 60 prterun --host n1:3 -np 3 rollcall exec -- python3 "$programs/mpi.py"
        succeeded || return 1
    done
}

# bats test_tags=series
@test "rollcall show asks as well" {
    from=n1 attempt 30 prterun --host n1:2 -np 1 sh -c 'rollcall show --json --ddp=worker && sleep 1'
    succeeded
    said '"launcher": "pmix"'
    said '"world_size": 1'
}

# bats test_tags=series
@test "the preload starts nothing: it names rollcall exec" {
    from=n1 attempt 30 prterun --host n1:2 -np 2 env LD_PRELOAD="$preload" "$whoami"
    succeeded
    said 'RC109.*start the command with rollcall exec'
    everybody nothing count=2
}

# bats test_tags=series
@test "the program that asks, libpmix or the server is not there" {
    from=n1 attempt 30 prterun --host n1:2 -np 2 "$shared/alone/bin/rollcall" exec -- "$whoami"
    refused 'RC120: rollcall-pmix.*No such file or directory'
    from=n1 attempt 30 prterun --host n1:2 -np 2 \
        env LD_LIBRARY_PATH="$shared/broken" rollcall exec -- "$whoami"
    refused 'RC120: .* without libpmix.so.2: .*file too short'
    from=n1 attempt 30 prterun --host n1:1 -np 1 sh -c "env -0 > '$shared/environ'; sleep 1"
    succeeded
    from=n1 attempt 30 bash -c 'mapfile -d "" -t block < "$1" && exec env -i "${block[@]}" rollcall exec -- true' \
        bash "$shared/environ"
    refused 'RC120: the PMIx server does not answer: .PMIx_Init'
}
