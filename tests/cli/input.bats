#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Environment blocks that nobody would write: no crash, no hang, no wrong answer.

load helper

# answer STATUS FILE: show, show --why and their JSON all end so; JSON parses. Through files: an answer has megabytes here.
answer()
{
    local words status
    for words in show 'show --why' 'show --json' 'show --why --json'; do
        status=0
        timeout 10 "$rollcall" $words --from "$2" > "$BATS_TEST_TMPDIR/answer" 2> "$BATS_TEST_TMPDIR/said" || status=$?
        [ "$status" -eq "$1" ]
        [ ! -s "$BATS_TEST_TMPDIR/said" ]
        [[ $words != *json* ]] || jq -e '.schema == 1' "$BATS_TEST_TMPDIR/answer" > "$BATS_TEST_TMPDIR/jq"
    done
}

# The answer for the plain task, to compare with.
rank_of()
{
    "$rollcall" show --json --from "$1" | jq -c '[.launcher, .identity.rank, .identity.world_size, .set.RANK]'
}

plain='["slurm",3,4,"3"]'

@test "no variable at all: the file is no environment" {
    : > "$BATS_TEST_TMPDIR/block"
    fails_with 2 'block is no environment: it is empty; record one with env -0 > FILE' \
        "$rollcall" show --from "$BATS_TEST_TMPDIR/block"
    for text in '\0\0\0' '\n\n' 'some text\nof several lines\n' '# a comment\n' '=x\n' 'set x=1\n'; do
        printf "$text" > "$BATS_TEST_TMPDIR/block"
        fails_with 2 'block is no environment: it is no list of NAME=VALUE' \
            "$rollcall" show --why --from "$BATS_TEST_TMPDIR/block"
    done
    fails_with 2 'no environment' "$rollcall" show --json --from /bin/ls
    fails_with 2 'standard input is no environment: it is empty' "$rollcall" show --from - < /dev/null
    printf '\n' >> "$BATS_TEST_TMPDIR/block"
    printf 'A=b\n' >> "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    run -0 env -i "$rollcall" show --json
    [ "$(jq -c '[.launcher, .set.RANK, .set.WORLD_SIZE, .messages[0].id]' <<< "$output")" = '["single","0","1","RC311"]' ]
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
        { printf '\0=\0'; head -c 65536 /dev/urandom; } > "$BATS_TEST_TMPDIR/random"
        fails_with 2 'random is no environment: it is no list of NAME=VALUE' "$rollcall" show --from "$BATS_TEST_TMPDIR/random"
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
    for words in "show --from $BATS_TEST_TMPDIR/block" "show --why --json --from $BATS_TEST_TMPDIR/block" 'show --pid 1' \
        'show --from /' 'shwo' 'exec --ddp=x'; do
        run with valgrind -q --leak-check=full --track-fds=no --error-exitcode=99 "$rollcall" $words
        [ "$status" != 99 ]
        [[ $output != *'=='[0-9]*'=='* ]]
    done
    run -0 with "${task_0[@]}" "$own_job" valgrind -q --leak-check=full --error-exitcode=99 "$rollcall" exec -v -- true
}

@test "advice refuses nothing: 5,000 nodes with 8 and 7 tasks in turn" {
    local counts
    counts=$(yes 8,7 | head -2500 | paste -sd,)
    with SLURM_JOB_ID=42 SLURM_STEP_ID=7 SLURM_STEP_NUM_TASKS=37500 SLURM_STEP_NUM_NODES=5000 SLURM_PROCID=8 \
        SLURM_LOCALID=0 SLURM_NODEID=1 'SLURM_STEP_NODELIST=n[0-4999]' SLURM_STEP_TASKS_PER_NODE="$counts" \
        env -0 > "$BATS_TEST_TMPDIR/block"
    answer 0 "$BATS_TEST_TMPDIR/block"
    run -0 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/block"
    [ "$(jq -c '[.set.RANK, .set.LOCAL_WORLD_SIZE, .set.NODE_RANK]' <<< "$output")" = '["8","7","1"]' ]
    [[ $(jq -r '.messages[] | select(.id == "RC301").text' <<< "$output") == *"(7 here)"* ]]
}

# arbitrary NODES NAMES MAP: task 0 of node 1 under -m arbitrary, 8 tasks on each node, dealt in rounds; RANK 0 is elsewhere
arbitrary()
{
    with SLURM_JOB_ID=42 SLURM_STEP_ID=7 SLURM_STEP_NUM_TASKS=$(($1 * 8)) SLURM_STEP_NUM_NODES="$1" \
        SLURM_PROCID=2 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_STEP_NODELIST="$2" SLURM_DISTRIBUTION=arbitrary \
        SLURM_STEP_TASKS_PER_NODE="8(x$1)" SLURM_ROLLCALL_TASK_HOSTS="$3" env -0 > "$BATS_TEST_TMPDIR/block"
    run "$rollcall" show --json --from "$BATS_TEST_TMPDIR/block"
}

@test "arbitrary: 1,200 nodes with names of no pattern, 65,536 nodes, and a map that was too long" {
    local round
    round=$(seq -s, 2 1199)
    round=0,1199,1,${round%,1199}
    arbitrary 1200 "$(seq -s, 1200 | sed -E 's/([0-9]+)/\1host/g')" \
        "42.7 $(yes "$round" | head -8 | paste -sd,)"
    [ "$status" -eq 0 ]
    [ "$(jq -c '[.set.RANK, .set.NODE_RANK, .set.MASTER_ADDR]' <<< "$output")" = '["2","2","1host"]' ]
    arbitrary 65536 'n[0-65535]' 42.7\ 65535x8,0x8,1-65534x8
    [ "$(jq -c '[.set.RANK, .set.NODE_RANK, .set.MASTER_ADDR]' <<< "$output")" = '["2","2","n65535"]' ]
    arbitrary 65536 'n[0-65535]' '42.7 long'
    [[ $(jq -r '.messages[] | select(.id == "RC106").text' <<< "$output") == *"too irregular"*"name each node once"* ]]
    # another step's map
    arbitrary 65536 'n[0-65535]' 42.6\ 65535x8,0x8,1-65534x8
    [[ $(jq -r '.messages[] | select(.id == "RC106").text' <<< "$output") == *"no variable has the node of rank 0"* ]]
}
