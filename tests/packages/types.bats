#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The types of the Python module, looked at by mypy: its own, and what a program gets that has the wheel. What it does,
# tests/cli/python.bats shows.

load helper

mypy=(mypy==2.4.1)

setup_file()
{
    need_of_pip mypy "${mypy[@]}"
}

# check ARGUMENT...
check()
{
    "$top/build/mypy/bin/mypy" --strict --cache-dir /dev/null --no-color-output "$@"
}

@test "mypy has nothing to say of the module, for the oldest and the newest Python that it knows" {
    cp -R "$top/python" "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR/python"
    for version in 3.10 3.14; do
        check --python-version "$version" rollcall makewheel.py
    done
    # and it looks: identity() gives another type than it says
    sed -i 's/^\( *\)rank=self\.number("rank"),/\1rank=self.text("rank"),/' rollcall/_library.py
    run -1 check rollcall
    [[ $output == *'_library.py:'*'expected "int | None"'* ]]
}

@test "a program that has the wheel has its types" {
    venv=$BATS_TEST_TMPDIR/venv
    python3 -m venv "$venv"
    wheel=$(python3 -B "$top/python/makewheel.py" "$BATS_TEST_TMPDIR")
    "$venv/bin/pip" -q --disable-pip-version-check install --no-index "$BATS_TEST_TMPDIR/$wheel"
    cd "$BATS_TEST_TMPDIR"
    cat > right.py << 'PYTHON'
from typing import Dict, List, Optional, Tuple

from typing_extensions import assert_type

import rollcall

me = rollcall.identity()
assert_type(me, rollcall.Identity)
assert_type(me.rank, Optional[int])
assert_type(me.nnodes, Optional[int])
assert_type(me.master_addr, Optional[str])
assert_type(me.master_port, Optional[int])
assert_type(me.mode, str)
plan = rollcall.plan()
assert_type(plan.set, Dict[str, str])
assert_type(plan.unset, Tuple[str, ...])
assert_type([one.text for one in plan.messages], List[str])
assert_type(rollcall.version(), str)
assert_type(rollcall.nccl_unique_id(timeout=2), bytes)
assert_type(rollcall.nccl_unique_ids(3), List[bytes])
try:
    assert_type(rollcall.broadcast("seed", b"1" if me.rank == 0 else None, root=0, timeout=0.5), bytes)
except rollcall.Timeout as late:
    assert_type(late.code, int)
except rollcall.Error as error:
    assert_type(error.code, int)
PYTHON
    check --python-executable "$venv/bin/python" right.py
    cat > wrong.py << 'PYTHON'
import rollcall

print(rollcall.identity().rank + 1)
print(rollcall.identity().ranks)
print(rollcall.broadcast("seed", "text"))
PYTHON
    run -1 check --python-executable "$venv/bin/python" wrong.py
    echo "$output"
    [ "$(cut -d : -f 1,2 <<< "$output" | grep -x 'wrong.py:[345]' | sort -u | wc -l)" -eq 3 ]
    [[ $output == *'"Identity" has no attribute "ranks"'* ]]
}
