#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lookup.bats - torch's store on a node whose name server is slow (tests/nameserver.py): RC624, and lookup=numeric.

# shellcheck disable=SC2154 # tree, programs, shared, out, err and status come from helpers.bash

load helpers

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 2 --cpus 16
}

setup()
{
    [ -z "${SERIES:-}" ] || skip "the glibc of these nodes, 2.41, finds ::ffff:10.77.0.3 at 10.77.0.3 in /etc/hosts"
}

teardown()
{
    [ -z "${left_out:-}" ] || return 0
    fast_names
}

# slow_names MILLISECONDS|silent: from now on n1 has such a name server, which writes to $asked.
slow_names()
{
    asked=$shared/asked
    rm -f "$asked"
    mkfifo "$BATS_TEST_TMPDIR/end"
    on n1 "$PYTHON" "$tree/tests/nameserver.py" "$1" "$asked" cat < "$BATS_TEST_TMPDIR/end" 3>&- &
    slow=$!
    exec 7> "$BATS_TEST_TMPDIR/end"
    for _ in {1..100}; do
        ! on n1 grep -q nameserver /etc/resolv.conf || return 0
        sleep 0.1
    done
    echo "there is no name server on n1" >&2
    return 1
}

fast_names()
{
    [ -n "${slow:-}" ] || return 0
    exec 7>&-
    wait "$slow"
    slow=
    rm "$BATS_TEST_TMPDIR/end"
}

queries()
{
    wc -l < "$asked"
}

@test "a slow name server is named with what it costs, once; a fast one, few ranks and lookup=numeric are not" {
    slow_names 170
    attempt 60 srun --ddp -N2 --ntasks-per-node=4 sleep 2
    said "warning RC624: a reverse look-up takes 1[7-9][0-9] ms on n1; torch's store there makes one for each of 8 ranks: [12] s; use --ddp=lookup=numeric, "
    [ "$(wc -l < "$err")" -eq 1 ] || explain "not one line"
    # n2's address, and n1 alone has asked
    [ "$(sort -u "$asked")" = 3.0.77.10.in-addr.arpa ] || explain "$(cat "$asked")"
    attempt 60 srun --ddp=lookup=numeric -N2 --ntasks-per-node=4 sleep 1
    [ ! -s "$err" ] || explain "something was said"
    [ "$(queries)" -eq 2 ] || explain "$(queries) queries"
    attempt 60 srun --ddp -N2 -n2 sleep 1
    [ ! -s "$err" ] || explain "something was said of 2 ranks"
    attempt 60 srun --ddp=launcher,nproc=4 -N2 -n2 sleep 2
    said "makes one for each of 8 ranks"
    # the doctor says the same, of its step
    attempt 60 srun --ddp -N2 --ntasks-per-node=4 rollcall doctor
    failed
    [ "$(grep -cx 'warning D211' "$out")" -eq 1 ] || explain "not one D211"
    # the doctor's lines are as wide as a terminal
    tr -s '[:space:]' ' ' < "$out" |
        grep -qE "takes 1[7-9][0-9] ms on n1; torch's store there makes one for each of 8 ranks: [12] s" || explain "no cost"
    attempt 60 srun --ddp=lookup=numeric -N2 --ntasks-per-node=4 rollcall doctor
    succeeded
    unsaid 'D211'
    # who has not asked for rollcall is not told, and nothing is measured
    queries=$(queries)
    ROLLCALL= attempt 60 srun -N2 --ntasks-per-node=4 sleep 1
    [ ! -s "$err" ] || explain "something was said to who did not ask"
    [ "$(queries)" -eq "$queries" ] || explain "$(queries) queries"
    fast_names
    slow_names 0
    attempt 60 srun --ddp -N2 --ntasks-per-node=4 sleep 1
    [ ! -s "$err" ] || explain "something was said of a fast server"
    [ "$(queries)" -eq 2 ] || explain "$(queries) queries"
}

@test "a name server that never answers: the step is not delayed, and the line says so" {
    slow_names silent
    attempt 60 srun --ddp -N2 --ntasks-per-node=4 true
    # it is over before the node knows
    [ ! -s "$err" ] || explain "the step has waited"
    attempt 60 srun --ddp -N2 --ntasks-per-node=4 sleep 4
    said "warning RC624: a reverse look-up takes more than 2 s on n1; torch's store there makes one for each of 8 ranks, or one in all if no name server answers; "
    # the measuring processes end by themselves
    for _ in {1..50}; do
        on n1 pgrep -x rollcall-exchan > /dev/null || return 0
        sleep 0.1
    done
    explain "rollcall-exchange is still there"
}

# bats test_tags=all
@test "real jobs of torch and torchrun ask for each rank without lookup=numeric, and never with it" {
    local launch
    slow_names 1
    for launch in "worker --ntasks-per-node=2 python $programs/ddp.py" "launcher,nproc=2 --ntasks-per-node=1 torchrun $programs/torchrun_train.py"; do
        before=$(queries)
        # shellcheck disable=SC2086 # words
        attempt 200 srun -N2 --ddp=$launch
        succeeded
        [ $(($(queries) - before)) -gt 6 ] || explain "$(($(queries) - before)) queries"
        before=$(queries)
        # shellcheck disable=SC2086 # words
        attempt 200 srun -N2 --ddp=${launch/ /,lookup=numeric }
        succeeded
        [ "$(queries)" -eq "$before" ] || explain "$(($(queries) - before)) queries: $(tail -n 3 "$asked")"
    done
}
