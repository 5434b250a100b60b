#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall exec's part in the roll call: the tasks of a node, and its first task's call. The tasks are a Slurm step's,
# with the variables of a PMIx server that is not there.

load helper

setup()
{
    # a tree of its own, with other programs
    tree=$BATS_TEST_TMPDIR/tree
    programs=$tree/libexec/rollcall
    mkdir -p "$tree/bin" "$programs" "$tree/server"
    cp "$rollcall" "$tree/bin"
    # no two tests, nor two runs of one, are one launch
    job=$((RANDOM * 32768 + RANDOM + 1))
    options=()
    more=()
}

teardown()
{
    [ ! -e "$tree/servers" ] || xargs kill < "$tree/servers" || true
}

# answers LINE...: the server of RANK 0's node replies that, and a line "held" is the port of the entry (speaker.py)
answers()
{
    for program in exchange pmix; do
        plays rollcall-$program "exec python3 -B $BATS_TEST_DIRNAME/speaker.py $tree \"\$@\""
    done
    printf '%s\n' "$@" > "$tree/answer"
}

# plays PROGRAM SCRIPT: that program is a script
plays()
{
    printf '#!/bin/sh\n%s\n' "$2" > "$programs/$1"
    chmod 755 "$programs/$1"
}

requests()
{
    find "$tree" -name 'request.*' | wc -l
}

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

@test "the tasks of one node agree on a port that rank 0 holds, in any order, without a program" {
    plays rollcall-exchange "touch $tree/request.1"
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
    options=(--ddp=deadline=1)
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

@test "a task that is killed while its node's first task waits -> it counts as missing" {
    options=(--ddp=deadline=10)
    start 0 3 1 sh -c "$say_port"
    start 1 3 1 sh -c "$say_port"
    # its connection is there, and not only an attempt
    until [ "$(grep -c " 03 .*@rollcall/$(id -u)/slurm:$job.7/0" /proc/net/unix)" = 1 ]; do sleep 0.02; done
    kill -KILL "${pids[1]}"
    wait "${pids[1]}" || true
    unset 'pids[1]'
    rm -f "$tree"/*.1
    start 2 3 1 sh -c "$say_port"
    finish
    computed 2
    said 1 'only 2 of the 3 tasks were there'
}

@test "another user's socket is not believed" {
    [ "$(id -u)" = 0 ] || skip "not root"
    setpriv --reuid 65534 --clear-groups /usr/bin/python3 - "rollcall/0/slurm:$job.7/0" > "$tree/ready" 3>&- <<'PYTHON' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
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
    said 1 "local rank 0) is not there: another user's process has its name"
}

@test "another user's connections, as many as he can make -> none is a task, and the tasks of the node meet" {
    [ "$(id -u)" = 0 ] || skip "not root"
    options=(--ddp=deadline=120)
    start 0 3 1 sh -c "$say_port"
    start 1 3 1 sh -c "$say_port"
    floods=()
    for i in {1..8}; do
        setpriv --reuid 65534 --clear-groups /usr/bin/python3 - "rollcall/0/slurm:$job.7/0" > "$tree/flood.$i" 3>&- <<'PYTHON' &
import contextlib, socket, sys
begun = False
while True:
    with socket.socket(socket.AF_UNIX) as s, contextlib.suppress(BlockingIOError, BrokenPipeError):
        s.setblocking(False)
        try:
            s.connect("\0" + sys.argv[1])
        except ConnectionRefusedError:
            if begun:
                break
            continue
        if not begun:
            begun = print("begun", flush=True) is None
        s.send(b"rollcall 1 %s 24\ngather roll 2 3 9 9 all\n" % (b"0" * 32))
PYTHON
        floods+=($!)
    done
    until [ "$(cat "$tree"/flood.? | grep -c begun)" = 8 ]; do sleep 0.05; done
    start 2 3 1 sh -c "$say_port"
    finish
    wait "${floods[@]}"
    held 3
    said 0 RC611
}

@test "where there is nobody to ask or nothing to ask for, nobody waits" {
    options=(--ddp=deadline=600)
    plays rollcall-exchange "touch $tree/request.1"
    plays rollcall-pmix "touch $tree/request.1"
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

@test "several nodes: the first task calls for its neighbours, and all get the answer" {
    answers answer=1 held
    for rank in 0 1 2; do
        start $rank 3 2 sh -c "$say_port"
    done
    finish
    held 3
    [ "$(requests)" = 1 ]
    for setting in seconds=10 check=warn same=warn "owner=$$" pmix=1; do
        grep -qx "$setting" "$tree/settings"
    done
    grep -qx 'gather roll 0 2 10000 60000 all' "$tree"/request.*
    grep -qx tasks=0-2 "$tree"/request.*
    grep -qx "port=$(cat "$tree/out.1")" "$tree"/request.*
}

@test "the other node holds no port, takes that of the answer, and needs no torch for it" {
    answers answer=1 port=24512
    options=(--ddp=deadline=7)
    for rank in 3 4 5; do
        start $rank 3 2 sh -c "$say_port"
    done
    finish
    held 3
    [ "$(cat "$tree/out.4")" = 24512 ]
    [ ! -e "$tree/settings" ]
    grep -qx 'gather roll 1 2 7000 42000 all' "$tree"/request.*
    grep -qx tasks=3-5 "$tree"/request.*
    run ! grep -q ^port= "$tree"/request.*
}

@test "several nodes: a task that does not come is missing in the entry" {
    answers answer=1 'finding=RC103 task 1 did not answer'
    options=(--ddp=deadline=6)
    start 0 3 2 sh -c "$say_port"
    start 2 3 2 sh -c "$say_port"
    finish
    computed 2
    grep -qx tasks=0,2 "$tree"/request.*
    said 1 'RC103: task 1 did not answer'
    said 1 'RC611: the tasks could not agree on a free port: not all of them were there within 6 s'
}

@test "several nodes that contradict each other: no port, and the reason" {
    answers answer=1 'finding=RC603 2 tasks of 4 on n1, 2 tasks of 6 on n2'
    both
    finish
    computed 2
    said 1 'RC611: the tasks could not agree on a free port: the nodes contradict each other'
}

@test "no server, and the reason" {
    while IFS='|' read -r script why; do
        [ "$script" = none ] || plays rollcall-exchange "$script"
        rm -f "$tree"/server/*
        both
        finish
        computed 2
        said 1 "RC611: the tasks could not agree on a free port: $why"
        rm -f "$programs/rollcall-exchange"
    done << 'ROWS'
echo failed=PMIx: no server; exit 1|PMIx: no server;
none|rollcall-exchange cannot be run: 
exit 127|rollcall-exchange: a library that it needs
kill -SEGV $$|rollcall-exchange: was ended by a signal;
exit 0|rollcall-exchange: printed nothing;
echo server=x|Connection refused;
ROWS
}

@test "an answer that cannot be read, or none -> no task starts" {
    for answer in nonsense "$(yes answer=1 | head -c 200000)" none; do
        answers "$answer"
        [ "$answer" != none ] || rm "$tree/answer"
        rm -f "$tree"/server/*
        both
        stopped
        said 1 ' received no answer from the other nodes, '
    done
}

@test "SIGTERM, also if it was blocked -> a task that waits for the other nodes ends at once" {
    answers
    rm "$tree/answer"
    mkfifo "$tree/answer"
    plays rollcall-pmix "touch $tree/request.1; exec sleep 60"
    more=(env --block-signal=TERM)
    for rank in 1 0; do
        start $rank 1 2 true
        until [ "$(requests)" = $((2 - rank)) ]; do sleep 0.05; done
    done
    for pid in "${pids[@]}"; do
        kill "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" = 143 ]
    done
}

@test "RC611 of more than eight nodes: the first eight print it" {
    answers
    plays rollcall-pmix 'echo failed=PMIx: no server; exit 1'
    start 14 2 9 sh -c "$say_port"
    start 15 2 9 sh -c "$say_port"
    start 16 2 9 sh -c "$say_port"
    start 17 2 9 sh -c "$say_port"
    finish
    computed 4
    said 1 RC611
    grep -q 'RC611: .*: PMIx: no server (of 9 nodes the first 8 print this);' "$tree/err.14"
}

@test "PMIx carries where the server is; RANK 0's node prints its findings" {
    cp "$prefix/libexec/rollcall/rollcall-exchange" "$programs"
    plays rollcall-pmix 'at=${0%/libexec/*}/endpoint
case $1 in
    put) cat > "$at.new" && mv "$at.new" "$at" ;;
    get) until [ -e "$at" ]; do sleep 0.05; done; echo "endpoint=$(cat "$at")" ;;
esac'
    for rank in 2 3 1 0; do
        start $rank 2 2 sh -c "$say_port"
    done
    finish
    held 4
    # the nodes are one machine
    said 1 RC607
    said 0 RC61
    grep -qE '^[0-9a-f]{32} [0-9]+ [0-9a-f]' "$tree/endpoint"
    job=$((job + 1))
    options=(--ddp=deadline=1)
    started=$SECONDS
    start 0 1 2 sh -c "$say_port"
    finish
    [ $((SECONDS - started)) -lt 30 ]
    said 1 'RC601: nothing from '
    said 0 RC613
}

@test "what the user sets for the loader of his own programs does not reach rollcall's" {
    plays rollcall-exchange "env > $tree/seen"
    more=(LD_BIND_NOW=1 MALLOC_PERTURB_=1 GLIBC_TUNABLES=glibc.malloc.check=0 "LD_LIBRARY_PATH=$tree/none")
    start 0 1 2 sh -c "$say_port"
    finish
    run -1 grep -E '^(LD_|MALLOC_|GLIBC_)' "$tree/seen"
    # rollcall-exchange gives it only to rollcall-pmix
    grep -qx "ROLLCALL_LD_LIBRARY_PATH=$tree/none" "$tree/seen"
}

@test "a roll call that stops the launch stops all tasks, and its finding is printed to its end" {
    answers answer=1 stop=1 "$(printf 'finding=RC103 %01400d end' 0)"
    both
    stopped
    said 1 '0 end (rollcall explain RC103)'
    said 1 'RC612: '
}

@test "a second command of the same tasks computes the port, without a word and without waiting" {
    answers answer=1 held
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
    answers answer=1 held
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
    answers answer=1 held
    start 0 2 2 "${left[@]}"
    start 1 2 2 "${left[@]}"
    finish
    [ "$(cat "$tree/out.0")" = '1 ' ] || explain "rank 0"
    [ "$(cat "$tree/out.1")" = '0 ' ] || explain "rank 1"
}
