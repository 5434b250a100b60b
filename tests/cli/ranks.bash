# SPDX-License-Identifier: BSD-3-Clause
# ranks.bash - several ranks by hand on this node, in C (library.c) and in Python.
# shellcheck disable=SC2034,SC2154 # what tests use; what helper and bats set

load helper

# what tells one launch by hand from another
port=$(free_port)
# does what it is given; how that fails is a line
does=(python3 -c 'import sys, rollcall
try:
    print(eval(sys.argv[1]))
except rollcall.Error as error:
    print(error.code, error)')

setup_file()
{
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    read -ra link <<< "$(pkg-config --cflags --libs rollcall)"
    "${CC:-cc}" "-DVERSION=\"\"" "$BATS_TEST_DIRNAME/library.c" -o "$BATS_FILE_TMPDIR/library" "${link[@]}"
}

teardown()
{
    local pid
    for pid in "${started[@]}" ${server_pid:-}; do
        kill "$pid" 2> /dev/null || true
    done
}

# here CMD...: with the library, the module and, if a test needs it, NCCL; torchrun leaves a folder in TMPDIR
here()
{
    with TMPDIR="$BATS_TEST_TMPDIR" LD_LIBRARY_PATH="$prefix/lib${nccl:+:$nccl}" PYTHONPATH="$prefix/share/rollcall/python" \
        PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout 100 "$@"
}

# by_hand RANK SIZE CMD...: one of so many on this node
by_hand()
{
    local rank=$1 size=$2
    shift 2
    here env "RANK=$rank" "WORLD_SIZE=$size" "LOCAL_RANK=$rank" "LOCAL_WORLD_SIZE=$size" MASTER_ADDR=127.0.0.1 \
        "MASTER_PORT=$port" "$@"
}

# begin RANK SIZE CMD...: the same, meanwhile; what it says goes to rank.RANK, its number to started
begin()
{
    by_hand "$@" > "$BATS_TEST_TMPDIR/rank.$1" 2>&1 3>&- &
    started+=($!)
}

# ended: the last one of them has, with status 0
ended()
{
    wait "${started[-1]}" || { cat "$BATS_TEST_TMPDIR"/rank.*; return 1; }
}

# two CMD...: it is both ranks on this node; what rank 0 says is in output
two()
{
    begin 1 2 "$@"
    run -0 by_hand 0 2 "$@"
    ended
}

# fails CODE TEXT CMD...: what CMD does in Python fails with this code, and one line that has the text
fails()
{
    local code=$1 text=$2
    shift 2
    run -0 "$@"
    echo "$output"
    [ "$(wc -l <<< "$output")" -eq 1 ]
    [[ $output == "$code "*"$text"* ]]
}
