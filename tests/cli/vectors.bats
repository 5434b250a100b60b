#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Recorded environments and what `rollcall show --json` must answer: tests/vectors/recordings.py and expectation.py say
# how they are written. REGENERATE=1 writes the answers anew: review them before you commit them.

load helper

@test "every recorded environment is answered as it was reviewed" {
    what=check
    [ -z "${REGENERATE:-}" ] || what=write
    python3 -B "$recordings/expectation.py" "$what" "$rollcall"
}

@test "REGENERATE: answers that did not change -> the same files, byte for byte" {
    cp -r "$recordings" "$BATS_TEST_TMPDIR/vectors"
    python3 -B "$BATS_TEST_TMPDIR/vectors/expectation.py" write "$rollcall"
    diff -r "$recordings" "$BATS_TEST_TMPDIR/vectors"
}

# The reviewed answers, that is; the test above holds rollcall's own against them.
@test "the tasks of a recorded job answer the roll: each rank once, where it really was, or all refuse" {
    python3 -B "$recordings/roll.py"
}

@test "recorded environments hold nothing of the machine that they come from" {
    run ! grep -nE '/var/lib|/root|^ROLLCALL_(BUILD|PREFIX)=|/home/[^u]|[Tt]oken|[Ss]ecret|127\.0\.1\.1' "$recordings"/*.env
}
