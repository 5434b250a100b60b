# SPDX-License-Identifier: BSD-3-Clause
# doctor.bash - what the tests of rollcall doctor share. After helper.bash.

# shellcheck disable=SC2154 # what helper.bash sets

environment=()

# only_python: in setup, an empty folder whose bin has Python alone
only_python()
{
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir bin
    printf '#!/bin/sh\nexec %s "$@"\n' "$(python3 -c 'import sys; print(sys.executable)')" > bin/python3
    chmod 755 bin/python3
}

# doctor ARG...: with a PATH on which there is Python, and srun where a test has put one
doctor()
{
    env -i PATH="$BATS_TEST_TMPDIR/bin" HOME="$BATS_TEST_TMPDIR" LANG=C.UTF-8 "${environment[@]}" "$rollcall" doctor "$@"
}

# has_status STATUS FILE: the status that goes with the worst of the findings in the doctor's JSON
has_status()
{
    local right
    right=$(jq '[.findings[] | if .level == "note" then .id else .level end] | if index("error") then 3
        elif index("warning") then 1 elif index("D421") or index("D422") then 4 else 0 end' "$2")
    [ "$1" = "$right" ] || { cat "$2"; echo "status $1, not $right"; return 1; }
}
