#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall exec's part in the exchange: the tasks of a node, and what becomes of the node's session. The tasks
# are a Slurm step's, with the variables of a PMIx server that nobody asks.

load helper

setup()
{
    # a tree of its own, with another program that speaks for the node
    tree=$BATS_TEST_TMPDIR/tree
    speaker=$tree/libexec/rollcall/rollcall-exchange
    mkdir -p "$tree/bin" "$tree/libexec/rollcall" "$tree/server"
    cp "$rollcall" "$tree/bin"
    # no two tests, nor two runs of one, are one launch
    job=$((RANDOM * 32768 + RANDOM + 1))
    options=()
    more=()
}

# speaks SCRIPT: what speaks is that script; its request is in $tree/request.* (by process)
speaks()
{
    printf '#!/bin/sh\ncat > %s/request.$$\n%s\n' "$tree" "$1" > "$speaker"
    chmod 755 "$speaker"
}

requests()
{
    find "$tree" -name 'request.*' | wc -l
}

# The port of the entry, which is the one that this node holds.
answer_held='echo answer=1; grep ^port= "${0%/libexec/*}/request.$$"'

# set_task RANK TASKS NODES: $task is that one of so many on each of so many nodes
set_task()
{
    local rank=$1 tasks=$2 nodes=$3 node gtids
    node=$((rank / tasks))
    gtids=$(seq -s, $((node * tasks)) $((node * tasks + tasks - 1)))
    task=(SLURM_JOB_ID="$job" SLURM_STEP_ID=7 SLURM_STEP_NUM_TASKS=$((tasks * nodes)) SLURM_STEP_NUM_NODES="$nodes"
        "SLURM_STEP_TASKS_PER_NODE=$tasks(x$nodes)" "SLURM_STEP_NODELIST=192.0.2.[1-$nodes]" SLURM_DISTRIBUTION=block
        SLURM_PROCID="$rank" SLURM_LOCALID=$((rank % tasks)) SLURM_NODEID="$node" "SLURM_GTIDS=$gtids"
        PMIX_NAMESPACE="slurm.pmix.$job.7" PMIX_RANK="$rank" PMIX_SERVER_URI4="pmix-server.1;tcp4://127.0.0.1:1"
        PMIX_SERVER_TMPDIR="$tree/server" PMIX_VERSION="${version:-5.0.7}")
    [ "$nodes" != 1 ] || task[5]=SLURM_STEP_NODELIST=192.0.2.1
}

# start RANK TASKS NODES CMD...: that task in the background, with $options; what it prints is in $tree/out.RANK
start()
{
    local rank=$1 task
    set_task "$1" "$2" "$3"
    shift 3
    # no function: its process id is the task's own
    env -i PATH="$PATH" HOME="$BATS_TEST_TMPDIR" LANG=C.UTF-8 "${task[@]}" "${more[@]}" "$tree/bin/rollcall" exec "${options[@]}" \
        -- "$@" > "$tree/out.$rank" 2> "$tree/err.$rank" 3>&- &
    pids+=($!)
}

# finish: all of them, each with status 0
finish()
{
    local pid bad=0
    for pid in "${pids[@]}"; do
        wait "$pid" || bad=1
    done
    pids=()
    [ "$bad" = 0 ] || explain "a task failed"
}

explain()
{
    echo "$*" >&2
    tail -n +1 "$tree"/out.* "$tree"/err.* >&2
    return 1
}

say_port='echo "$MASTER_PORT"'

# both: the two tasks of the first of two nodes say their port
both()
{
    start 0 2 2 sh -c "$say_port"
    start 1 2 2 sh -c "$say_port"
}

# held COUNT, computed COUNT: so many tasks have a port, one and the same, which is not or is the computed one
held()
{
    same "$1"
    [ "$(cat "$tree"/out.* | head -n 1)" != "$(compute)" ] || explain "it is the computed one"
}

computed()
{
    same "$1"
    [ "$(cat "$tree"/out.* | head -n 1)" = "$(compute)" ] || explain "it is not the computed one"
}

same()
{
    [ "$(cat "$tree"/out.* | wc -l)" = "$1" ] || explain "not $1 tasks" || return 1
    [ "$(sort -u "$tree"/out.* | wc -l)" = 1 ] || explain "several ports" || return 1
}

compute()
{
    local task
    set_task 1 2 2
    with "${task[@]}" ROLLCALL=exchange=off "$rollcall" exec -- sh -c "$say_port"
}

# stopped: they ended with status 1, and ran nothing
stopped()
{
    local pid status
    for pid in "${pids[@]}"; do
        status=0
        wait "$pid" || status=$?
        [ "$status" = 1 ] || explain "status $status" || return 1
    done
    pids=()
    [ -z "$(cat "$tree"/out.*)" ] || explain "a command was run"
}

# said COUNT TEXT: on so many lines
said()
{
    [ "$(cat "$tree"/err.* | grep -cF -- "$2")" = "$1" ] || explain "not $1 lines with '$2'"
}

@test "the tasks of one node agree on a port that rank 0 holds, in any order, and no program speaks" {
    speaks 'exit 9'
    for order in '0 1 2 3' '3 2 1 0'; do
        for rank in $order; do
            start "$rank" 4 1 sh -c "$say_port"
        done
        finish
        held 4
        said 0 RC611
    done
    [ "$(requests)" = 0 ]
}

@test "a stranger does not get the port while rank 0's command runs, and rank 0 does" {
    start 1 2 1 sh -c "$say_port"
    start 0 2 1 python3 -c '
import os, socket
port = int(os.environ["MASTER_PORT"])
try:
    socket.socket().bind(("", port))
except OSError:
    pass
else:
    raise SystemExit("not held")
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("", port))
listener.listen()
print(port)'
    finish
    held 2
}

@test "two launches at once have two ports" {
    # each waits for the other, so that both hold theirs
    for here in a b; do
        [ "$here" = a ] && there=b || there=a
        start 0 2 1 sh -c ": > '$tree/$here'; while [ ! -e '$tree/$there' ]; do sleep 0.1; done
            echo \$MASTER_PORT > '$tree/port.$here'"
        start 1 2 1 sh -c "$say_port"
        job=$((job + 1))
    done
    finish
    [ "$(sort -u "$tree"/port.* | wc -l)" = 2 ]
}

@test "port= is a range to choose from" {
    port=$(free_port)
    options=("--ddp=port=$port")
    start 0 2 1 sh -c "$say_port"
    start 1 2 1 sh -c "$say_port"
    finish
    held 2
    [ "$(cat "$tree/out.0")" = "$port" ]
}

# They start one after the other, on a machine that may be busy: half of the deadline is for that.
@test "a task that does not come: the others compute the port, and so does it later" {
    options=(--ddp=deadline=6)
    for rank in 0 1 2; do
        start $rank 4 1 sh -c "$say_port"
    done
    finish
    said 1 'RC611: the tasks could not agree on a free port: only 3 of the 4 tasks were there within 3000 ms;'
    start 3 4 1 sh -c "$say_port"
    finish
    computed 4
    said 2 RC611
}

@test "the first task does not come: the others compute the port" {
    options=(--ddp=deadline=1)
    start 1 2 1 sh -c "$say_port"
    finish
    computed 1
    said 1 "RC611: the tasks could not agree on a free port: the node's first task (local rank 0) is not there: "
}

@test "a task that is killed while it waits is missed" {
    options=(--ddp=deadline=10)
    start 1 3 1 sh -c "$say_port"
    start 2 3 1 sh -c "$say_port"
    until [ "$(cat "/proc/${pids[1]}/comm")" = rollcall ]; do sleep 0.02; done
    kill -KILL "${pids[1]}"
    wait "${pids[1]}" || true
    unset 'pids[1]'
    rm -f "$tree"/*.2
    start 0 3 1 sh -c "$say_port"
    finish
    computed 2
    said 1 'only 2 of the 3 tasks were there'
}

@test "one who says nonsense, one who says nothing and one with rank 0, which is taken, are no tasks" {
    python3 - "rollcall/$(id -u)/slurm:$job.7/0" "$tree/strangers" 3>&- <<'PYTHON' &
import socket, sys, time
others = []
for text in (b"rank=1x", b"rank=", b"x" * 1000, b"", b"rank=0"):
    while True:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            s.connect("\0" + sys.argv[1])
            if text:
                s.send(text)
        except (ConnectionRefusedError, BrokenPipeError):
            time.sleep(0.01)
            continue
        others.append(s)
        break
open(sys.argv[2], "w").close()
time.sleep(60)
PYTHON
    stranger=$!
    options=(--ddp=deadline=60)
    start 0 3 1 sh -c "$say_port"
    start 2 3 1 sh -c "$say_port"
    until [ -e "$tree/strangers" ]; do sleep 0.05; done
    start 1 3 1 sh -c "$say_port"
    finish
    kill "$stranger"
    held 3
}

@test "another user's socket is not believed" {
    [ "$(id -u)" = 0 ] || skip "not root"
    setpriv --reuid 65534 --clear-groups /usr/bin/python3 - "rollcall/0/slurm:$job.7/0" > "$tree/ready" 3>&- <<'PYTHON' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\0" + sys.argv[1])
s.listen()
print("ready", flush=True)
time.sleep(60)
PYTHON
    squatter=$!
    until [ -s "$tree/ready" ]; do sleep 0.05; done
    start 0 2 1 sh -c "$say_port"
    start 1 2 1 sh -c "$say_port"
    finish
    kill "$squatter"
    computed 2
    said 1 'RC611: the tasks could not agree on a free port: no socket for the tasks of this node: Address already in use'
    said 1 'local rank 0) is not there: Operation not permitted'
}

# flood NAME: eight processes of another user connect to that socket as fast as they can; returns when all of them do,
# which needs the socket. flood_ended: it was closed while they still did; they give it a minute.
flood()
{
    floods=()
    for i in {1..8}; do
        setpriv --reuid 65534 --clear-groups /usr/bin/python3 - "$1" > "$tree/flood.$i" 3>&- <<'PYTHON' &
import socket, sys, time
end = time.monotonic() + 60
begun = False
while time.monotonic() < end:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.setblocking(False)
        try:
            s.connect("\0" + sys.argv[1])
        except BlockingIOError:  # its queue is full
            pass
        except ConnectionRefusedError:
            if begun:
                sys.exit(0)
            continue
        if not begun:
            print("begun", flush=True)
        begun = True
sys.exit("the socket is there after a minute")
PYTHON
        floods+=($!)
    done
    until [ "$(cat "$tree"/flood.? | grep -c begun)" = 8 ]; do sleep 0.05; done
}

flood_ended()
{
    local pid
    for pid in "${floods[@]}"; do
        wait "$pid" || return 1
    done
}

@test "another user's connections, as many as he can make, do not keep the tasks of a node from meeting" {
    [ "$(id -u)" = 0 ] || skip "not root"
    options=(--ddp=deadline=120)
    start 0 3 1 sh -c "$say_port"
    start 1 3 1 sh -c "$say_port"
    flood "rollcall/0/slurm:$job.7/0"
    start 2 3 1 sh -c "$say_port"
    flood_ended
    finish
    held 3
    said 0 RC611
}

@test "where there is nobody to ask or nothing to ask for, nobody waits" {
    options=(--ddp=deadline=600)
    speaks 'exit 9'
    set_task 1 2 1
    for change in -uPMIX_NAMESPACE -uPMIX_SERVER_URI4 "PMIX_NAMESPACE=slurm.pmix.$job.8" PMIX_RANK=0 SLURM_HET_SIZE=2 \
        MASTER_PORT=24000 ROLLCALL=exchange=off ROLLCALL=exchange=srun; do
        run -0 with "${task[@]}" MASTER_ADDR=192.0.2.1 env "$change" "$rollcall" exec "${options[@]}" -- echo ran
        [[ $output == *ran ]]
    done
    # rollcall's own stamp, with and without an option that sets it aside
    run -0 with "${task[@]}" ROLLCALL=exchange=off "$rollcall" exec -- \
        env ROLLCALL=deadline=600 "$rollcall" exec -- echo ran
    matches 0 '*ran' with "${task[@]}" ROLLCALL=exchange=off "$rollcall" exec -- \
        env -u ROLLCALL "$rollcall" exec "${options[@]}" -- echo ran
    # one task; several nodes in another order of ranks
    set_task 0 1 1
    run -0 with "${task[@]}" "$rollcall" exec "${options[@]}" -- echo ran
    set_task 1 2 2
    run -0 with "${task[@]}" "$rollcall" exec --ddp=deadline=600,order=node -- echo ran
    # torchrun's worker
    run -0 with "${task[@]}" TORCHELASTIC_RUN_ID=1 RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 "$rollcall" exec "${options[@]}" \
        -- echo ran
    [ "$(requests)" = 0 ]
}

@test "a way that was asked for and is not there is said" {
    set_task 0 2 2
    exec=("$tree/bin/rollcall" exec)
    run -0 --separate-stderr with "${task[@]}" env -uPMIX_NAMESPACE "${exec[@]}" --ddp=exchange=pmix -- true
    [[ $stderr == *'RC611: '*'there is no PMIx server;'* ]]
    run -0 --separate-stderr with "${task[@]}" "${exec[@]}" --ddp=exchange=srun -- true
    [[ $stderr == *'RC611: '*'only srun --ddp has a rendezvous server;'* ]]
}

@test "several nodes: the first task hands in what its neighbours are, and all get the answer" {
    speaks "$answer_held"
    for rank in 0 1 2; do
        start $rank 3 2 sh -c "$say_port"
    done
    finish
    held 3
    [ "$(requests)" = 1 ]
    grep -qx transport=pmix "$tree"/request.*
    grep -qx root=1 "$tree"/request.*
    grep -qx seconds=10 "$tree"/request.*
    grep -qx check=warn "$tree"/request.*
    grep -qx tasks=0-2 "$tree"/request.*
    grep -qx "port=$(cat "$tree/out.1")" "$tree"/request.*
}

@test "the other node has no port of its own, takes the one it is told, and needs no torch for it" {
    speaks "printf 'answer=1\nport=24512\n'"
    options=('--ddp=check=strict,deadline=7')
    for rank in 3 4 5; do
        start $rank 3 2 sh -c "$say_port"
    done
    finish
    held 3
    [ "$(cat "$tree/out.4")" = 24512 ]
    grep -qx root=0 "$tree"/request.*
    grep -qx seconds=7 "$tree"/request.*
    grep -qx check=strict "$tree"/request.*
    grep -qx tasks=3-5 "$tree"/request.*
    run ! grep -q ^port= "$tree"/request.*
}

@test "several nodes: a task that does not come is missing in the entry" {
    speaks "printf 'answer=1\nfinding=RC103 task 1 did not answer\n'"
    options=(--ddp=deadline=6)
    start 0 3 2 sh -c "$say_port"
    start 2 3 2 sh -c "$say_port"
    finish
    computed 2
    grep -qx tasks=0,2 "$tree"/request.*
    said 1 'RC103: task 1 did not answer'
    said 1 'RC611: the tasks could not agree on a free port: not all of them were there within 6 s'
}

@test "what the program says is a failure, garbage, or nothing" {
    # what speaks, and what is said of it; the loader ends what it cannot load with 127, and then nobody has heard of it
    while IFS='|' read -r script why; do
        [ "$script" = none ] || speaks "$script"
        rm -f "$tree"/server/*
        both
        finish
        computed 2
        said 1 "RC611: the tasks could not agree on a free port: $why"
        rm -f "$speaker"
    done << 'ROWS'
echo failed=PMIx: no server; exit 1|PMIx: no server;
none|rollcall-exchange cannot be run: 
exit 127|rollcall-exchange cannot be run: a library that it needs
kill -SEGV $$|rollcall-exchange was ended by signal 11;
ROWS
    for script in 'echo lost=gone' 'exit 0' 'echo nonsense' 'echo sent=1; kill -SEGV $$' 'echo sent=1; exec sleep 20' \
        'yes answer=1 | head -c 200000'; do
        speaks "$script"
        rm -f "$tree"/server/*
        both
        stopped
        said 1 ' received no answer from the other nodes, '
    done
}

@test "RC611 of more than eight nodes: the first eight print it" {
    speaks 'echo failed=PMIx: no server; exit 1'
    start 14 2 9 sh -c "$say_port"
    start 15 2 9 sh -c "$say_port"
    start 16 2 9 sh -c "$say_port"
    start 17 2 9 sh -c "$say_port"
    finish
    computed 4
    said 1 RC611
    grep -q 'RC611: .*: PMIx: no server (of 9 nodes the first 8 print this);' "$tree/err.14"
}

# Of 6 seconds PMIx takes 3.5, and who waits for the program ends it after 9: the server waits for 3 more.
@test "what a slow PMIx server takes is part of the deadline: RANK 0's node hears its own server's decision" {
    cp "$prefix/libexec/rollcall/rollcall-exchange" "$speaker"
    printf '#!/bin/sh\nexec sleep 3.5\n' > "${speaker%/*}/rollcall-pmix"
    chmod 755 "${speaker%/*}/rollcall-pmix"
    options=(--ddp=deadline=6)
    start 0 1 2 sh -c "$say_port"
    finish
    said 1 'RC601: nothing from '
    said 0 RC613
}

@test "a program whose task has gone before it began says nothing to the other nodes" {
    python3 - "$prefix/libexec/rollcall/rollcall-exchange" <<'PYTHON'
import os, socket, subprocess, sys, tempfile

server = socket.create_server(("127.0.0.1", 0))
server.settimeout(0)
request = ("transport=srun\nendpoint=%s %d 127.0.0.1\nroot=0\nseconds=60\ncheck=stop\n\nroll=1\nnode=1\ntasks=1\n"
           % ("a" * 32, server.getsockname()[1]))
reader, writer = os.pipe()
os.close(reader)
with tempfile.TemporaryFile() as words:  # no pipe: it may end before it has read them
    words.write(request.encode())
    words.seek(0)
    node = subprocess.Popen([sys.argv[1], "node"], stdin=words, stdout=writer)
assert node.wait(20) != 0
try:
    server.accept()
    sys.exit("it has spoken")
except BlockingIOError:
    pass
PYTHON
}

@test "what the user sets for the loader of his own programs does not reach rollcall's" {
    speaks "env > $tree/seen; $answer_held"
    more=(LD_BIND_NOW=1 MALLOC_PERTURB_=1 GLIBC_TUNABLES=glibc.malloc.check=0 "LD_LIBRARY_PATH=$tree/none")
    start 0 1 2 sh -c "$say_port"
    finish
    run -1 grep -E '^(LD_|MALLOC_|GLIBC_)' "$tree/seen"
    # rollcall-exchange gives it to rollcall-pmix alone
    grep -qx "ROLLCALL_LD_LIBRARY_PATH=$tree/none" "$tree/seen"
}

@test "a variable of any length costs a node neither its entry nor the others" {
    speaks "$answer_held"
    more=("NCCL_ALGO=$(printf '%9000s' '' | tr ' ' r)")
    both
    finish
    held 2
    grep -qE '^user=NCCL_ALGO=r{200}' "$tree"/request.*
}

@test "a roll call that stops the launch stops all tasks" {
    speaks "printf 'answer=1\nstop=1\nfinding=RC103 rank 1 is there twice\n'"
    both
    stopped
    said 1 'RC103: rank 1 is there twice'
    said 1 'RC612: '
}

@test "a finding of the roll call is said to its end" {
    speaks "printf 'answer=1\nfinding=RC103 %01400d end\n' 0"
    both
    finish
    said 1 '0 end (rollcall explain RC103)'
}

@test "a second command of the same tasks computes the port, without a word and without waiting" {
    speaks "$answer_held"
    both
    finish
    held 2
    both
    finish
    computed 2
    said 0 RC611
    [ "$(requests)" = 1 ]
}

@test "with PMIx 4 all tasks of several nodes use the store that serves a second client; of one node none does" {
    speaks "$answer_held"
    say_store='echo "${PMIX_MCA_gds-none}"'
    version=4.2.2
    for rank in 0 1; do
        start $rank 2 2 sh -c "$say_store"
    done
    finish
    [ "$(sort -u "$tree"/out.*)" = hash ]
    for rank in 0 1; do
        start $rank 2 1 sh -c "$say_store"
    done
    finish
    [ "$(sort -u "$tree"/out.*)" = none ]
}

@test "nothing is left behind: no process, no descriptor but the port's" {
    left=(python3 -c '
import os
print(sorted(os.readlink("/proc/self/fd/" + fd).split(":")[0] for fd in os.listdir("/proc/self/fd")
             if os.path.exists("/proc/self/fd/" + fd) or os.path.islink("/proc/self/fd/" + fd)).count("socket"),
      open("/proc/thread-self/children").read())')
    speaks "$answer_held"
    start 0 2 2 "${left[@]}"
    start 1 2 2 "${left[@]}"
    finish
    [ "$(cat "$tree/out.0")" = '1 ' ] || explain "rank 0"
    [ "$(cat "$tree/out.1")" = '0 ' ] || explain "rank 1"
}
