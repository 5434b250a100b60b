#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# guard.bats - librollcall-nccl.so between programs and NCCL, at a server as srun has it beside it.
#
# programs/fakenccl.c stands in for NCCL, which joins nothing without a GPU; the real one is here as well, where
# ROLLCALL_NCCL names its folder. tests/cluster/guard.bats has a real srun.

# shellcheck disable=SC2154 # bin and here come from helper.bash

bats_require_minimum_version 1.5.0
load helper

guard=${ROLLCALL_BUILD:-$top/build/release}/shim/nccl/.libs/librollcall-nccl.so
exchange=${ROLLCALL_BUILD:-$top/build/release}/libexec/exchange/rollcall-exchange
token=0123456789abcdef0123456789abcdef

setup_file()
{
    if [ ! -e "$guard" ] || [ ! -e "$exchange" ]; then
        echo "$guard or $exchange is not there: make them first" >&2
        return 1
    fi
    local options=(-O2 -Wall -Wextra -Werror) programs=$here/programs
    gcc "${options[@]}" -shared -fPIC -Wl,-soname,libnccl.so.2 -o "$bin/libnccl.so.2" "$programs/fakenccl.c"
    gcc "${options[@]}" -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$bin/libcuda.so.1" "$programs/fakecuda.c"
    gcc "${options[@]}" -shared -fPIC -o "$bin/framework.so" "$programs/framework.c" -L"$bin" -l:libnccl.so.2
    # NCCL is a part of it: its names are visible, or are not
    gcc "${options[@]}" -shared -fPIC -o "$bin/whole.so" "$programs/framework.c" "$programs/fakenccl.c"
    gcc "${options[@]}" -shared -fPIC -Wl,-Bsymbolic -o "$bin/static.so" "$programs/framework.c" "$programs/fakenccl.c"
    gcc "${options[@]}" -o "$bin/join" "$programs/join.c"
    # NCCL is linked with the program: it is in everybody's scope
    gcc "${options[@]}" -o "$bin/join-global" "$programs/join.c" -L"$bin" -Wl,--no-as-needed -l:libnccl.so.2
}

setup()
{
    mkfifo "$BATS_TEST_TMPDIR/life"
    exec 7<> "$BATS_TEST_TMPDIR/life"
    deadline=60
    extra=()
    framework=$bin/framework.so
}

teardown()
{
    exec 7>&-
    [ -z "${server_pid:-}" ] || { kill "$server_pid" && wait "$server_pid" || true; } 2> /dev/null
}

start_server()
{
    python3 "$here/programs/server.py" "$exchange" $token < "$BATS_TEST_TMPDIR/life" > "$BATS_TEST_TMPDIR/port" 3>&- 7>&- &
    server_pid=$!
    until [ -s "$BATS_TEST_TMPDIR/port" ]; do
        kill -0 $server_pid
        sleep 0.05
    done
    server=(SLURM_ROLLCALL_SERVER="$token $(cat "$BATS_TEST_TMPDIR/port") 42.7" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1)
}

# guarded IDENTITY [NAME=VALUE...] CMD...
guarded()
{
    local identity=$1
    shift
    env -i "${plain_environment[@]}" LD_LIBRARY_PATH="$bin" LD_PRELOAD="$guard" "${server[@]}" \
        ROLLCALL_GUARD="$identity deadline=$deadline" "${extra[@]}" "$@"
}

# together RANK... -- NRANKS HOW FILE: process i, of task i, joins as the i-th of these ranks. `3/2` is rank 3 of 2.
# Sets results, and says how each came out; what they print is in out.I and err.I.
together()
{
    local ranks=() pids=() i=0 rank
    while [ "$1" != -- ]; do
        ranks+=("$1")
        shift
    done
    for rank in "${ranks[@]}"; do
        if [ "$rank" != - ]; then
            [[ $rank == */* ]] || rank=$rank/$2
            guarded "rank=$i size=$2 node=0 nodes=1" "$bin/join" "$framework" "$3" "${rank#*/}" "${rank%/*}" \
                "$BATS_TEST_TMPDIR/$4" > "$BATS_TEST_TMPDIR/out.$i" 2> "$BATS_TEST_TMPDIR/err.$i" 3>&- 7>&- &
            pids[i]=$!
        fi
        i=$((i + 1))
    done
    results=()
    for i in "${!pids[@]}"; do
        results[i]=0
        wait "${pids[i]}" || results[i]=$?
    done
    lines=$(cat "$BATS_TEST_TMPDIR"/err.*)
    rm -f "$BATS_TEST_TMPDIR"/err.*
    echo "results: ${results[*]}"
    echo "$lines"
    cat "$BATS_TEST_TMPDIR"/out.*
}

# An id that everybody has.
id()
{
    head -c 128 /dev/urandom > "$BATS_TEST_TMPDIR/$1"
}

# One line, of that id, that matches.
one_line()
{
    [ "$(grep -c . <<< "$lines")" = 1 ] && [[ $lines =~ ^rollcall:\ (error|warning|note)\ $1:\ $2 ]] || {
        echo "not one line $1 with '$2'"
        return 1
    }
}

process='process [0-9]+ on [^ ]+'

@test "what NCCL gets, and what it returns, is the same with the guard and without" {
    start_server
    id one
    for program in join join-global; do
        for framework in framework whole static; do
            run -0 env LD_LIBRARY_PATH="$bin" "$bin/$program" "$bin/$framework.so" init 1 0 "$BATS_TEST_TMPDIR/one" \
                config 1 0 "$BATS_TEST_TMPDIR/one" nonblocking 1 0 "$BATS_TEST_TMPDIR/one" scalable 1 0 "$BATS_TEST_TMPDIR/one"
            bare=$(grep '^nccl' <<< "$output")
            [ "$(wc -l <<< "$bare")" = 4 ]
            run -0 guarded 'rank=0 size=2 node=0 nodes=1' "$bin/$program" "$bin/$framework.so" init 1 0 "$BATS_TEST_TMPDIR/one" \
                config 1 0 "$BATS_TEST_TMPDIR/one" nonblocking 1 0 "$BATS_TEST_TMPDIR/one" scalable 1 0 "$BATS_TEST_TMPDIR/one"
            [ "$(grep '^nccl' <<< "$output")" = "$bare" ]
        done
    done
}

@test "right ranks join, one communicator after the other, through each function" {
    start_server
    for how in init config scalable nonblocking; do
        id "$how"
        together 0 1 2 3 -- 4 $how $how
        [ "${results[*]}" = '0 0 0 0' ]
        [ -z "$lines" ]
        [ "$(cat "$BATS_TEST_TMPDIR"/out.* | grep -c '^nccl: ')" = 4 ]
    done
    # in one process
    pids=()
    for rank in 0 1; do
        guarded "rank=$rank size=2 node=0 nodes=1" "$bin/join" "$framework" init 2 $rank "$BATS_TEST_TMPDIR/a" \
            scalable 2 $rank "$BATS_TEST_TMPDIR/b" config 2 $((1 - rank)) "$BATS_TEST_TMPDIR/c" 3>&- 7>&- \
            > "$BATS_TEST_TMPDIR/out.$rank" 2>&1 &
        pids+=($!)
    done
    wait "${pids[0]}"
    wait "${pids[1]}"
    [ "$(cat "$BATS_TEST_TMPDIR"/out.[01] | grep -c '^join: 0 ')" = 6 ]
}

@test "RC801: two processes of one rank: one line names both, and all return at once" {
    start_server
    for how in init config scalable; do
        id "$how"
        together 0 1 2 2 -- 4 $how $how
        [ "${results[*]}" = '5 5 5 5' ]
        # which of the two says it is not known
        one_line RC801 "$process, whose task is rank [23], and $process, whose task is rank [23], both join an NCCL communicator as rank 2 of 4; (rank 3 is missing; )?no process joins"
    done
    # each rank twice: still one line
    id both
    together 0 1 0 1 -- 4 init both
    [ "${results[*]}" = '5 5 5 5' ]
    one_line RC801 "$process, .* both join .* as rank [01]"
}

@test "RC801: whoever comes when all have joined fails alone" {
    start_server
    id one
    together 0 1 -- 2 init one
    [ "${results[*]}" = '0 0' ]
    together 1 -- 2 init one
    [ "${results[*]}" = 5 ]
    one_line RC801 "$process, whose task is rank 0, and $process, whose task is rank 1, both join"
}

@test "RC802: a rank that cannot be" {
    start_server
    for rank in 4 -1; do
        id "r$rank"
        together 0 1 2 "$rank" -- 4 init "r$rank"
        [ "${results[*]}" = '5 5 5 5' ]
        one_line RC802 "$process, whose task is rank 3, joins an NCCL communicator of all 4 processes as rank $rank, but ranks are 0 to 3"
    done
}

@test "RC803: another number of ranks, early or late" {
    start_server
    differ="$process, whose task is rank [0123], joins an NCCL communicator as rank [0123] of [34], but $process, whose task is rank [0123], joins it as rank [0123] of [34]; no process joins"
    # who is there first, and is the only one of his kind, passes
    id any
    together 0 1 2 2/3 -- 4 init any
    [[ ${results[*]} =~ ^(5\ 5\ 5\ [05]|0\ 5\ 5\ 5|5\ 0\ 5\ 5|5\ 5\ 0\ 5)$ ]]
    one_line RC803 "$differ"
    # a script may have changed WORLD_SIZE: then both numbers are those of all
    id both
    extra=(WORLD_SIZE=3)
    together 0 1 2 2/3 -- 4 init both
    [ "${results[*]}" = '5 5 5 5' ]
    one_line RC803 "$differ"
    # as many, for whoever takes them for all and for whom they are some
    id alike
    pids=()
    extra=()
    for rank in 0 1 2; do
        more=()
        [ $rank = 1 ] || more=(WORLD_SIZE=3)
        guarded "node=0 nodes=3" "${more[@]}" "$bin/join" "$framework" init 3 $rank "$BATS_TEST_TMPDIR/alike" \
            > "$BATS_TEST_TMPDIR/out.$rank" 2> "$BATS_TEST_TMPDIR/err.$rank" 3>&- 7>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
    [ -z "$(cat "$BATS_TEST_TMPDIR"/err.*)" ]
}

@test "communicators of some processes, and of one, go through" {
    start_server
    id some
    id others
    together 0/2 1/2 - - -- 4 init some
    [ "${results[*]}" = '0 0' ]
    together - - 0/2 1/2 -- 4 config others
    [ "${results[*]}" = '0 0' ]
    [ -z "$lines" ]
    # also twice the same, which is NCCL's to judge
    id twice
    together 0/2 0/2 1/2 - -- 4 init twice
    [ "${results[*]}" = '0 0 0' ]
    [ -z "$lines" ]
}

@test "RC806: who has not come by the deadline is named once, and the others go on" {
    start_server
    deadline=2
    id one
    together 0 1 - 3 - 5 -- 6 init one
    [ "${results[*]}" = '0 0 0 0' ]
    one_line RC806 "$process, whose task is rank 0, has waited 2 s for an NCCL communicator of all 6 processes: no process has joined as rank 2,4; it goes on"
}

# A server that has no time for anybody, as where thousands ask at once, has not said that a rank is missing.
# bats test_tags=all
@test "who hears nothing from the server says nothing of the others" {
    local served
    start_server
    served=$(pgrep -P "$server_pid")
    deadline=2
    id one
    guarded "rank=0 size=2 node=0 nodes=1" "$bin/join" "$framework" init 2 0 "$BATS_TEST_TMPDIR/one" \
        > "$BATS_TEST_TMPDIR/out.0" 2> "$BATS_TEST_TMPDIR/err.0" 3>&- 7>&- &
    until [ "$(ss -Htn state established "( sport = :$(cat "$BATS_TEST_TMPDIR/port") )" | wc -l)" = 1 ]; do
        sleep 0.02
    done
    sleep 0.5 # behind its first questions
    kill -STOP "$served"
    wait $! || true
    kill -CONT "$served"
    [ ! -s "$BATS_TEST_TMPDIR/err.0" ]
}

@test "RC806: everybody has an id of his own" {
    start_server
    deadline=3
    pids=()
    for rank in 0 1 2; do
        guarded "rank=$rank size=3 node=0 nodes=1" "$bin/join" "$framework" init 3 $rank own \
            > "$BATS_TEST_TMPDIR/out.$rank" 2> "$BATS_TEST_TMPDIR/err.$rank" 3>&- 7>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
    lines=$(cat "$BATS_TEST_TMPDIR"/err.*)
    one_line RC806 "$process, whose task is rank 0, .* as rank 1-2; $process, whose task is rank 1, waits as rank 1 with another NCCL id, which it made itself; .* give the id of rank 0 to all"
}

@test "RC805: two processes on one GPU are named, and left to NCCL" {
    start_server
    id one
    extra=(FAKE_GPU=7)
    together 0 1 2 -- 3 init one
    [ "${results[*]}" = '0 0 0' ]
    one_line RC805 "$process, whose task is rank [012], and $process, whose task is rank [012], use the same GPU, 07070707"
    for allowed in NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_HOSTID=x; do
        id $allowed
        extra=(FAKE_GPU=7 $allowed)
        together 0 1 2 -- 3 init $allowed
        [ "${results[*]}" = '0 0 0' ]
        [ -z "$lines" ]
    done
}

@test "RC804: all tasks renumbered is a note, and node by node not even that" {
    start_server
    extra=(ROLLCALL_DEBUG=1)
    id one
    together 1 0 -- 2 init one
    [ "${results[*]}" = '0 0' ]
    [ "$(grep -c 'note RC804: process .* joins as rank [01] of 2; right if all tasks are renumbered so' <<< "$lines")" = 2 ]
}

@test "workers of torchrun: how many there are is what WORLD_SIZE says" {
    start_server
    id one
    id two
    worker()
    {
        guarded "node=$1 nodes=2" WORLD_SIZE=4 TORCHELASTIC_RUN_ID=42 "$bin/join" "$framework" init 4 "$2" \
            "$BATS_TEST_TMPDIR/$3" 3>&- 7>&- > "$BATS_TEST_TMPDIR/out.$1$4" 2> "$BATS_TEST_TMPDIR/err.$1$4" &
        pids+=($!)
    }
    for ranks in '0 1 2 3' '0 1 0 1'; do
        read -r a b c d <<< "$ranks"
        pids=()
        [ "$c" = 2 ] && file=one || file=two
        worker 0 "$a" $file a
        worker 0 "$b" $file b
        worker 1 "$c" $file a
        worker 1 "$d" $file b
        results=()
        for pid in "${pids[@]}"; do
            status=0
            wait "$pid" || status=$?
            results+=("$status")
        done
        lines=$(cat "$BATS_TEST_TMPDIR"/err.*)
        if [ "$c" = 2 ]; then
            [ "${results[*]}" = '0 0 0 0' ]
            [ -z "$lines" ]
        else
            [ "${results[*]}" = '5 5 5 5' ]
            one_line RC801 "$process and $process both join an NCCL communicator as rank [01] of 4; no process joins"
        fi
    done
}

@test "inert, and a note says why: not told, switched off, no server, ids that are not unique" {
    start_server
    id one
    # says CAUSE NAME=VALUE...: joins, twice the same rank, at once
    says()
    {
        local cause=$1
        shift
        for level in 0 1; do
            run -0 --separate-stderr guarded 'rank=0 size=2 node=0 nodes=1' ROLLCALL_DEBUG=$level "$@" "$bin/join" \
                "$framework" init 2 0 "$BATS_TEST_TMPDIR/one" init 2 0 "$BATS_TEST_TMPDIR/one"
            [ "$(grep -c '^nccl: ' <<< "$output")" = 2 ]
            [ "$(grep -c . <<< "$stderr")" = $level ]
        done
        [[ $stderr == "rollcall: note RC808: guard=nccl does nothing in this process: "*"$cause"* ]]
    }
    says 'guard=nccl was not asked for' env -u ROLLCALL_GUARD
    says 'not as rollcall writes it' ROLLCALL_GUARD=rank=x
    says 'not as rollcall writes it' ROLLCALL_GUARD=
    says 'switched off by ROLLCALL' ROLLCALL=off
    says 'switched off by ROLLCALL' ROLLCALL=worker,guard=off
    says 'no rendezvous server beside srun' env -u SLURM_ROLLCALL_SERVER
    says 'no rendezvous server beside srun' SLURM_ROLLCALL_SERVER=nonsense
    says 'older than 2.16' FAKE_VERSION=21505
    # NCCL_COMM_ID's magic number, 0x0280028002800280
    { printf '\200\002\200\002\200\002\200\002'; head -c 120 /dev/urandom; } > "$BATS_TEST_TMPDIR/one"
    says 'with NCCL_COMM_ID all communicators have one id'
}

@test "trouble with the server stops nobody: gone, foreign, silent, of another token" {
    start_server
    passes()
    {
        id "$1"
        shift
        extra=("$@")
        together 0 1 1 -- 3 init "$name"
        [ "${results[*]}" = '0 0 0' ]
        [ -z "$lines" ]
    }
    port=$(cat "$BATS_TEST_TMPDIR/port")
    name=token passes token SLURM_ROLLCALL_SERVER="${token//0/f} $port 42.7"
    # nobody listens there any more
    exec 7>&-
    wait $server_pid || true
    server_pid=
    name=gone passes gone
    # somebody who takes everything and says nothing, and one who talks nonsense
    for name in silent nonsense; do
        rm -f "$BATS_TEST_TMPDIR/port"
        python3 -c '
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
held = []
while True:
    caller = listener.accept()[0]
    held.append(caller)
    if sys.argv[1] == "nonsense":
        caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 10)' $name > "$BATS_TEST_TMPDIR/port" 3>&- &
        server_pid=$!
        until [ -s "$BATS_TEST_TMPDIR/port" ]; do
            sleep 0.05
        done
        passes $name SLURM_ROLLCALL_SERVER="$token $(cat "$BATS_TEST_TMPDIR/port") 42.7"
        kill $server_pid
        wait $server_pid 2> /dev/null || true
        server_pid=
    done
}

@test "the server dies while all wait: they go on" {
    start_server
    id one
    pids=()
    for rank in 0 1; do
        guarded "rank=$rank size=3 node=0 nodes=1" ROLLCALL_DEBUG=1 "$bin/join" "$framework" init 3 $rank \
            "$BATS_TEST_TMPDIR/one" > "$BATS_TEST_TMPDIR/out.$rank" 2> "$BATS_TEST_TMPDIR/err.$rank" 3>&- 7>&- &
        pids+=($!)
    done
    # both are there once they hold a connection
    until [ "$(ss -Htn state established "( sport = :$(cat "$BATS_TEST_TMPDIR/port") )" | wc -l)" = 2 ]; do
        sleep 0.05
    done
    exec 7>&-
    wait $server_pid || true
    server_pid=
    wait "${pids[0]}"
    wait "${pids[1]}"
    [ "$(cat "$BATS_TEST_TMPDIR"/err.* | grep -c 'note RC808: .* the rendezvous server: ')" = 2 ]
}

@test "processes that a task forks: a worker that joins nothing, and the one that joins" {
    start_server
    pids=()
    for rank in 0 1; do
        guarded "rank=$rank size=2 node=0 nodes=1" "$bin/join" "$framework" fork init 2 $rank "$BATS_TEST_TMPDIR/one" fork \
            config 2 $rank "$BATS_TEST_TMPDIR/two" > "$BATS_TEST_TMPDIR/out.$rank" 2>&1 3>&- 7>&- &
        pids+=($!)
    done
    wait "${pids[0]}"
    wait "${pids[1]}"
    [ "$(cat "$BATS_TEST_TMPDIR"/out.* | grep -c '^join: 0 ')" = 4 ]
}

@test "it is nothing to programs that know no NCCL, of either libc" {
    start_server
    musl-gcc -o "$bin/hello-musl" -x c - <<'C'
#include <stdio.h>
int main(void) { return puts("hello") < 0; }
C
    is_dynamic "$bin/hello-musl"
    for program in "$bin/hello-musl" 'sh -c exec&&echo&&hello' 'bash -c echo&&hello' 'python3 -c print("hello")' \
        'dash -c echo&&hello' 'perl -e print"hello\n"'; do
        read -r -a words <<< "$program"
        words=("${words[@]//&&/ }")
        words=("${words[@]//exec /exec }")
        for level in 0 1; do
            run -0 --separate-stderr guarded 'rank=0 size=2 node=0 nodes=1' ROLLCALL_DEBUG=$level "${words[@]}"
            [ -z "$stderr" ]
        done
    done
}

@test "NCCL as a part of the program: a note, where CUDA is there" {
    start_server
    id one
    framework=$bin/static.so
    extra=(FAKE_GPU=1 ROLLCALL_DEBUG=1)
    together 0 0 -- 2 init one
    [ "${results[*]}" = '0 0' ]
    [ "$(grep -c 'note RC808: .* NCCL was not called, or is linked into the program statically' <<< "$lines")" = 2 ]
    # one that lets itself be interposed is guarded as others are
    framework=$bin/whole.so
    extra=()
    id two
    together 0 0 -- 2 init two
    [ "${results[*]}" = '5 5' ]
    one_line RC801 "$process, .* both join"
}

@test "the real NCCL: its ids, its errors, and a rank that is there twice" {
    [ -e "${ROLLCALL_NCCL:-}/libnccl.so.2" ] || skip 'no NCCL'
    start_server
    extra=(LD_LIBRARY_PATH="$ROLLCALL_NCCL" NCCL_SOCKET_IFNAME=lo)
    # an id that rank 0 has made; without a GPU NCCL refuses, and says so itself
    run env LD_LIBRARY_PATH="$ROLLCALL_NCCL" NCCL_SOCKET_IFNAME=lo "$bin/join" "$framework" init 1 0 own
    [[ $output == 'join: '* ]]
    bare=$status
    together 0 1 -- 2 init good
    [ "${results[*]}" = "$bare $bare" ]
    [ "$(wc -c < "$BATS_TEST_TMPDIR/good")" = 128 ]
    together 0 1 1 -- 3 config bad
    [ "${results[*]}" = '5 5 5' ]
    one_line RC801 "$process, .* both join an NCCL communicator as rank 1 of 3"
    # exactly what is exported by the guard is there behind it
    for name in $(nm -D --defined-only "$guard" | awk '{ print $3 }'); do
        nm -D --defined-only "$ROLLCALL_NCCL/libnccl.so.2" | grep -qE " [TW] $name$"
    done
}

@test "the real NCCL without the guard: a rank that is there twice, and two who wait in vain" {
    [ -e "${ROLLCALL_NCCL:-}/libnccl.so.2" ] || skip 'no NCCL'
    bootstrap()
    {
        run -0 env NCCL_SOCKET_IFNAME=lo python3 "$here/programs/bootstrap.py" "$ROLLCALL_NCCL/libnccl.so.2" "$@"
    }
    bootstrap 60 4 0 1 2 3
    [ "$output" = $'0 answered\n1 answered\n2 answered\n3 answered' ]
    bootstrap 2 4 0 1 2 2
    [ "$(grep -c '^2 waits' <<< "$output")" = 2 ]
}
