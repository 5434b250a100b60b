#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall explain FILE: what a job has printed. tests/cluster/errorlogs.bats has logs of jobs that failed for real.

load helper

# found LOG...: a line for each entry: level, line, rank, how often, id or the first words of the cause
found()
{
    "$rollcall" explain --json "$@" |
        jq -r '.found[] | [.level, .line, .rank // "-", .count, .id // .cause[:24]] | map(tostring) | join(" ")'
}

# headlines: those of docs/symptoms.md that a program prints, each with the first words of its entry
headlines()
{
    awk '/^## No message/ { exit }
        /^### / { text = substr($0, 5); next }
        text != "" && NF { print text "\t" substr($0, 1, 20); text = "" }' "$top/docs/symptoms.md"
}

@test "each headline of symptoms.md, with other numbers, inside a line of rank 3 -> its entry" {
    local count=0 text words
    while IFS=$'\t' read -r text words; do
        case $text in
            *', twice') line=${text%, twice} ;;
            *) line=$(sed 's/[0-9][0-9]*/987/g; s/ RANK / LOCAL_RANK /; s/(n[0-9]*,/(gpu-17.cluster,/' <<< "$text") ;;
        esac
        printf '%s\n' "step 1 loss 0.5" "[rank3]: RuntimeError: $line (at 12)" "[rank3]: RuntimeError: $line (at 12)" \
            "step 2 loss 0.4" > "$BATS_TEST_TMPDIR/log"
        run -0 --separate-stderr "$rollcall" explain --json "$BATS_TEST_TMPDIR/log"
        jq -e --arg words "$words" '.found | length == 1 and (.[0] | .line == 2 and .rank == 3 and .count == 2 and
            (.cause | startswith($words)))' <<< "$output" || { echo "$line"; echo "$output"; return 1; }
        count=$((count + 1))
    done < <(headlines)
    [ "$count" -ge 35 ]
    # no words of one are enough
    sed 's/.*\t//; s/^/the words /' < <(headlines) > "$BATS_TEST_TMPDIR/log"
    run -0 "$rollcall" explain "$BATS_TEST_TMPDIR/log"
    [ "$output" = "$BATS_TEST_TMPDIR/log: $count lines, none of which rollcall explain knows" ]
}

@test "rollcall's own lines -> their ids, and no other word that looks like one" {
    cat > "$BATS_TEST_TMPDIR/log" <<'END'
srun: rollcall: error RC602: rank 0 exists twice
slurmstepd: rollcall: warning RC301: 3 tasks are spread unevenly
rollcall: error RC9999: x
rollcall: RC404
exit code RC405: 1
rollcall: note RC501 without a colon
rollcall: error RC602: again
END
    [ "$(found "$BATS_TEST_TMPDIR/log")" = $'error 1 - 2 RC602\nwarning 2 - 1 RC301' ]
}

@test "order: the exception that came first, other errors as they came, warnings, harmless lines" {
    cat > "$BATS_TEST_TMPDIR/log" <<'END'
Setting OMP_NUM_THREADS environment variable for each process to be 1 in default
rollcall: warning RC422: n2 cannot reach port 20123
 2: RuntimeError: CUDA error: invalid device ordinal
 1: RuntimeError: CUDA error: invalid device ordinal
10:30:01 Watchdog caught collective operation timeout: WorkNCCL(SeqNum=17
srun: rollcall: warning RC711: rank 1 failed first
END
    [ "$(found "$BATS_TEST_TMPDIR/log" | cut -d ' ' -f 1-4)" = 'warning 6 - 1
error 3 2 2
error 5 - 1
warning 2 - 1
note 1 - 1' ]
}

@test "Lightning's GLOBAL_RANK: once -> nothing, the same twice -> the entry, two numbers -> nothing" {
    printf '%s\n' 'GLOBAL_RANK: 0, MEMBER: 1/4' 'GLOBAL_RANK: 1, MEMBER: 2/4' > "$BATS_TEST_TMPDIR/log"
    [ "$(found "$BATS_TEST_TMPDIR/log")" = '' ]
    printf '%s\n' 'GLOBAL_RANK: 0, MEMBER: 1/4' 'GLOBAL_RANK: 0, MEMBER: 1/4' > "$BATS_TEST_TMPDIR/log"
    [ "$(found "$BATS_TEST_TMPDIR/log")" = 'note 1 - 2 Harmless once. If severa' ]
}

@test "text: the place, the line, the cause, and lines to type as they are; several files, and standard input" {
    printf 'a\n\033[31m[rank12]: RuntimeError: CUDA error: invalid device ordinal\n' > "$BATS_TEST_TMPDIR/a.out"
    printf '[rank1]: ValueError: environment variable MASTER_ADDR expected, but not set\n' > "$BATS_TEST_TMPDIR/b.out"
    cd "$BATS_TEST_TMPDIR"
    run -0 --separate-stderr "$rollcall" explain a.out - b.out < b.out
    [ "$(grep -E '^[a-z]' <<< "$output")" = 'error a.out:2
error standard input:1, rank 1
error b.out:1, rank 1' ]
    [[ $output == *'line    \x1b[31m[rank12]: RuntimeError: '* ]]
    grep -qx ' *cause   The script asks for GPU 3 where it sees only one. Either' <<< "$output"
    grep -qx ' *srun -K -N2 --ntasks-per-node=4 rollcall exec -- python train.py' <<< "$output"
    [ -z "$stderr" ]
}

@test "ends: no end of line, an empty file, a line longer than memory -> read to the end in little memory" {
    printf 'invalid device ordinal' > "$BATS_TEST_TMPDIR/log"
    [ "$(found "$BATS_TEST_TMPDIR/log" | cut -d ' ' -f 1-4)" = 'error 1 - 1' ]
    run -0 "$rollcall" explain /dev/null
    [ "$output" = '/dev/null: 0 lines, none of which rollcall explain knows' ]
    { head -c 200M /dev/zero; printf '\n\ninvalid device ordinal\n'; } |
        (ulimit -v 100000 && found - | cut -d ' ' -f 1-4) > "$BATS_TEST_TMPDIR/out"
    [ "$(cat "$BATS_TEST_TMPDIR/out")" = 'error 3 - 1' ]
}

@test "what is no log: one line" {
    fails_with 2 "cannot read $BATS_TEST_TMPDIR: Is a directory" "$rollcall" explain "$BATS_TEST_TMPDIR"
    : > "$BATS_TEST_TMPDIR/log"
    fails_with 2 "give ids or files, not both: 'RC602' is no file" "$rollcall" explain "$BATS_TEST_TMPDIR/log" RC602
    fails_with 2 "give ids or files, not both: '$(cut -c 1-64 <<< "$BATS_TEST_TMPDIR/log")' is a file" \
        "$rollcall" explain RC602 "$BATS_TEST_TMPDIR/log"
    fails_with 2 "there is no message 'slurm-42.out', and no such file" "$rollcall" explain slurm-42.out
}
