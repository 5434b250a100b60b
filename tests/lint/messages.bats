#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The catalogue's examples: what the code prints today.

load helper

@test "every example of a message is what the code prints" {
    expect_same "" "$(python3 "$here/messages.py" "$top")"
}

@test "an example that the code does not print is found" {
    copy=$BATS_TEST_TMPDIR/top
    mkdir "$copy"
    for folder in cli lib libexec shim spank; do
        cp -r "$top/$folder" "$copy"
    done
    sed -i 's/%s %s there %s: on %s/%s %s here %s, on %s/' "$copy/lib/roll/checkranks.c"
    sed -i 's/MASTER_PORT is always %s/MASTER_PORT was always %s/' "$copy/cli/doctor/python/master.py" "$copy/cli/doctor/python/shell.py"
    run python3 "$here/messages.py" "$copy"
    expect_same "$(printf '%s\n' 'RC602: rank 1 is there twice: on n2 and on n3' 'D403: MASTER_PORT is always 12355' \
        'D516: MASTER_PORT is always 29500')" "$output"
}
