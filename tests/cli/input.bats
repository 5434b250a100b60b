#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Environment blocks that nobody would write: no crash, no hang, no wrong answer.

load helper

# answer STATUS FILE: show, explain and their JSON all end so; JSON parses
answer()
{
    local words
    for words in show explain 'show --json' 'explain --json'; do
        # shellcheck disable=SC2086 # several words
        run "-$1" --separate-stderr timeout 10 "$rollcall" $words --from "$2"
        [ -z "$stderr" ]
        [[ $words != *json* ]] || jq -e '.schema == 1' <<< "$output" > "$BATS_TEST_TMPDIR/jq"
    done
}

# The answer for the plain task, to compare with.
rank_of()
{
    "$rollcall" show --json --from "$1" | jq -c '[.launcher, .identity.rank, .identity.world_size, .set.RANK]'
}

plain='["slurm",3,4,"3"]'

@test "no variable at all" {
    : > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    printf '\0\0\0' > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    printf '\n\n' > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    run -0 env -i "$rollcall" show --json
    [ "$(jq .launcher <<< "$output")" = null ]
}

@test "entries without =, with a leading =, names only, lower case, prefixes of ours" {
    printf '%s\0' 'RANK' '=' '=RANK=7' 'rank=7' 'RAN=1' 'RANK_X=2' 'SLURM_PROCI=9' 'SLURM_PROCIDS=9' 'slurm_procid=9' \
        'BASH_FUNC_f%%=() { :; }' "${task_3[@]}" 'SLURM_PROCID' > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    [ "$(rank_of "$BATS_TEST_TMPDIR/block")" = "$plain" ]
}

@test "duplicates: the first counts, as for getenv" {
    printf '%s\0' "${task_3[@]}" SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=9 > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    [ "$(rank_of "$BATS_TEST_TMPDIR/block")" = "$plain" ]
}

@test "numbers of variables around every limit, up to 100,000" {
    for count in 1 500 511 512 513 4095 4096 4097 100000; do
        { seq -f 'FILL_%.0f=x' "$count"; printf '%s\n' "${task_3[@]}"; } > "$BATS_TEST_TMPDIR/after"
        { printf '%s\n' "${task_3[@]}"; seq -f 'FILL_%.0f=x' "$count"; } > "$BATS_TEST_TMPDIR/before"
        [ "$(rank_of "$BATS_TEST_TMPDIR/after")" = "$plain" ]
        [ "$(rank_of "$BATS_TEST_TMPDIR/before")" = "$plain" ]
    done
    answer 0 "$BATS_TEST_TMPDIR/after"
}

@test "values as long as the kernel allows, and longer" {
    for length in 131071 4194304; do
        long=$(head -c "$length" /dev/zero | tr '\0' 1)
        for name in PATH X RANK MASTER_ADDR MASTER_PORT PET_NNODES; do
            printf '%s\n' "${task_3[@]}" "$name=$long" > "$BATS_TEST_TMPDIR/block"
            answer 0 "$BATS_TEST_TMPDIR/block"
            [ "$(rank_of "$BATS_TEST_TMPDIR/block")" = "$plain" ]
        done
        # what must be a number, a list or a name of the step, and is none
        for name in SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_STEP_TASKS_PER_NODE SLURM_STEP_NODELIST ROLLCALL; do
            printf '%s\n' "$name=$long" "${task_3[@]}" > "$BATS_TEST_TMPDIR/block"
            answer 1 "$BATS_TEST_TMPDIR/block"
        done
    done
}

@test "a name of 2 KiB, an entry that is one = of 1 MiB" {
    name=$(head -c 2048 /dev/zero | tr '\0' N)
    { printf '%s=1\n' "$name"; head -c 1048576 /dev/zero | tr '\0' '='; echo; printf '%s\n' "${task_3[@]}"; } > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    [ "$(rank_of "$BATS_TEST_TMPDIR/block")" = "$plain" ]
}

@test "bytes that are no text" {
    { printf '%s\0' "${task_3[@]}"; head -c 200000 /dev/urandom; } > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    [ "$(rank_of "$BATS_TEST_TMPDIR/block")" = "$plain" ]
    for _ in 1 2 3 4 5 6 7 8; do
        head -c 65536 /dev/urandom > "$BATS_TEST_TMPDIR/random"
        answer 0 "$BATS_TEST_TMPDIR/random"
    done
}

@test "ranks and sizes that are no numbers, or none that fit: status 1, said in one message" {
    for value in ' 3' '3 ' +3 -1 007 3.0 3x 0x3 NaN 2147483647 2147483648 4294967294 4294967295 4294967296 \
        18446744073709551615 18446744073709551616 4 ''; do
        printf '%s\n' "SLURM_PROCID=$value" "${task_3[@]}" > "$BATS_TEST_TMPDIR/block"
        answer 1 "$BATS_TEST_TMPDIR/block"
        [ "$("$rollcall" show --json --from "$BATS_TEST_TMPDIR/block" | jq -c '[([.messages[] | select(.level == "error")] | length), .set]')" = '[1,{}]' ]
    done
}

@test "no memory is left behind, and none is read that is not ours" {
    command -v valgrind > /dev/null
    printf '%s\n' "${task_3[@]}" RANK=7 PET_NNODES=3 $'MASTER_ADDR=\xff\e' > "$BATS_TEST_TMPDIR/block"
    for words in "show --from $BATS_TEST_TMPDIR/block" "explain --json --from $BATS_TEST_TMPDIR/block" 'show --pid 1' \
        'show --from /' 'shwo' 'exec --ddp=x'; do
        # shellcheck disable=SC2086 # several words
        run with valgrind -q --leak-check=full --track-fds=no --error-exitcode=99 "$rollcall" $words
        [ "$status" != 99 ]
        [[ $output != *'=='[0-9]*'=='* ]]
    done
    run -0 with "${task_0[@]}" valgrind -q --leak-check=full --error-exitcode=99 "$rollcall" exec -v -- true
}
