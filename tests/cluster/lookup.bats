#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lookup.bats - torch's store on a node whose name server is slow (tests/nameserver.py), with lookup=numeric and
# without it.

load helpers

cluster=(--nodes 2 --cpus 16)

setup()
{
    [ -z "${SERIES:-}" ] || skip "the glibc of these nodes, 2.41, finds ::ffff:10.77.0.3 at 10.77.0.3 in /etc/hosts"
}

teardown()
{
    [ -z "${left_out:-}" ] || return 0
    fast_names
}

# slow_names MILLISECONDS: from now on n1 has such a name server, which writes to $asked.
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

# bats test_tags=all
@test "real jobs of torch and torchrun ask for each rank without lookup=numeric, and never with it" {
    local launch
    slow_names 1
    for launch in "worker --ntasks-per-node=2 python $programs/ddp.py" "launcher,nproc=2 --ntasks-per-node=1 torchrun $programs/torchrun_train.py"; do
        before=$(queries)
        attempt 200 srun -N2 --ddp=$launch
        succeeded
        # one for each of the four ranks; as a rule torch connects again and asks 7 to 9 times
        [ $(($(queries) - before)) -ge 4 ] || explain "$(($(queries) - before)) queries"
        before=$(queries)
        attempt 200 srun -N2 --ddp=${launch/ /,lookup=numeric }
        succeeded
        [ "$(queries)" -eq "$before" ] || explain "$(($(queries) - before)) queries: $(tail -n 3 "$asked")"
    done
}
