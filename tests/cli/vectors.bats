#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Recorded environments and what `rollcall show --json` must answer.
#
# tests/vectors/NAME.env holds the block, one KEY=VALUE a line. A line "# rollcall show OPTION..." holds options,
# "# rank N of JOB on HOST" the truth about a task of a job whose tasks are all recorded, and lines "# expect ..." the
# answer: tests/vectors/expectation.py says how. REGENERATE=1 writes them anew: review them before you commit them.

load helper

@test "every recorded environment is answered as it was reviewed" {
    what=check
    [ -z "${REGENERATE:-}" ] || what=write
    python3 -B "$vectors/expectation.py" "$what" "$rollcall"
}

# The reviewed answers, that is; the test above holds rollcall's own against them.
@test "the tasks of a recorded job answer the roll: each rank once, where it really was, or all refuse" {
    python3 -B "$vectors/expectation.py" print > "$BATS_TEST_TMPDIR/answers"
    # the recording cluster's nodes had these addresses
    run -0 jq -s -r '{n1: "10.77.0.2", n2: "10.77.0.3"} as $address |
        map(select(.truth) | .truth.address = $address[.truth.host]) | group_by(.truth.job) |
        if length < 10 then "fewer than 10 jobs" else empty end,
        (.[] | select((
        length as $n | (map(select(.truth.rank == 0))[0].truth) as $zero |
        if any(.[].messages[]; .level == "error") then
            all(any(.messages[]; .level == "error") and .set == {} and .unset == [] and
                ([.identity[], .master[]] | unique) == [null])
        elif any(.[]; .mode == "launcher") then
            # one task a node, with the rank of the node
            all(.mode == "launcher" and .identity.rank == null and .identity.node_rank == .truth.rank and
                .identity.nnodes == $n and .set.PET_NODE_RANK == (.truth.rank | tostring)) and
            (map(.truth.host) | unique | length) == $n and
            (map(.truth.rank) | sort) == [range($n)] and
            (map([.master.addr, .master.port]) | unique | length) == 1 and
            all(.master.addr | IN($zero.host, $zero.address))
        else
            . as $all |
            all(.identity.rank == .truth.rank and .identity.world_size == $n) and
            (map(.truth.rank) | sort) == [range($n)] and
            (group_by(.truth.host) | map(map(.identity.local_rank) | sort) | all(. == [range(length)])) and
            (group_by(.truth.host) | map(map(.identity.node_rank) | unique | length) | all(. == 1)) and
            (map(.identity.node_rank) | unique) == [range(map(.truth.host) | unique | length)] and
            (map(.identity.nnodes) | unique - [null] - [$all | map(.truth.host) | unique | length]) == [] and
            (map(select(.truth.host == $zero.host)) | all(.identity.node_rank == 0)) and
            (map([.master.addr, .master.port]) | unique | length) == 1 and
            all(.master.addr | . == null or IN($zero.host, $zero.address, "127.0.0.1"))
        end
        ) | not) | .[0].truth.job)' "$BATS_TEST_TMPDIR/answers"
    [ -z "$output" ]
}

@test "recorded environments hold nothing of the machine that they come from" {
    run ! grep -nE '/var/lib|/root|^ROLLCALL_(BUILD|PREFIX)=|/home/[^u]|[Tt]oken|[Ss]ecret|127\.0\.1\.1' "$vectors"/*.env
}
