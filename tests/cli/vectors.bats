#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Recorded environments and what `rollcall show --json` must answer.
#
# tests/vectors/NAME.env holds the block, one KEY=VALUE a line; a line "# rollcall show OPTION..." holds options,
# "# rank N of JOB on HOST" the truth about a task of a job whose tasks are all recorded. NAME.json is the answer,
# messages without their text. REGENERATE=1 writes the answers anew: review them before you commit them.

load helper

answer()
{
    local options
    options=$(sed -n 's/^# rollcall show //p' "$1")
    # shellcheck disable=SC2086 # several words
    "$rollcall" show --json --from "$1" $options > "$BATS_TEST_TMPDIR/answer" || [ $? = 1 ] || return 1
    jq 'del(.messages[].text)' "$BATS_TEST_TMPDIR/answer"
}

@test "every recorded environment is answered as it was reviewed" {
    failed=0
    for env in "$vectors"/*.env; do
        json=${env%.env}.json
        if [ -n "${REGENERATE:-}" ]; then
            answer "$env" > "$json"
        elif ! answer "$env" | diff -u "$json" - > "$BATS_TEST_TMPDIR/diff"; then
            echo "$(basename "$env"):"
            cat "$BATS_TEST_TMPDIR/diff"
            failed=$((failed + 1))
        fi
    done
    [ "$failed" = 0 ]
}

@test "the tasks of a recorded job answer the roll: each rank once, where it really was, or all refuse" {
    # the recording cluster's nodes had these addresses
    declare -A address=([n1]=10.77.0.2 [n2]=10.77.0.3)
    seen=0
    for group in $(sed -n 's/^# rank [0-9]* of \([^ ]*\) on .*/\1/p' "$vectors"/*.env | sort -u); do
        seen=$((seen + 1))
        # shellcheck disable=SC2013 # names of files without blanks
        for env in $(grep -lE "^# rank [0-9]+ of $group on " "$vectors"/*.env); do
            read -r _ _ rank _ _ _ host < "$env"
            answer "$env" | jq --arg rank "$rank" --arg host "$host" --arg address "${address[$host]}" \
                '. + {truth: {rank: ($rank | tonumber), host: $host, address: $address}}'
        done | jq -s -e '
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
                all(.identity.rank == .truth.rank and .identity.world_size == $n) and
                (map(.truth.rank) | sort) == [range($n)] and
                (group_by(.truth.host) | map(map(.identity.local_rank) | sort) | all(. == [range(length)])) and
                (group_by(.truth.host) | map(map(.identity.node_rank) | unique | length) | all(. == 1)) and
                (map(.identity.node_rank) | unique) == [range(map(.truth.host) | unique | length)] and
                (map(.identity.nnodes) | unique) == [map(.truth.host) | unique | length] and
                (map(select(.truth.host == $zero.host)) | all(.identity.node_rank == 0)) and
                (map([.master.addr, .master.port]) | unique | length) == 1 and
                all(.master.addr | . == null or IN($zero.host, $zero.address, "127.0.0.1"))
            end' > "$BATS_TEST_TMPDIR/jq" || {
            echo "$group"
            return 1
        }
    done
    [ "$seen" -ge 10 ]
}

@test "recorded environments hold nothing of the machine that they come from" {
    run ! grep -nE '/var/lib|/root|^ROLLCALL_(BUILD|PREFIX)=|/home/[^u]|[Tt]oken|[Ss]ecret|127\.0\.1\.1' "$vectors"/*.env
}
