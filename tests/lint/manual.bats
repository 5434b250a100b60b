#!/usr/bin/env bats
# The manual page: well formed, complete, and true of what is installed.

load helper

setup()
{
    page=$prefix/share/man/man7/rollcall.7
}

shown()
{
    MANWIDTH=${1:-100} LC_ALL=C.UTF-8 man --warnings=all -P cat "$page" 2> "$BATS_TEST_TMPDIR/warnings" | col -b
}

@test "the page is well formed" {
    shown > "$BATS_TEST_TMPDIR/text"
    expect_same "" "$(cat "$BATS_TEST_TMPDIR/warnings")"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/text")" -gt 100 ]
    found=$(mandoc -Tlint -W warning "$page" || true)
    expect_same "" "$found"
}

@test "nothing is left to be put in, and the version is there" {
    run grep -nE '@[A-Za-z]+@' "$page"
    [ -z "$output" ]
    grep -qE "^\.TH ROLLCALL 7 [0-9-]+ \"rollcall $(cat "$top/VERSION")\" " "$page"
}

@test "sections are in their order" {
    sections='NAME SYNOPSIS DESCRIPTION MODES ADDRESSES MASTER PORT AND ROLL CALL WATCH GUARD NCCL IDS MAP'
    sections+=' LAUNCHERS FRAMEWORKS ENVIRONMENT FILES MESSAGES SEE ALSO'
    expect_same "$sections" "$(sed -n 's/^\.SH //p' "$page" | paste -sd' ')"
}

@test "every message of the catalogue is there, with what to do" {
    ids=$(sed -n 's/^ROLLCALL_MESSAGE(\(RC[0-9]*\),.*/\1/p' "$top/lib/messages.def")
    expect_same "$ids" "$(grep -oE '^\.BR RC[0-9]+' "$page" | cut -d' ' -f2)"
    shown 2000 | grep -qF '(Slurm: srun --ntasks-per-node=N); plain torch copes, Lightning and others do not.'
}

@test "every launcher of the registry has its row, in that order, and no other has" {
    ids=$(sed -n 's/^ROLLCALL_LAUNCHER(\([a-z0-9]*\))$/\1/p' "$top/lib/launcher/registry.def")
    expect_same "$ids" "$(sed -n '/^\.TS$/,/^\.TE$/s/^\([a-z0-9]*\)\t.*/\1/p' "$page" | grep -v '^name$')"
}

@test "every variable that rollcall sets is named" {
    names=$(cd "$top" && grep -hoE 'RC_(STR|NAME)\("(RANK|[A-Z]+_[A-Z_]+)"\)' lib/plan.c | cut -d'"' -f2 |
        grep -vE '^(TORCHELASTIC|PET)_' | LC_ALL=C sort -u)
    [ "$(wc -l <<< "$names")" -gt 10 ]
    text=$(shown)
    names+=" $(cd "$top" && sed -n 's/^ROLLCALL_FRAMEWORK("\([A-Z_]*\)",.*/\1/p' lib/frameworks.def)"
    [[ $names == *" JAX_"* ]]
    for name in $names ROLLCALL ROLLCALL_DEBUG ROLLCALL_SCOPE ROLLCALL_IDENTITY PYTHONPATH ROLLCALL_GUARD LD_PRELOAD; do
        grep -qw "$name" <<< "$text" || { echo "$name is not in the page"; return 1; }
    done
}

@test "installed files are where the page says" {
    shown | sed -n '/^FILES/,/^MESSAGES/s|^ *\(/.*\)$|\1|p' > "$BATS_TEST_TMPDIR/files"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/files")" -eq 10 ]
    while read -r file; do
        [ -e "$file" ] || { echo "$file is not there"; return 1; }
    done < "$BATS_TEST_TMPDIR/files"
}
