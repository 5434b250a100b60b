#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# guard.bats - guard=nccl at a real srun's server. What is said of whom is in tests/preload/guard.bats, case by case.
#
# programs/join.c of the preload's tests joins through a stand-in for NCCL, since the real one wants a GPU for it.

# shellcheck disable=SC2154 # shared, out, err and status come from helpers.bash

load helpers

setup_file()
{
    needs_root || return 0
    local programs=$BATS_TEST_DIRNAME/../preload/programs options=(-O2 -Wall -Wextra -Werror)
    cluster_up --nodes 2 --cpus 4 --gpus 2
    mkdir "$shared/guard"
    cd "$shared/guard"
    gcc "${options[@]}" -shared -fPIC -Wl,-soname,libnccl.so.2 -o libnccl.so.2 "$programs/fakenccl.c"
    gcc "${options[@]}" -shared -fPIC -o framework.so "$programs/framework.c" -L. -l:libnccl.so.2
    gcc "${options[@]}" -o join "$programs/join.c"
}

setup()
{
    unless_left_out
    folder=$shared/guard
    ids=$shared/ids.$BATS_TEST_NUMBER
    mkdir -p "$ids"
    export LD_LIBRARY_PATH=$folder
    tasks=(-N2 --ntasks-per-node=2)
}

# joining RANK NRANKS... : a shell's words, which join communicators 1, 2, ... so; RANK may be any arithmetic
joining()
{
    local line="exec $folder/join $folder/framework.so" n=0
    while [ $# -gt 0 ]; do
        n=$((n + 1))
        line+=" config $2 $1 $ids/$n"
        shift 2
    done
    echo "$line"
}

# The four tasks end with this, and are as quick as if nobody had waited for a deadline of a minute.
all_return()
{
    [ "$(grep -c "^join: $1 in [0-9]\{1,4\}\.[0-9]* ms\$" "$out")" = 4 ] || explain "not four times $1 within ten seconds"
}

# One line of this id, which matches, and no other of the guard.
one_line()
{
    [ "$(grep -cE 'RC80[0-9]' "$err")" = 1 ] && grep -qE "rollcall: error $1: $2" "$err" ||
        explain "not one line $1 with '$2'"
}

who='process [0-9]+ on n[12], whose task is rank [0-3],'

# bats test_tags=series
@test "right ranks join, twice, and so do the two of each node" {
    attempt 90 srun --ddp=guard=nccl,deadline=60 "${tasks[@]}" sh -c "$(joining '$RANK' 4 '$RANK' 4)"
    succeeded
    [ "$(grep -c '^join: 0 in ' "$out")" = 8 ]
    unsaid RC80
    ids=$ids/nodes/'$SLURM_NODEID'
    attempt 90 srun --ddp=guard=nccl,deadline=60 "${tasks[@]}" sh -c "mkdir -p $ids && $(joining '$LOCAL_RANK' 2)"
    succeeded
    all_return 0
    unsaid RC80
}

# bats test_tags=series
@test "a script that takes LOCAL_RANK for its rank: one line, and nobody waits" {
    attempt 90 srun --ddp=guard=nccl,deadline=60 "${tasks[@]}" sh -c "$(joining '$LOCAL_RANK' 4)"
    failed
    all_return 5
    one_line RC801 "$who and $who both join an NCCL communicator as rank [01] of 4; .*no process joins"
}

@test "another number of ranks, a rank out of range" {
    attempt 90 srun --ddp=guard=nccl,deadline=60 "${tasks[@]}" sh -c "$(joining '$((RANK + (RANK == 3)))' 4)"
    failed
    all_return 5
    one_line RC802 "process [0-9]+ on n2, whose task is rank 3, joins .* as rank 4, but ranks are 0 to 3"
    ids=$ids/size
    mkdir "$ids"
    attempt 90 srun --ddp=guard=nccl,deadline=60 "${tasks[@]}" sh -c \
        "$(joining '$((RANK - (RANK == 3)))' '$((4 - (RANK == 3)))')"
    failed
    # where the last one comes first it goes on, and is named all the same
    [ "$(grep -c '^join: 5 in [0-9]\{1,4\}\.' "$out")" -ge 3 ]
    one_line RC803 "$who joins .* as rank [012] of [34], but $who joins it as rank [012] of [34]; no process joins"
}

@test "who has not come is named by the deadline, and the others go on" {
    attempt 90 srun --ddp=guard=nccl,deadline=2 "${tasks[@]}" sh -c "[ \$RANK != 2 ] || exit 0; $(joining '$RANK' 4)"
    succeeded
    [ "$(grep -c '^join: 0 in ' "$out")" = 3 ]
    said 'warning RC806: process [0-9]+ on n1, whose task is rank 0, has waited 2 s .*: no process has joined as rank 2;'
    [ "$(grep -c RC806 "$err")" = 1 ]
}

@test "ROLLCALL=guard=nccl, and rollcall exec in a step that has a server" {
    ROLLCALL=guard=nccl attempt 90 srun "${tasks[@]}" sh -c "$(joining '$LOCAL_RANK' 4)"
    all_return 5
    one_line RC801 "$who and $who both join"
    ids=$ids/exec
    mkdir "$ids"
    attempt 90 srun --ddp "${tasks[@]}" rollcall exec --ddp=guard=nccl -- sh -c "$(joining '$LOCAL_RANK' 4)"
    all_return 5
    one_line RC801 "$who and $who both join"
}

@test "workers of torchrun" {
    for rank in RANK LOCAL_RANK; do
        ids=$shared/ids.torchrun.$rank
        mkdir "$ids"
        attempt 120 srun --ddp=launcher,nproc=2,guard=nccl,deadline=60 -N2 --ntasks-per-node=1 \
            torchrun --no-python sh -c "$(joining "\$$rank" 4)"
        if [ $rank = RANK ]; then
            succeeded
            all_return 0
            unsaid RC80
        else
            failed
            # torchrun ends the workers that are left when the first has failed
            said 'join: 5 in'
            one_line RC801 'process [0-9]+ on n[12] and process [0-9]+ on n[12] both join'
        fi
    done
}

@test "without a server, and where it is not asked for: nothing" {
    for options in guard=nccl,exchange=off guard=off worker; do
        ids=$shared/ids.$options
        mkdir "$ids"
        attempt 90 srun --ddp=$options "${tasks[@]}" sh -c "$(joining '$LOCAL_RANK' 4)"
        succeeded
        all_return 0
        unsaid RC80
    done
}
