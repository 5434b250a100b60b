#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# pmix.bats - srun --mpi=pmix: Slurm ends a step whose PMIx client disconnects without PMIx_Finalize, and rollcall-pmix
# never does. And steps whose nodes Slurm's PMIx server does not connect.

load helpers
load faults

cluster=(--nodes 3 --cpus 4 --mpi pmix)

setup()
{
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    export PYTHONPATH=$ROLLCALL_PREFIX/share/rollcall/python marks=$shared/$BATS_TEST_NUMBER
    mkdir -p "$marks"
}

# others COUNT COMMAND: rank 0 does not start COMMAND, but waits until so many others have run it
others()
{
    attempt 60 srun --mpi=pmix -N2 --ntasks-per-node=2 sh -c 'if [ "$SLURM_PROCID" = 0 ]; then
        until [ "$(ls "$marks" | grep -c ^done)" = "$1" ]; do sleep 0.1; done
    else
        '"$2"'
        echo "done $SLURM_PROCID"
        : > "$marks/done.$SLURM_PROCID"
    fi' sh "$1"
}

# all_done COUNT: so many have, and nothing of rollcall's is left
all_done()
{
    [ "$(grep -c '^done ' "$out")" = "$1" ] || explain "not $1 tasks have ended" || return 1
    unsaid 'aborted' || return 1
    nothing_remains
}

# bats test_tags=series
@test "rollcall exec: rank 0 never comes -> the others run at the deadline, and the step ends with status 0" {
    others 3 'rollcall exec --ddp=deadline=2 -- sh -c "echo port \$RANK \$MASTER_PORT"'
    succeeded
    [ "$(grep '^port ' "$out" | cut -d' ' -f3 | sort -u | wc -l)" = 1 ] || explain "not one port"
    said 'RC611: .*: the server of rank 0.s node is not there by the deadline; '
    all_done 3
}

# bats test_tags=series
@test "rollcall exec: the other node has ended its part -> rank 0 starts, and nothing remains when the step ends" {
    local mark=$marks/ended
    attempt 60 srun --mpi=pmix -N2 -n2 sh -c 'if [ "$SLURM_PROCID" = 0 ]; then
        until [ -e "$1" ]; do sleep 0.1; done
    fi
    rollcall exec --ddp=deadline=2 -- sh -c "echo done $SLURM_PROCID; : > $1"' sh "$mark"
    succeeded
    # Slurm's PMIx server answers PMIx_Commit after 31 s
    local started=$SECONDS
    all_done 2
    [ $((SECONDS - started)) -le 15 ] || explain "rollcall-pmix is there $((SECONDS - started)) s after its step"
}

# in the background of a call that waits for rank 0: a thread that calls act() when rollcall-pmix is connected
call='
import os, rollcall, signal, sys, threading, time
def helper():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, rest = open("/proc/%s/stat" % pid).read().split("(")[1].split(")")
        except OSError:
            continue
        if name == "rollcall-pmix" and rest.split()[1] == str(os.getpid()) and rest.split()[0] != "Z":
            sockets = 0
            for fd in os.listdir("/proc/%s/fd" % pid):
                sockets += os.readlink("/proc/%s/fd/%s" % (pid, fd)).startswith("socket:")
            if sockets:
                return int(pid)
def stepd():
    pid = os.getppid()
    while open("/proc/%d/comm" % pid).read().strip() != "slurmstepd":
        pid = int(open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[1])
    return pid
def run(act):
    while True:
        try:
            pid = helper()
        except OSError:
            pid = None
        if pid:
            return act(pid)
        time.sleep(0.05)
def wait(seconds, act=lambda pid: None):
    thread = threading.Thread(target=run, args=(act,))
    thread.start()
    try:
        rollcall.broadcast("x", timeout=seconds)
    except rollcall.Error as error:
        os.write(1, b"%s\n" % str(error).encode())
    thread.join()
'

# bats test_tags=series
@test "the library: rank 0 never calls -> Timeout, and the step goes on" {
    export call
    others 3 'python -c "$call
wait(2)"'
    succeeded
    [ "$(grep -c '^RC617: rank [1-3]: rollcall_broadcast("x"): rank 0 has ended, or did not make this call' "$out")" = 3 ] || explain "not three"
    all_done 3
}

# bats test_tags=series
@test "rollcall show: rank 0's node never comes -> each node prints its tasks, and the step goes on" {
    others 3 'rollcall show'
    succeeded
    said '^[12] of 4 tasks answered; '
    all_done 3
}

# bats test_tags=series
@test "rollcall-pmix gets SIGTERM, SIGINT, SIGHUP or SIGUSR1 -> it disconnects, or goes on" {
    export call
    others 3 'python -c "$call
wait(4, lambda pid: [os.kill(pid, s) for s in (signal.SIGUSR1, signal.SIGALRM, (0, signal.SIGTERM, signal.SIGINT,
    signal.SIGHUP)[int(os.environ[\"SLURM_PROCID\"])])])"'
    succeeded
    all_done 3
}

# bats test_tags=series
@test "the caller of rollcall-pmix is killed -> its node's other task lives" {
    export call
    others 2 'python -c "$call
def end(pid):
    if os.environ[\"SLURM_PROCID\"] == \"3\":
        os.kill(os.getpid(), signal.SIGKILL)
wait(5, end)" || [ "$SLURM_PROCID" != 3 ] || exit 0'
    succeeded
    all_done 2
}

# bats test_tags=series
@test "timeout -s KILL kills the caller of rollcall-pmix and its process group -> the step goes on" {
    others 3 'timeout -s KILL 1 rollcall exec -- true || echo "killed $?"'
    succeeded
    [ "$(grep -c '^killed 137' "$out")" = 3 ] || explain "not three callers are killed"
    all_done 3
}

# bats test_tags=series
@test "the PMIx server hangs, before or while it is asked -> the call ends, and the step goes on when it answers again" {
    export call
    for when in '(os.kill(stepd(), signal.SIGSTOP), wait(1))' 'wait(2, lambda pid: os.kill(stepd(), signal.SIGSTOP))'; do
        rm -f "$marks"/*
        export when
        others 3 '[ "$SLURM_PROCID" != 3 ] || python -c "$call
$when
os.kill(stepd(), signal.SIGCONT)
time.sleep(1)"'
        succeeded
        [ "$(grep -c '^RC6[0-9]*: rank 3: ' "$out")" = 1 ] || explain "the call has not failed"
        all_done 3
    done
}

# in_job SRUN-ARGUMENT... COMMAND: a step of two nodes of three
in_job()
{
    attempt 60 salloc -Q -N3 srun --mpi=pmix -N2 -n2 "$@"
}

# bats test_tags=series
@test "a step that does not begin at the job's first node: nobody waits for PMIx" {
    for where in -r1 '-w n2,n3'; do
        # shellcheck disable=SC2086 # two words
        in_job $where rollcall exec --ddp=deadline=100 -- sh -c 'echo "port $RANK $MASTER_PORT"'
        one_port 2
        [ -z "$(spoken)" ] || explain "$where: a line"
        in_job $where rollcall show
        succeeded
        [ "$(grep -c 'use srun --ddp, or begin the step at the job.s first node' "$out")" = 2 ] || explain "no cure"
        in_job $where python -c 'import rollcall; rollcall.allgather("x", b"")'
        [ "$status" -eq 1 ] || explain "status"
        said 'RC616: rank [01]: .*: Slurm.s PMIx server does not connect the nodes of a step that does not begin at the job.s first node; start them with srun --ddp, or '
        in_job $where --ddp=exchange=pmix,deadline=100 sh -c 'echo "port $RANK $MASTER_PORT"'
        one_port 2
        said 'RC611: .*: Slurm.s PMIx server does not connect '
        in_job $where --ddp sh -c 'echo "port $RANK $MASTER_PORT"'
        one_port 2
        [ -z "$(spoken)" ] || explain "$where: a line with --ddp"
    done
}

# bats test_tags=series
@test "a step that begins at the job's first node, and leaves one out: the nodes meet over PMIx" {
    for where in '-w n1,n3' '-w n1,n2'; do
        # shellcheck disable=SC2086
        in_job $where rollcall exec -v -- sh -c 'echo "port $RANK $MASTER_PORT"'
        one_port 2
        said 'port [0-9]+ \(held by rank 0'
        in_job $where python -c 'import rollcall; print(rollcall.allgather("x", b"y", timeout=60))'
        [ "$(grep -c "^\[b'y', b'y'\]" "$out")" = 2 ] || explain "not gathered"
    done
}
