#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lib/resolve/options.def, and every text that says what --ddp takes.

load helper
load ../options

manual=$prefix/share/man

# Of what is written with placeholders, as in --ddp=MODE, nothing is a wish.
written()
{
    grep -ohE -- '--ddp=[a-z0-9_=,./:-]*[a-z0-9]' | LC_ALL=C sort -u
}

@test "each key is acted on" {
    [ "$(option_keys | wc -l)" -ge 12 ]
    while IFS=$'\t' read -r key _; do
        grep -rqE --include=*.[ch] "options(\.|->)$key(_first|_last|_seconds)?\b" "$top/lib" "$top/spank" ||
            { echo "nobody reads $key"; return 1; }
    done < <(option_keys)
}

@test "help texts fit into a line" {
    while IFS=$'\t' read -r key _ values help _; do
        [ "$((${#key} + ${#values}))" -le 27 ] || { echo "$key=$values is too long"; return 1; }
        [ ${#help} -le 42 ] || { echo "$key: $help"; return 1; }
    done < <(option_keys)
}

@test "rollcall exec --help has each mode and key, with its values and its help" {
    help=$("$command" exec --help | tr -s ' ')
    [ "$(option_modes | wc -l)" -ge 4 ]
    while IFS=$'\t' read -r word text; do
        grep -qxF -e " $word $text" <<< "$help" || { echo "no $word"; return 1; }
    done < <(option_modes)
    while IFS=$'\t' read -r key shape values text _; do
        shown="$key=$values"
        [ "$shape" != SWITCH ] || shown="${key}[=$values]"
        grep -qxF -e " $shown $text" <<< "$help" || { echo "no $key"; return 1; }
    done < <(option_keys)
}

@test "srun --help has each mode and key, with its values" {
    [ -f "$plugin" ]
    usage=$(strings -n 100 "$plugin" | grep -F '[rollcall] give every task its rank')
    for word in $(option_modes | cut -f1); do
        [[ $usage == *" $word ("* ]] || { echo "no $word"; return 1; }
    done
    while IFS=$'\t' read -r key shape values _; do
        shown="$key=$values"
        [ "$shape" != SWITCH ] || shown="${key}[=$values]"
        [[ $usage == *" $shown,"* ]] || { echo "no $key"; return 1; }
    done < <(option_keys)
}

@test "RC201 has each mode and key" {
    run -2 "$command" exec --ddp=nonsense -- true
    for word in $(option_modes | cut -f1) $(option_keys | cut -f1); do
        [[ $output =~ [\ ]${word}[,=\ ] || $output == *" $word=" ]] || { echo "no $word"; return 1; }
    done
}

@test "rollcall(1) has each key, and its section in rollcall(7), where it is explained" {
    expect_same "$(option_keys | cut -f1,5 | LC_ALL=C sort)" \
        "$(sed -n '/^\\fBkey\\fR/,/^\.TE$/p' "$manual/man1/rollcall.1" | sed '1d;$d' |
            awk -F'\t' '{ n = split($1, keys, ", "); for (i = 1; i <= n; i++) print keys[i] "\t" $2 }' | LC_ALL=C sort)"
    while IFS=$'\t' read -r key _ _ _ section; do
        sed -n "/^\.SH $section\$/,/^\.SH /p" "$manual/man7/rollcall.7" | grep -qE "\b$key(=|\b)" ||
            { echo "$key is not in $section"; return 1; }
    done < <(option_keys)
}

@test "whatever a text gives to --ddp is understood" {
    cd "$top"
    mapfile -t texts < <(files README.md README.ja.md NEWS docs man contrib/examples)
    { cat "${texts[@]}" | sed 's/\\-/-/g'; "$command" exec --help; } | written > "$BATS_TEST_TMPDIR/wishes"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/wishes")" -gt 10 ]
    while read -r wish; do
        "$command" show "$wish" > "$BATS_TEST_TMPDIR/shown" 2>&1 || [ $? -ne 2 ] || { echo "$wish"; return 1; }
    done < "$BATS_TEST_TMPDIR/wishes"
}

@test "the words after a key are those of the grammar wherever a text gives them" {
    cd "$top"
    mapfile -t texts < <(files README.md README.ja.md docs man)
    [ ${#texts[@]} -gt 10 ]
    while IFS=$'\t' read -r key shape values _; do
        [ "$shape" = CHOICE ] || continue
        for word in $(cat "${texts[@]}" | sed 's/\\-/-/g; s/\\f[A-Z]//g' | grep -ohE "(^|[ \",(\`=])$key=[a-z]+" | sed 's/.*=//' |
            LC_ALL=C sort -u); do
            [[ "|$values|" == *"|$word|"* ]] || { echo "$key=$word"; return 1; }
        done
    done < <(option_keys)
}
