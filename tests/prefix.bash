# SPDX-License-Identifier: BSD-3-Clause
# prefix.bash - what the tests use, if the caller of bats sets nothing: what `tests/run --build` has installed, and the
# Python of .venv or the system's. Sourced by the helpers of the layers.

# shellcheck shell=bash

ROLLCALL_PREFIX=${ROLLCALL_PREFIX:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/prefix}
[ -n "${PYTHON:-}" ] || for PYTHON in "${ROLLCALL_PREFIX%/build/prefix}/.venv/bin/python" "$(command -v python3)"; do
    [ ! -x "$PYTHON" ] || break
done
export ROLLCALL_PREFIX PYTHON
[ -x "$ROLLCALL_PREFIX/bin/rollcall" ] || {
    echo "tests: $ROLLCALL_PREFIX has no bin/rollcall: run tests/run --build, or set ROLLCALL_PREFIX" >&2
    exit 1
}
