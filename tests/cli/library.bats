#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# librollcall from C and C++, as pkg-config says to use it.

load helper

setup_file()
{
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    read -ra link <<< "$(pkg-config --cflags --libs rollcall)"
    warn=(-Wall -Wextra -Werror -pedantic "-DVERSION=\"$(cat "$top/VERSION")\"")
    "${CC:-cc}" -std=c99 "${warn[@]}" "$BATS_TEST_DIRNAME/library.c" -o "$BATS_FILE_TMPDIR/c" "${link[@]}"
    "${CXX:-c++}" -std=c++11 "${warn[@]}" -x c++ "$BATS_TEST_DIRNAME/library.c" -x none -o "$BATS_FILE_TMPDIR/c++" "${link[@]}"
}

# use PROGRAM ARGUMENT in an environment
library()
{
    with LD_LIBRARY_PATH="$prefix/lib" "$@"
}

@test "every function, with what it should and should not get, from C and C++" {
    for language in c c++; do
        prints '' library "$BATS_FILE_TMPDIR/$language" calls
    done
}

@test "the own environment: what rollcall show says" {
    for language in c c++; do
        run -0 library "${task_3[@]}" PET_NNODES=2 "$BATS_FILE_TMPDIR/$language" own
        for line in 'launcher slurm' 'mode worker' 'rank 3 of 4' 'local 1 of 2' 'node 1 of 2' 'set RANK=3' 'unset PET_NNODES'; do
            grep -qxF "$line" <<< "$output"
        done
        [ "$(sed -n '/^set ROLLCALL_OWN=/d; s/^set //p' <<< "$output" | sort)" = "$(with "${task_3[@]}" PET_NNODES=2 "$rollcall" show --json |
            jq -r '.set | to_entries[] | "\(.key)=\(.value)"' | sort)" ]
        [ "$(sed -n 's/^master //p' <<< "$output")" = "$(with "${task_3[@]}" "$rollcall" show --json | jq -r '.master | "\(.addr) \(.port)"')" ]
    done
    matches 1 'error 1 RC101: SLURM_LOCALID*' library "${task_3[@]}" SLURM_LOCALID=x "$BATS_FILE_TMPDIR/c" own
    run -0 library "${agent_0[@]}" ROLLCALL=launcher "$BATS_FILE_TMPDIR/c" own
    [[ $output == *'mode launcher'*'rank -1 of -1'*'node 0 of 2'* ]]
}

@test "a file of hosts: PBS_NODEFILE -> the library reads it as rollcall show does" {
    printf 'n1\nn2\n' > "$BATS_TEST_TMPDIR/nodes"
    run -0 library PBS_JOBID=7.srv PBS_TASKNUM=00000001 PBS_NODENUM=1 PBS_NODEFILE="$BATS_TEST_TMPDIR/nodes" \
        "$BATS_FILE_TMPDIR/c" own
    [[ $output == *'launcher pbs'*'rank 1 of 2'*'node 1 of 2'* ]]
}

@test "another node's MASTER_ADDR, asked for again and again" {
    prints '' library "${task_0[@]}" MASTER_ADDR=203.0.113.9 "$BATS_FILE_TMPDIR/c" elsewhere
}

@test "without leaks or wild reads" {
    run -0 library "${task_3[@]}" valgrind -q --leak-check=full --error-exitcode=99 "$BATS_FILE_TMPDIR/c" own
    run -0 library valgrind -q --leak-check=full --error-exitcode=99 "$BATS_FILE_TMPDIR/c" calls
}
