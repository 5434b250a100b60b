# SPDX-License-Identifier: BSD-3-Clause
# leftout.bash - whole files of tests that cannot be here, of which each test says that it is skipped; sourced by
# helpers.bash. bats 1.8 takes a `skip` in setup_file for a failure, so the reason is kept until setup.
#
#   needs_root || return 0                        first in setup_file; without root they fail: tests/run has it
#   ... || leave_out REASON || return 0           there, of anything else
#   setup                                         says it; a file with its own calls unless_left_out first

# shellcheck shell=bash

leave_out()
{
    export left_out=$1
    return 1
}

needs_root()
{
    [ "$EUID" -eq 0 ] || {
        echo "these tests need root" >&2
        exit 1
    }
}

unless_left_out()
{
    [ -z "${left_out:-}" ] || skip "$left_out"
}

setup()
{
    unless_left_out
}
