# SPDX-License-Identifier: BSD-3-Clause
# prints.bash - what a command must print, beside the command. Output and errors count together, and stay in $output.
#
#   prints TEXT CMD...              succeeds, and prints exactly that
#   matches STATUS PATTERN CMD...   ends so, and what it prints matches the shell's pattern

# shellcheck disable=SC2154 # output is set by run

prints()
{
    local text=$1
    shift
    run -0 "$@" || return 1
    [ "$output" = "$text" ] || {
        diff -u --label expected --label printed <(printf '%s\n' "$text") <(printf '%s\n' "$output")
        return 1
    }
}

matches()
{
    local expected=$1 pattern=$2
    shift 2
    run "-$expected" "$@" || return 1
    # shellcheck disable=SC2053 # it is a pattern
    [[ $output == $pattern ]] || {
        printf '%s\n' "does not match $pattern:" "$output"
        return 1
    }
}
