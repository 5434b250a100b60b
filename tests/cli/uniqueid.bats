#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the ranks of one node tell each other: NCCL ids with the real libnccl, and broadcasts, in C and in Python.

load ranks

setup()
{
    ring=$top/tests/cluster/programs/unique_id.py
}

need_nccl_here()
{
    [ -e "${ROLLCALL_NCCL:-$top/build/nccl}/libnccl.so.2" ] || skip 'there is no NCCL'
    nccl=${ROLLCALL_NCCL:-$top/build/nccl}
}

# alike COUNT OUTPUT: so many ranks have said the same ids, and no id twice
alike()
{
    echo "$2"
    [ "$(sed -n 's/^unique \([0-9]*\) of .*/\1/p' <<< "$2" | sort -u | wc -l)" -eq "$1" ] || return 1
    ids=$(sed -n 's/^unique .*, //p' <<< "$2" | sort -u)
    [ "$(wc -l <<< "$ids")" -eq 1 ] || return 1
    [ -z "$(tr ' ' '\n' <<< "$ids" | sort | uniq -d)" ]
}

@test "NCCL's own root answers all ranks of mpirun" {
    need_nccl_here
    run -0 --separate-stderr here mpirun --oversubscribe -np 4 python3 "$ring" 2
    alike 4 "$output"
    [ "$(wc -w <<< "$ids")" -eq 4 ]
}

@test "torchrun's workers, and a rank alone" {
    need_nccl_here
    torch=${PYTHON:-python3}
    "$torch" -c 'import torch' || skip 'there is no torch'
    run -0 --separate-stderr here "$torch" -m torch.distributed.run --rdzv-backend c10d \
        --rdzv-endpoint 127.0.0.1:0 --local-addr 127.0.0.1 --nproc-per-node 3 "$ring" 1
    alike 3 "$output"
    run -0 here env RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 python3 "$ring" 1
    alike 1 "$output"
}

@test "each program of a task has ids of its own" {
    need_nccl_here
    run -0 --separate-stderr here mpirun --oversubscribe -np 3 sh -c 'python3 "$0" | sed "s/^/first /"; python3 "$0"' "$ring"
    first=$(sed -n 's/^first //p' <<< "$output")
    second=$(sed -n '/^unique/p' <<< "$output")
    alike 3 "$first"
    before=$ids
    alike 3 "$second"
    [ "$before" != "$ids" ]
}

@test "broadcasts in order, from each root, in C; the root is late" {
    for root in 0 1; do
        begin $((1 - root)) 2 "$BATS_FILE_TMPDIR/library" share $root
        run -0 by_hand $root 2 "$BATS_FILE_TMPDIR/library" share $root
        ended
        [ "$(grep share <<< "$output")" = "share 0 by $root
share 1 by $root
share 2 by $root" ]
        [ "$(grep share "$BATS_TEST_TMPDIR/rank.$((1 - root))")" = "$(grep share <<< "$output")" ]
        port=$(free_port)
    done
}

@test "without leaks or wild reads, on both sides" {
    need_nccl_here
    check=(valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99)
    two "${check[@]}" "$BATS_FILE_TMPDIR/library" share 0
    [ "$(grep -E '^(share|id) ' <<< "$output")" = "$(grep -E '^(share|id) ' "$BATS_TEST_TMPDIR/rank.1")" ]
    grep -q '^id [0-9a-f]' <<< "$output"
}

@test "Python: any size, any root, and who this is" {
    cat > "$BATS_TEST_TMPDIR/share.py" <<'PYTHON'
import hashlib, rollcall
me = rollcall.identity()
assert (me.world_size, me.local_rank, me.launcher, me.mode) == (2, me.rank, "env", "worker"), me
data = bytes(range(256)) * 200
for root in 0, 1:
    for size in 0, 1, 16384, 16385, len(data):
        got = rollcall.broadcast("data", data[:size] if me.rank == root else None, root=root, timeout=60)
        assert got == data[:size], (root, size, len(got))
print(hashlib.sha256(data).hexdigest())
for call in lambda: rollcall.broadcast("no name", b""), lambda: rollcall.broadcast("x", b"", root=2):
    try:
        call()
        raise SystemExit("no error")
    except rollcall.Error as error:
        assert error.code == 2
PYTHON
    two python3 "$BATS_TEST_TMPDIR/share.py"
    [ "$output" = "$(cat "$BATS_TEST_TMPDIR/rank.1")" ]
}

@test "rank 0 never calls: one line, within the time" {
    fails 4 'RC617: rank 1: rollcall_nccl_unique_id: rank 0 has ended, or did not make this call within 1 s; ' \
        by_hand 1 2 "${does[@]}" 'rollcall.nccl_unique_id(timeout=1)'
    # it has a server, and has gone on to something else
    begin 0 2 python3 -c 'import rollcall; rollcall.broadcast("here", b"")'
    fails 4 'RC617: rank 1: rollcall_broadcast("there"): rank 0 did not make this call within 1 s; ' \
        by_hand 1 2 "${does[@]}" 'rollcall.broadcast("here") and 0 or rollcall.broadcast("there", timeout=1)'
}

@test "a broadcast that timed out is not taken for the next one" {
    cat > "$BATS_TEST_TMPDIR/late.py" <<'PYTHON'
import rollcall
me = rollcall.identity().rank
rollcall.broadcast("here", b"")
for late in range(2):
    if me == 1:
        try:
            rollcall.broadcast("x", timeout=0.5)
            raise SystemExit("in time")
        except rollcall.Timeout:
            pass
    rollcall.broadcast("late", b"", root=1)
    if me == 0:
        rollcall.broadcast("x", b"8 bytes." * 5000)
print(rollcall.broadcast("x", b"the next" if me == 0 else None).decode())
PYTHON
    two python3 "$BATS_TEST_TMPDIR/late.py"
    [ "$output" = 'the next' ]
    [ "$(cat "$BATS_TEST_TMPDIR/rank.1")" = 'the next' ]
}

@test "a thread waits for another one's search no longer than its own time" {
    run -0 by_hand 1 2 timeout 30 python3 -c 'import os, rollcall, threading, time
other = threading.Thread(target=rollcall.broadcast, args=("long",), kwargs={"timeout": 60}, daemon=True)
other.start()
time.sleep(0.5)
try:
    rollcall.broadcast("short", timeout=1)
except rollcall.Error as error:
    print(error.code, error, flush=True)
os._exit(0)'
    [[ $output == '4 RC617: rank 1: rollcall_broadcast("short"): rank 0 has ended, or did not make this call within 1 s; '* ]]
}

@test "no NCCL: all ranks say so at once" {
    begin 1 2 "${does[@]}" 'rollcall.nccl_unique_id(timeout=60)'
    fails 6 'RC618: rank 0: rank 0 makes no NCCL id: libnccl cannot be loaded: libnccl.so.2: cannot open ' \
        by_hand 0 2 "${does[@]}" 'rollcall.nccl_unique_id()'
    ended
    grep -q '^6 RC618: rank 1: rank 0 makes no NCCL id: libnccl cannot be loaded: ' "$BATS_TEST_TMPDIR/rank.1"
}

@test "NCCL makes no id: its reason, in all ranks" {
    need_nccl_here
    begin 1 2 "${does[@]}" 'rollcall.nccl_unique_id(timeout=60)'
    fails 6 'RC618: rank 0: rank 0 makes no NCCL id: ncclGetUniqueId failed with ' \
        by_hand 0 2 env NCCL_SOCKET_IFNAME==nosuch0 "${does[@]}" 'rollcall.nccl_unique_id()'
    ended
    grep -q '^6 RC618: rank 1: rank 0 makes no NCCL id: ncclGetUniqueId failed with ' "$BATS_TEST_TMPDIR/rank.1"
}

@test "several nodes and nothing between them: one line" {
    fails 5 'RC616: rank 3: rollcall_broadcast("x"): no way to the other tasks: ' \
        here env "${task_3[@]}" "${does[@]}" 'rollcall.broadcast("x")'
    fails 5 'RC616: ' here env "${task_3[@]}" SLURM_ROLLCALL_SERVER="0123456789abcdef0123456789abcdef 9 41.7" \
        SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "${does[@]}" 'rollcall.broadcast("x")'
}

@test "several nodes, and a PMIx server that is gone: one line from each rank" {
    server=(PMIX_NAMESPACE=slurm.pmix.42.7 'PMIX_SERVER_URI2=pmix-server.1;tcp4://127.0.0.1:9')
    fails 5 'RC616: rank 3: rollcall_broadcast("x"): no way to the other tasks: ' \
        here env "${task_3[@]}" "${server[@]}" PMIX_RANK=3 "${does[@]}" 'rollcall.broadcast("x")'
    fails 5 'RC616: rank 0: rollcall_broadcast("x"): no way to the other tasks: PMIx: ' \
        here env "${task_0[@]}" "${server[@]}" PMIX_RANK=0 "${does[@]}" 'rollcall.broadcast("x", b"")'
}

@test "srun's server is gone: one line" {
    fails 5 'RC620: rank 3: rollcall_broadcast("x"): srun, beside which the server is, cannot be reached; ' \
        here env "${task_3[@]}" SLURM_ROLLCALL_SERVER="0123456789abcdef0123456789abcdef 9 42.7" \
        SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "${does[@]}" 'rollcall.broadcast("x")'
}

@test "srun's server answers too late: the rank's next call is in step with the others'" {
    open_server real "$prefix/libexec/rollcall/rollcall-exchange" 60
    # its port is known before it is started
    until exchange=$(pgrep -P "$server_pid"); do sleep 0.05; done
    here env "${task_3[@]}" "${at_server[@]}" python3 - "$exchange" > "$BATS_TEST_TMPDIR/rank.3" 2>&1 3>&- <<'PYTHON' &
import os, rollcall, signal, sys
os.kill(int(sys.argv[1]), signal.SIGSTOP)
try:
    rollcall.broadcast("x", timeout=0.5)
except rollcall.Error as error:
    print(error.code)
os.kill(int(sys.argv[1]), signal.SIGCONT)
print(rollcall.broadcast("x", timeout=60).decode())
PYTHON
    started+=($!)
    here env "${task_0[@]}" "${at_server[@]}" python3 -c 'import rollcall
rollcall.broadcast("x", b"the first")
rollcall.broadcast("x", b"the second")'
    ended
    [ "$(cat "$BATS_TEST_TMPDIR/rank.3")" = $'5\nthe second' ]
    close_server
}

@test "a launcher's process has no rank" {
    fails 2 'this process has no rank' \
        here env "${agent_0[@]}" ROLLCALL=launcher "${does[@]}" 'rollcall.broadcast("x", b"")'
}

@test "another root, another size: one line" {
    begin 0 2 "${does[@]}" '[rollcall.broadcast("x", b"1"), rollcall.broadcast("end", b"")]'
    fails 1 'RC619: rank 1: rollcall_broadcast("x"): another rank calls itself the root, too; give all ranks the same root' \
        by_hand 1 2 "${does[@]}" 'rollcall.broadcast("end") and 0 or rollcall.broadcast("x", b"1", root=1)'
    ended
    port=$(free_port)
    begin 0 2 python3 -c 'import rollcall; rollcall.broadcast("x", b"123")'
    fails 1 'RC619: rank 1: rollcall_broadcast("x"): rank 0 gives 24 bytes and rank 1 takes 3; give all ranks the same size' \
        by_hand 1 2 "${does[@]}" '[j.call("broadcast", b"x", b"abc", 3, 0, 60000) for j in [rollcall._library.Job().__enter__()]]'
}

# launch_server: the number of the process that is this launch's server
launch_server()
{
    grep -slzx "MASTER_PORT=$port" $(pgrep -f '^[^ ]*rollcall-exchange server ' | sed 's|.*|/proc/&/environ|') | cut -d/ -f3
}

@test "the server is nobody's child, has nothing of its task, and ends with the launch" {
    cat > "$BATS_TEST_TMPDIR/owner.py" <<'PYTHON'
import os, rollcall, sys, time
me = rollcall.identity()
if me.rank != 0:
    rollcall.broadcast("end", timeout=60)
    sys.exit()
inherited = os.open("/etc/passwd", os.O_RDONLY)
os.set_inheritable(inherited, True)
before = sorted(os.listdir("/proc/self/fd"))
rollcall.broadcast("x", b"")
assert sorted(os.listdir("/proc/self/fd")) == before, os.listdir("/proc/self/fd")
try:
    os.waitpid(-1, os.WNOHANG)
    sys.exit("there is a child")
except ChildProcessError:
    pass
def servers():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "exchange\0server" in open(f"/proc/{pid}/cmdline").read() and os.environ["WHOSE"] in open(f"/proc/{pid}/environ").read():
                yield pid
        except OSError:
            pass
(pid,) = servers()
def remains():
    """What it has of its task; a caller's descriptor may be gone when it is looked at."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            link = os.readlink(f"/proc/{pid}/fd/{number}")
        except FileNotFoundError:
            continue
        if "/passwd" in link or "pts" in link:
            yield link
    if os.readlink(f"/proc/{pid}/cwd") != "/":
        yield "the folder"
    if os.getsid(int(pid)) == os.getsid(0):
        yield "the session"
# it lets go of that once it is a process of its own, a moment after the call
for _ in range(200):
    if not list(remains()):
        break
    time.sleep(0.05)
else:
    sys.exit(f"the server has {list(remains())}")
print(pid, flush=True)
rollcall.broadcast("end", b"")
PYTHON
    run -0 --separate-stderr here env WHOSE="$BATS_TEST_TMPDIR" mpirun --oversubscribe -np 2 python3 "$BATS_TEST_TMPDIR/owner.py"
    # what the machine's first process has not taken yet is no process any more
    for _ in {1..150}; do
        [ -s "/proc/$output/cmdline" ] || break
        sleep 0.1
    done
    [ ! -s "/proc/$output/cmdline" ]
}

@test "the server is killed: the next call says so" {
    mkfifo "$BATS_TEST_TMPDIR/go"
    cat > "$BATS_TEST_TMPDIR/left.py" <<'PYTHON'
import sys, rollcall
rollcall.broadcast("x")
print("heard", flush=True)
sys.stdin.read()
try:
    rollcall.broadcast("x")
except rollcall.Error as error:
    print(error.code, error)
PYTHON
    begin 1 2 sh -c 'exec python3 "$0" < "$1"' "$BATS_TEST_TMPDIR/left.py" "$BATS_TEST_TMPDIR/go"
    exec 4> "$BATS_TEST_TMPDIR/go"
    run -0 by_hand 0 2 python3 -c 'import rollcall; rollcall.broadcast("x", b"")'
    until grep -q heard "$BATS_TEST_TMPDIR/rank.1"; do
        kill -0 "${started[-1]}"
        sleep 0.05
    done
    kill -KILL "$(launch_server)"
    exec 4>&-
    ended
    grep -q "^5 RC620: rank 1: rollcall_broadcast(\"x\"): the server that rank 0's first call started has ended; it ends 10 s after " \
        "$BATS_TEST_TMPDIR/rank.1"
}

# docker run --net=host: two containers on a node, each with one rank.
@test "rank 0 may be the first process of its container" {
    run -0 env MASTER_PORT="$port" "$prefix/libexec/rollcall/rollcall-exchange" server "local=first-$port owner=1 check=warn"
    kill -KILL "$(launch_server)"
    [[ $output == server=*" @first-$port" ]]
}

@test "a forked child counts anew; threads share one count" {
    cat > "$BATS_TEST_TMPDIR/threads.py" <<'PYTHON'
import os, rollcall, sys, threading
me = rollcall.identity()
got = []
def one():
    got.append(rollcall.broadcast("t", b"x" if me.rank == 0 else None, timeout=60))
threads = [threading.Thread(target=one) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert got == [b"x"] * 4, got
child = os.fork()
if child == 0:
    assert rollcall.broadcast("t", b"child" if me.rank == 0 else None, timeout=60) == b"child"
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert rollcall.broadcast("t", b"parent" if me.rank == 0 else None, timeout=60) == b"parent"
PYTHON
    two python3 "$BATS_TEST_TMPDIR/threads.py"
}

@test "the example without MPI: it builds, and reduces where there is a GPU" {
    cp "$top"/contrib/examples/* "$BATS_TEST_TMPDIR"
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig CFLAGS='-std=c99 -Wall -Wextra -Wpedantic -Werror' make -C "$BATS_TEST_TMPDIR"
    nccl=${ROLLCALL_NCCL:-$top/build/nccl}
    # as many ranks as there are GPUs, two at most
    ranks=$(python3 -c 'import glob; print(min(2, len(glob.glob("/dev/nvidia[0-9]*"))))')
    if [ "$ranks" -eq 0 ]; then
        run -77 here "$BATS_TEST_TMPDIR/nccl-allreduce"
        [ "$output" = 'no GPU, no CUDA runtime or no NCCL here' ]
        skip 'it builds; there is no GPU to run it on'
    fi
    run here mpirun --oversubscribe -np "$ranks" "$BATS_TEST_TMPDIR/nccl-allreduce"
    [ "$status" -ne 77 ] || skip 'it builds; there is no CUDA runtime to run it with'
    [ "$status" -eq 0 ]
    [ "$(grep -c ': good$' <<< "$output")" -eq "$ranks" ]
}
