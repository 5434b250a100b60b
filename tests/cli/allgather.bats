#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What each rank of one node tells all others, in C and in Python.

load ranks

# all SIZE CMD...: all ranks do it; what each says is in rank.N, and rank 0's in output
all()
{
    local size=$1 rank
    shift
    for ((rank = 1; rank < size; rank++)); do
        begin "$rank" "$size" "$@"
    done
    run -0 by_hand 0 "$size" "$@"
    echo "$output" > "$BATS_TEST_TMPDIR/rank.0"
    for rank in "${started[@]}"; do
        wait "$rank" || { cat "$BATS_TEST_TMPDIR"/rank.*; return 1; }
    done
}

@test "C: the bytes of all ranks, in their order, in each; without leaks or wild reads" {
    all 3 "$BATS_FILE_TMPDIR/library" gather 4
    prints 'gather aaaabbbbcccc' sort -u "$BATS_TEST_TMPDIR"/rank.[012]
    port=$(free_port)
    check=(valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99)
    all 2 "${check[@]}" "$BATS_FILE_TMPDIR/library" gather 3
    prints 'gather aaabbb' sort -u "$BATS_TEST_TMPDIR"/rank.[01]
    # more than one piece of what rank 0 puts together; and none
    port=$(free_port)
    all 3 "$BATS_FILE_TMPDIR/library" gather 16384
    expected=$(for c in a b c; do head -c 16384 /dev/zero | tr '\0' "$c"; done)
    [ "$output" = "gather $expected" ]
    cmp "$BATS_TEST_TMPDIR/rank.0" "$BATS_TEST_TMPDIR/rank.2"
    port=$(free_port)
    all 2 "$BATS_FILE_TMPDIR/library" gather 0
    [ "$output" = 'gather ' ]
}

@test "Python: of any size, one after the other, beside a broadcast of the same name" {
    cat > "$BATS_TEST_TMPDIR/gather.py" <<'PYTHON'
import rollcall
me = rollcall.identity()
def data(rank, turn):
    return bytes([rank, turn]) * (0, 1, 30000)[(rank + turn) % 3]
for turn in range(3):
    got = rollcall.allgather("data", data(me.rank, turn), timeout=60)
    assert got == [data(rank, turn) for rank in range(me.world_size)], (turn, [len(one) for one in got])
    assert rollcall.broadcast("data", b"same" if me.rank == 0 else None, timeout=60) == b"same"
# the longest name, which each piece has as well
for turn in range(2):
    assert rollcall.allgather("n" * 64, data(1, turn), timeout=60) == [data(1, turn)] * me.world_size, turn
assert rollcall.allgather("here", b"", timeout=60) == [b""] * me.world_size
rollcall.barrier(timeout=60)
print("good")
PYTHON
    all 4 python3 "$BATS_TEST_TMPDIR/gather.py"
    prints good sort -u "$BATS_TEST_TMPDIR"/rank.[0123]
    # and alone
    prints "[b'x']" here env RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 "${does[@]}" 'rollcall.allgather("x", b"x")'
}

@test "a rank that does not come is named in all others, and in itself when it comes; the next call is in step" {
    cat > "$BATS_TEST_TMPDIR/late.py" <<'PYTHON'
import rollcall
me = rollcall.identity().rank
rollcall.allgather("begun", b"", timeout=90)
if me == 3:
    rollcall.broadcast("over", timeout=90)
try:
    rollcall.allgather("x", b"", timeout=5)
except rollcall.Timeout as error:
    print(error)
if me == 0:
    rollcall.broadcast("over", b"")
print(rollcall.allgather("x", b"%d" % me, timeout=90))
PYTHON
    all 4 python3 "$BATS_TEST_TMPDIR/late.py"
    for rank in 0 1 2 3; do
        run -0 cat "$BATS_TEST_TMPDIR/rank.$rank"
        [ "$output" = "RC617: rank $rank: rollcall_allgather(\"x\"): rank 3 did not make this call within 5 s; look at the output there, or give a larger timeout; all ranks make the same calls in the same order (rollcall explain RC617)
[b'0', b'1', b'2', b'3']" ]
    done
}

@test "ranks with different timeouts -> a late rank prints that of the rank which has waited" {
    cat > "$BATS_TEST_TMPDIR/late.py" <<'PYTHON'
import rollcall
me = rollcall.identity().rank
if me == 1:
    rollcall.broadcast("over", timeout=90)
try:
    rollcall.allgather("x", b"", timeout=(2, 60)[me])
except rollcall.Timeout as error:
    print(error)
if me == 0:
    rollcall.broadcast("over", b"")
rollcall.barrier(timeout=90)
PYTHON
    all 2 python3 "$BATS_TEST_TMPDIR/late.py"
    for rank in 0 1; do
        grep -q '("x"): rank 1 did not make this call within 2 s; ' "$BATS_TEST_TMPDIR/rank.$rank"
    done
}

@test "different sizes: one line, the same in all ranks" {
    begin 1 2 "$BATS_FILE_TMPDIR/library" gather 5
    run -0 by_hand 0 2 "$BATS_FILE_TMPDIR/library" gather 3
    ended
    why='rollcall_allgather("all"): rank 1 gives 5 bytes and rank 0 takes 3; give all ranks the same size (rollcall explain RC619)'
    [ "$output" = "1 RC619: rank 0: $why" ]
    [ "$(cat "$BATS_TEST_TMPDIR/rank.1")" = "1 RC619: rank 1: $why" ]
}

@test "the ranks of torchrun are not srun's tasks: who does not come is on no node that srun's server knows" {
    local worker=(RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 GROUP_RANK=0 GROUP_WORLD_SIZE=2)
    open_server real "$prefix/libexec/rollcall/rollcall-exchange" 60
    # tasks 0 and 1 are on n1 and n2, for srun
    python3 - "$(cat "$BATS_TEST_TMPDIR/server/port")" <<'PYTHON'
import socket, sys
nodes = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(2)]
for node, server in enumerate(nodes):
    entry = f"roll=1\nscope=slurm:42.7\nlauncher=slurm\nhost=n{node + 1}\nnode={node}\nnodes=2\nworld=2\ntasks={node}\n"
    entry = f"gather roll {node} 2 60000 60000 all\n{entry}"
    server.sendall(f"rollcall 1 {'0123456789abcdef' * 2} {len(entry)}\n{entry}".encode())
for server in nodes:
    assert b"answer=1" in server.makefile("rb").read()
PYTHON
    fails 4 'RC617: rank 0: rollcall_allgather("x"): rank 1 did not make this call within 5 s; ' \
        here env "${task_0[@]}" "${at_server[@]}" TORCHELASTIC_RUN_ID=42 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 \
        "${worker[@]}" "${does[@]}" 'rollcall.allgather("x", b"", timeout=5)'
    close_server
}

@test "rank 0 never calls: the others say so" {
    fails 4 'RC617: rank 1: rollcall_allgather("x"): rank 0 has ended, or did not make this call within 1 s; ' \
        by_hand 1 2 "${does[@]}" 'rollcall.allgather("x", b"", timeout=1)'
}

@test "barrier: nobody returns before all have called it; who never does is named" {
    cat > "$BATS_TEST_TMPDIR/barrier.py" <<'PYTHON'
import os, rollcall, sys, time
me, marks = rollcall.identity(), sys.argv[1] + "/mark.%d"
if me.rank == 1:
    time.sleep(0.5)
open(marks % me.rank, "w").close()
rollcall.barrier("b", timeout=60)
assert all(os.path.exists(marks % rank) for rank in range(3))
try:
    me.rank == 2 or rollcall.barrier("b", timeout=2)
except rollcall.Timeout as error:
    print(error)
PYTHON
    all 3 python3 "$BATS_TEST_TMPDIR/barrier.py" "$BATS_TEST_TMPDIR"
    for rank in 0 1; do
        grep -q "^RC617: rank $rank: rollcall_barrier(\"b\"): rank 2 did not make this call within 2 s; " \
            "$BATS_TEST_TMPDIR/rank.$rank"
    done
}
