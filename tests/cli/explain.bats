#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall explain ID: the catalogue of messages. explain FILE is in errorlog.bats.

load helper

setup_file()
{
    unpack_vectors
}

@test "an id, in each of its forms, and several" {
    expected=$("$rollcall" explain RC602)
    [[ $expected == "error RC602"$'\n'*'cause   two tasks have the same rank'*'cure    '* ]]
    for id in rc602 602 Rc602 RC602: RC602, RC602. 'RC602;' 'RC602)' 602.; do
        [ "$("$rollcall" explain $id)" = "$expected" ]
    done
    run -0 "$rollcall" explain RC301 602
    [[ $output == "warning RC301"$'\n'* && $output == *$'\n\n'"$expected" ]]
    [ "$(awk 'length > 80' <<< "$output")" = "" ]
}

@test "JSON: the same, wherever --json stands" {
    prints "$("$rollcall" explain --json RC602 RC101)" "$rollcall" explain rc602 --json 101
    [ "$(jq -r '[.schema, (.messages[] | .id, .level)] | join(" ")' <<< "$output")" = '1 RC602 error RC101 error' ]
    jq -e 'all(.messages[]; (.cause, .cure) | length > 10)' <<< "$output"
    [ "$(jq -r '.messages[0] | keys | join(" ")' <<< "$output")" = 'cause cure id level' ]
}

@test "--list: one line an id, all of them" {
    run -0 "$rollcall" explain --list
    ids=$(cat "$top/lib/base/messages.def" "$top/cli/findings.def" |
        sed -nE 's/^ROLLCALL_(MESSAGE|FINDING)\(([A-Z]+[0-9]*),.*/\2/p')
    [ "$(cut -d' ' -f1 <<< "$output")" = "$ids" ]
    grep -qx 'RC602 error    two tasks have the same rank' <<< "$output"
    [ "$("$rollcall" explain --list --json | jq '.messages | length')" = "${#lines[@]}" ]
}

@test "a finding of doctor's" {
    run -0 "$rollcall" explain D101 d102
    [[ $output == "error D101"$'\n'*'cause   srun is installed but '*'cure    '*$'\n\n'"warning D102"* ]]
    [ "$("$rollcall" explain --json D403 | jq -c '.messages[0] | [.id, .level]')" = '["D403","warning"]' ]
    # a number alone is a message's
    fails_with 2 "no message '537'" "$rollcall" explain 537
}

@test "an id that is not there: one line" {
    fails_with 2 "no message '99999'" "$rollcall" explain RC602 99999
    for wrong in RC615 rc1 D1 d199 D RC RC602x RC-602 +602 602.1 :602 : '' 6020000000000; do
        fails_with 2 "there is no message '$wrong', and no such file; ids are as RC602: see rollcall explain --list" "$rollcall" explain "$wrong"
    done
}

@test "ids and --list alone" {
    fails_with 2 "unknown option '--from'" "$rollcall" explain --from /dev/null RC602
    fails_with 2 "no message 'true'" "$rollcall" explain RC602 -- true
    fails_with 2 'which message?' "$rollcall" explain
    fails_with 2 'rollcall show --why' "$rollcall" explain --json
    fails_with 2 "'RC602' does not go together with --list" "$rollcall" explain RC602 --list
    fails_with 2 "unknown option '--lits'; see rollcall explain --help" "$rollcall" explain RC602 --lits
}
