#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# minicluster.bats - contrib/minicluster itself: what the other cluster tests stand on
#
# Needs root, Slurm and Open MPI; a test of another Slurm series runs where a root folder is, one of device cgroups
# where this machine has them.

bats_require_minimum_version 1.5.0

load leftout
load gpus

minicluster=$BATS_TEST_DIRNAME/../../contrib/minicluster/minicluster

# Clusters of this file are in a folder of their own, so that others' are left alone.
setup_file()
{
    needs_root || return 0
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export MINICLUSTER_STATE=/var/lib/minicluster-test.$$
    machine > "$BATS_FILE_TMPDIR/before"
    "$minicluster" up --nodes 2 --gpus 2 3>&-
}

teardown_file()
{
    local name
    [ -z "${left_out:-}" ] || return 0
    for name in default two crash; do
        "$minicluster" down --name "$name" 3>&-
    done
    machine | diff "$BATS_FILE_TMPDIR/before" - >&2
}

setup()
{
    unless_left_out
    # Some tests change folders; all start from one that is on the nodes too.
    cd "$BATS_TEST_DIRNAME" || return 1
}

# What a cluster may leave on the machine. Others may mount and link meanwhile.
machine()
{
    ip -o link | grep -oE ': (br|port|veth|eth)[^:]*' || true
    awk -v state="$MINICLUSTER_STATE" '
        index($0, state) || $5 ~ "^(/tmp|/proc|/sys|/sys/fs/cgroup|/dev/shm|/etc/.*)$" { print $1, $4, $5 }' /proc/self/mountinfo
    find "$MINICLUSTER_STATE" -maxdepth 0 2> /dev/null || true
    find /sys/fs/cgroup/{devices,freezer} -maxdepth 1 -name "minicluster${MINICLUSTER_STATE//\//!}*" 2> /dev/null || true
    find /dev -maxdepth 1 -name 'nvidia*'
    # Told by a pipe, so that grep does not find itself.
    echo "$MINICLUSTER_STATE" | grep -laFs -f - /proc/[0-9]*/cmdline || true
}

# The processes of this file's clusters whose arguments have $1 among them and that are named $2.
processes()
{
    local file
    for file in $(printf '%s\n' "$1" | grep -lzxFs -f - /proc/[0-9]*/cmdline || true); do
        file=${file%/cmdline}
        [ "$(cat "$file/comm")" != "$2" ] || echo "${file#/proc/}"
    done
}

on()
{
    run --separate-stderr timeout -k 5 60 "$minicluster" run "$@" 3>&-
    [ -z "$stderr" ] || echo "$stderr" >&2
}

sorted()
{
    sort <<< "$output" | paste -sd ' '
}

@test "a step has its tasks on all nodes, each with its own name and address" {
    on login srun -N2 --ntasks-per-node=2 sh -c 'echo "$SLURM_PROCID:$(uname -n):$SLURMD_NODENAME"'
    [ "$status" -eq 0 ]
    [ "$(sorted)" = "0:n1:n1 1:n1:n1 2:n2:n2 3:n2:n2" ]
    on login srun -N2 sh -c 'ip -4 -o addr show dev eth0 | grep -o "inet [^ ]*"'
    [ "$(sort -u <<< "$output" | wc -l)" -eq 2 ]
    on n1 getent hosts n2
    [[ $output == *n2 ]]
    # Its links, not the machine's; and no way out.
    on n1 ls /sys/class/net
    [ "$(sorted)" = "eth0 lo" ]
    on n1 ip route get 192.0.2.1
    [ "$status" -ne 0 ]
}

@test "a node has its own /tmp, /dev/shm and processes, and shares the shared folder" {
    local file=minicluster-test.$$
    on n1 sh -c 'echo > "/tmp/$0"; echo > "/dev/shm/$0"; echo > "$MINICLUSTER_SHARED/all"' $file
    [ "$status" -eq 0 ]
    on n2 sh -c 'ls "/tmp/$0" "/dev/shm/$0"' $file
    [ "$status" -ne 0 ]
    [ -z "$output" ]
    [ ! -e /tmp/$file ]
    [ ! -e /dev/shm/$file ]
    on n2 ls "$MINICLUSTER_STATE/default/shared"
    [ "$output" = all ]
    on n1 sh -c 'cat /proc/[0-9]*/comm | grep -cx slurmd'
    [ "$output" = 1 ]
    on login sh -c 'cat /proc/[0-9]*/comm | grep -cx slurmd'
    [ "$output" = 0 ]
}

@test "a node claims processors and GPUs that the machine lacks" {
    on login sinfo -h -N -o '%N %c %G'
    [ "$(sorted)" = "n1 4 gpu:2 n2 4 gpu:2" ]
    on login srun -N2 --ntasks-per-node=1 --gpus-per-node=2 sh -c 'echo $CUDA_VISIBLE_DEVICES'
    [ "$(sorted)" = "0,1 0,1" ]
    on login srun -n1 --gpus=5 true
    [ "$status" -ne 0 ]
}

# What a task says of itself, NODE.LOCALID:GPUs that Slurm names:GPUs that it may open. Whoever may is told that nothing
# answers there; of access(2) nobody hears anything else.
may_open='
for file in /dev/nvidia*; do
    said=$({ : <> "$file"; } 2>&1)
    case $said in
        *"No such device or address"*) allowed=$allowed,${file#/dev/nvidia} ;;
        *"Operation not permitted"*) ;;
        *) echo "$file: $said" ;;
    esac
    if [ -r "$file" ] && [ -w "$file" ]; then accessible=$accessible,${file#/dev/nvidia}; fi
done
[ "$accessible" = "$allowed" ] || echo "opened: $allowed, accessible: $accessible"
allowed=${allowed#,}
echo "$SLURMD_NODENAME.$SLURM_LOCALID:${CUDA_VISIBLE_DEVICES-none}:${allowed:-none}"'

@test "a node's GPUs are devices in a /dev of its own, which has what the machine's has" {
    on n1 stat -c '%t:%T %a' /dev/nvidia0 /dev/nvidia1
    [ "$output" = $'f0:0 666\nf0:1 666' ] || skip "no device can be made here"
    on n1 sh -c 'ls -d /dev/nvidia*; > /dev/nvidia1'
    [[ $output == $'/dev/nvidia0\n/dev/nvidia1' ]]
    [[ $stderr == *"No such device"* ]]
    on login ls /dev
    [ "$output" = "$(ls /dev)" ]
    # none is lacking but consoles, and those that are there work
    on n1 ls /dev
    [ -z "$(comm -13 <(sort <<< "$output") <(ls /dev | grep -vE '^(tty[0-9]|vcs|nvidia[0-9])' | sort))" ]
    on n1 sh -c 'echo > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; ls /dev/fd/0; echo > /dev/shm/own'
    [ "$status" -eq 0 ]
    [ "$output" = $'3\n3\n/dev/fd/0' ]
    on n1 python3 -c 'import os, pty; print(os.ttyname(pty.openpty()[1]))'
    [[ $output == /dev/pts/* ]]
    # it is the node's: what is made there, or removed, is so nowhere else
    on n1 sh -c 'echo > /dev/own; rm /dev/nvidia1'
    [ ! -e /dev/own ]
    on n2 sh -c 'test ! -e /dev/own && test -c /dev/nvidia1'
    [ "$status" -eq 0 ]
    on n1 sh -c 'rm /dev/own && mknod -m 666 /dev/nvidia1 c 240 1'
    [ "$status" -eq 0 ]
    # nobody is denied any without --gpu-cgroup
    on login srun -N2 --ntasks-per-node=2 --gpus-per-task=1 sh -c "$may_open"
    [ "$(sorted)" = "n1.0:0:0,1 n1.1:1:0,1 n2.0:0:0,1 n2.1:1:0,1" ]
}

@test "--gpu-cgroup: a task may open the GPUs that Slurm has given it, on each node" {
    device_cgroups || skip "no cgroups of version 1 for devices"
    "$minicluster" up --name two --nodes 2 --gpus 3 --gpu-cgroup 3>&-
    opens_its_own
    # beside a job that has the first one: Slurm counts from 0 again
    mkfifo "$MINICLUSTER_STATE/two/shared/end"
    "$minicluster" run --name two login srun -w n1 --gpus=1 sh -c 'echo > "$0/runs"; cat "$0/end"' \
        "$MINICLUSTER_STATE/two/shared" 3>&- &
    until [ -e "$MINICLUSTER_STATE/two/shared/runs" ]; do sleep 0.05; done
    on --name two login srun -w n1 -n2 --gpus-per-task=1 sh -c "$may_open"
    [ "$(sorted)" = "n1.0:0:1 n1.1:0:2" ]
    echo > "$MINICLUSTER_STATE/two/shared/end"
    wait $!
    "$minicluster" down --name two
    [ -z "$(find /sys/fs/cgroup/{devices,freezer} -name 'minicluster*!two')" ]
}

@test "--gpu-cgroup: down leaves no cgroup, though a step was frozen and the holder killed" {
    local folder pid frozen
    device_cgroups || skip "no cgroups of version 1 for devices"
    machine > "$BATS_TEST_TMPDIR/before"
    "$minicluster" up --name crash --nodes 1 --gpus 1 --gpu-cgroup 3>&-
    "$minicluster" run --name crash login srun sleep 999 3>&- &
    folder=/sys/fs/cgroup/freezer/minicluster${MINICLUSTER_STATE//\//!}!crash/n1
    until frozen=$(find "$folder" -path '*/step_0/freezer.state') && [ -n "$frozen" ] && grep -q . "${frozen%/*}/tasks"; do
        sleep 0.05
    done
    echo FROZEN > "$frozen"
    kill -KILL $(processes "minicluster:$MINICLUSTER_STATE/crash" bash)
    "$minicluster" down --name crash
    wait $! || true
    machine | diff "$BATS_TEST_TMPDIR/before" -
}

@test "--gpu-cgroup where it cannot be had: status 1, a line that says why" {
    local way
    device_cgroups || skip "no cgroups of version 1 for devices"
    for way in "umount -l /sys/fs/cgroup/freezer" "mount -t tmpfs none /sys/fs/cgroup" \
        "mount -o remount,bind,ro /sys/fs/cgroup/devices"; do
        run -1 unshare --mount sh -c "$way"' && "$0" up --name two --gpus 1 --gpu-cgroup' "$minicluster" 3>&-
        [ ${#lines[@]} -eq 1 ]
        [[ $output == "minicluster: --gpu-cgroup: "*/sys/fs/cgroup/* ]]
        [ ! -e "$MINICLUSTER_STATE/two" ]
    done
    run -1 setpriv --bounding-set=-mknod --inh-caps=-mknod "$minicluster" up --name two --gpus 1 --gpu-cgroup 3>&-
    [ "$output" = "minicluster: --gpu-cgroup: no device can be made here (mknod is not permitted)" ]
    [ ! -e "$MINICLUSTER_STATE/two" ]
}

# Of a cluster named two with two nodes: what each task of a step may open.
opens_its_own()
{
    on --name two login srun -N2 --ntasks-per-node=2 --gpus-per-task=1 sh -c "$may_open"
    [ "$(sorted)" = "n1.0:0:0 n1.1:0:1 n2.0:0:0 n2.1:0:1" ]
    on --name two login srun -N2 --ntasks-per-node=1 --gpus-per-node=2 sh -c "$may_open"
    [ "$(sorted)" = "n1.0:0,1:0,1 n2.0:0,1:0,1" ]
    on --name two login srun -N2 --ntasks-per-node=1 sh -c "$may_open"
    [ "$(sorted)" = "n1.0:none:none n2.0:none:none" ]
}

@test "rsh from the machine and between nodes: words joined, input, output, exit status" {
    local via
    for via in "" "run n1 minicluster" "run n2 minicluster"; do
        run -9 --separate-stderr "$minicluster" $via rsh n2 'uname -n; cat; echo' bad '>&2; exit 9' <<< given 3>&-
        [ "$output" = $'n2\ngiven' ]
        [ "$stderr" = bad ]
    done
    run -1 --separate-stderr "$minicluster" run n1 minicluster rsh n7 true 3>&-
    [[ $stderr == *"no node 'n7'"* ]]
}

@test "rsh returns though the command left a daemon, and carries much" {
    run -0 timeout 20 "$minicluster" run n1 minicluster rsh n2 'sleep 60 & echo started' 3>&-
    [ "$output" = started ]
    run sh -c 'head -c 5000000 /dev/zero | "$0" run n1 minicluster rsh n2 cat | wc -c' "$minicluster" 3>&-
    [ "$output" = 5000000 ]
    # A reader that is slow loses nothing.
    run "$minicluster" run n1 sh -c 'minicluster rsh n2 "head -c 200000 /dev/zero" | { sleep 2; wc -c; }' 3>&-
    [ "$output" = 200000 ]
}

@test "run keeps input, output, exit status, folder" {
    run -7 --separate-stderr "$minicluster" run n2 sh -c 'cat; pwd; echo bad >&2; exit 7' <<< given 3>&-
    [ "$output" = "given"$'\n'"$BATS_TEST_DIRNAME" ]
    [ "$stderr" = bad ]
    on n1 sh -c 'kill -9 $$'
    [ "$status" -eq 137 ]
    run -127 "$minicluster" run n1 /no/such/command 3>&-
    # a node has a /tmp of its own
    hidden=$(mktemp -d /tmp/minicluster-test.XXXXXX)
    cd "$hidden"
    on n1 pwd
    cd /
    rmdir "$hidden"
    [ "$output" = / ]
    [[ $stderr == *"folder $hidden is not there"* ]]
}

@test "run: the caller's environment without Slurm's, or a clean one" {
    export SLURM_PROCID=3 SBATCH_X=1 TMPDIR=/nowhere KEPT=$'a b\nc'
    on n1 sh -c 'echo "${SLURM_PROCID-no} ${SBATCH_X-no} ${TMPDIR-no} $KEPT $SLURM_CONF"'
    [ "$output" = $'no no no a b\nc '"$MINICLUSTER_STATE/default/slurm.conf" ]
    on -i -e KEPT -e NEW=1 n1 env
    [[ $'\n'$output == *$'\nKEPT=a b\nc\n'* ]]
    [[ $'\n'$output == *$'\nNEW=1\n'* ]]
    [[ $output != *BATS_* ]]
}

@test "signals reach the command, and it does not outlive run" {
    local pid
    "$minicluster" run n1 sh -c 'trap "exit 5" TERM; sleep 4321 & wait' 3>&- &
    pid=$!
    # sleep itself: a child of the shell that has not started it yet still has the trap, and loses the signal
    until "$minicluster" run n1 pgrep -xf 'sleep 4321'; do sleep 0.1; done
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 5 ]
    "$minicluster" run n1 sleep 4322 3>&- &
    pid=$!
    # sleep itself: what is on its way to it does not end with run yet, and has these words among its own
    until "$minicluster" run n1 pgrep -xf 'sleep 4322'; do sleep 0.1; done
    kill -KILL $pid
    wait $pid || true
    soon no_sleeper
}

no_sleeper()
{
    if "$minicluster" run n1 pgrep -f 'sleep 432[12]'; then
        return 1
    fi
}

# What a killed process leaves is gone soon, not at once: CMD must succeed within five seconds.
soon()
{
    local tries
    for tries in {1..50}; do
        ! "$@" || return 0
        sleep 0.1
    done
    "$@"
}

@test "--plugstack and --conf" {
    echo '# given' > "$BATS_TEST_TMPDIR/plugstack"
    "$minicluster" up --name two --nodes 1 --prefix host- --mpi pmix --conf MaxJobCount=77 --conf KillWait=9 \
        --plugstack "$BATS_TEST_TMPDIR/plugstack" 3>&-
    grep -qx '# given' "$MINICLUSTER_STATE/two/plugstack.conf"
    on --name two login scontrol show config
    [[ $output =~ MaxJobCount\ +=\ 77 ]]
    [[ $output =~ KillWait\ +=\ 9 ]]
    [[ $output =~ MpiDefault\ +=\ pmix ]]
    # Two at once, equal addresses: neither sees the other.
    on --name two login srun uname -n
    [ "$output" = host-1 ]
    on login srun -N2 uname -n
    [ "$(sorted)" = "n1 n2" ]
    run -0 "$minicluster" status --name two 3>&-
    "$minicluster" down --name two
    [ ! -e "$MINICLUSTER_STATE/two" ]
    on login srun -N2 uname -n
    [ "$(sorted)" = "n1 n2" ]
    run -1 "$minicluster" up 3>&-
    [[ $output == *"is up already"* ]]
}

address='echo "$SLURMD_NODENAME:$SLURM_TOPOLOGY_ADDR:$SLURM_TOPOLOGY_ADDR_PATTERN"'

@test "--topology: a leaf switch a group, in that order, or a topology.conf" {
    on login srun -N2 sh -c "$address"
    [ "$(sorted)" = "n1:n1:node n2:n2:node" ]
    "$minicluster" up --name two --nodes 4 --topology 'tree:n[2,4],n3,n1' 3>&-
    on --name two login srun -N4 sh -c "$address"
    [ "$(sorted)" = "n1:top.s3.n1:switch.switch.node n2:top.s1.n2:switch.switch.node \
n3:top.s2.n3:switch.switch.node n4:top.s1.n4:switch.switch.node" ]
    "$minicluster" down --name two
    printf '%s\n' '# one leaf' 'switchname=leaf Nodes=n[1-2]' > "$BATS_TEST_TMPDIR/topology"
    "$minicluster" up --name two --topology "$BATS_TEST_TMPDIR/topology" 3>&-
    on --name two login srun -N2 sh -c "$address"
    [ "$(sorted)" = "n1:leaf.n1:switch.node n2:leaf.n2:switch.node" ]
    "$minicluster" down --name two
}

@test "status sees a dead daemon and a dead node" {
    "$minicluster" up --name crash 3>&-
    kill -KILL "$(processes "$MINICLUSTER_STATE/crash/slurm.conf" slurmctld)"
    soon status_has "login: its daemon is not running"
    kill -KILL $(processes "minicluster:$MINICLUSTER_STATE/crash:n2" bash)
    soon status_has "n2: stopped"
    run -1 "$minicluster" run --name crash n2 true 3>&-
    [[ $output == *"'n2' of cluster 'crash' is not running"* ]]
    run -1 "$minicluster" run --name crash n1 minicluster rsh n2 true 3>&-
    "$minicluster" down --name crash
    [ ! -e "$MINICLUSTER_STATE/crash" ]
}

status_has()
{
    run "$minicluster" status --name crash 3>&-
    [ "$status" -eq 1 ] || return 1
    [[ $output == *"$1"* ]]
}

# The processes in $spaces, where these are known.
members()
{
    [ -z "$spaces" ] || ls -l /proc/[0-9]*/ns/{net,mnt} 2> /dev/null | grep -F "$spaces" | grep -oE '/proc/[0-9]+/' || true
}

@test "down leaves nothing, whatever was killed before" {
    local victim pid spaces running there
    machine > "$BATS_TEST_TMPDIR/before"
    for victim in nothing holder parent stopped up; do
        if [ "$victim" = up ]; then
            "$minicluster" up --name crash 3>&- &
            # Half way: its settings are written, its nodes are not ready. A fast machine may be through by
            # then, and has left a whole cluster.
            until [ -e "$MINICLUSTER_STATE/crash/slurm.conf" ]; do sleep 0.01; done
            kill -KILL $! || true
            wait $! || true
        else
            "$minicluster" up --name crash 3>&-
        fi
        spaces=$("$minicluster" run --name crash n1 sh -c 'readlink /proc/self/ns/net /proc/self/ns/mnt' || true)
        there=$(members)
        running=
        case $victim in
            holder)
                pid=$(processes "minicluster:$MINICLUSTER_STATE/crash" bash)
                [ -n "$pid" ]
                ;;
            parent)
                pid=$(processes "minicluster:$MINICLUSTER_STATE/crash" unshare)
                [ -n "$pid" ]
                ;;
            stopped)
                "$minicluster" run --name crash n1 sleep 999 3>&- &
                running=$!
                until "$minicluster" run --name crash n1 pgrep -xf 'sleep 999'; do sleep 0.1; done
                kill -STOP "$running"
                pid=
                ;;
            *) pid= ;;
        esac
        [ -z "$pid" ] || kill -KILL $pid
        # The next `up` cleans up as well.
        if [ "$victim" = holder ]; then
            sleep 0.2
            "$minicluster" up --name crash 3>&-
        fi
        "$minicluster" down --name crash
        # by its number: bats' own time limit is a child of this shell, too
        [ -z "$running" ] || wait "$running" || true
        machine | diff "$BATS_TEST_TMPDIR/before" -
        # the kernel may have given their numbers to another cluster since
        [ -z "$there" ] || [ -z "$(members | grep -xF "$there")" ]
    done
}

@test "another series, from a root folder" {
    local folder root also=()
    ! device_cgroups || also=(--gpu-cgroup)
    for folder in "${MINICLUSTER_ROOTS:-/var/lib/minicluster-roots}"/*/usr/sbin/slurmctld; do
        [ -x "$folder" ] || skip "no root folder"
        root=${folder%/usr/sbin/slurmctld}
        "$minicluster" up --name two --slurm "${root##*/}" --bind "$BATS_TEST_DIRNAME" --gpus 2 \
            --topology block:n2,n1 "${also[@]}" 3>&-
        on --name two login srun -N2 sh -c "$address"
        [ "$(sorted)" = "n1:b2.n1:block.node n2:b1.n2:block.node" ]
        on --name two login srun -N2 srun --version
        [[ $output == *"slurm-wlm ${root##*/}."* ]]
        on --name two n1 getent hosts login
        [[ $output == *login ]]
        on --name two n1 pwd
        [ "$output" = "$BATS_TEST_DIRNAME" ]
        [ ${#also[@]} -eq 0 ] || opens_its_own
        "$minicluster" down --name two
        [ ! -e "$root$MINICLUSTER_STATE" ]
        run ! grep -F "$root" /proc/self/mountinfo
        [ -c /dev/null ]
    done
}

@test "make-root: a folder that is there is kept; what cannot be made leaves nothing behind" {
    local make_root=${minicluster%/*}/make-root roots=$BATS_TEST_TMPDIR/roots
    run "$make_root" --list
    [[ $output == *"24.11 (Debian trixie)"* ]]
    run -2 "$make_root"
    run -1 env MINICLUSTER_ROOTS="$roots" "$make_root" 1.2
    [[ $output == *"have Slurm '1.2', only: 22.05"* ]]
    # no way to any mirror
    mkdir -p "$roots/.26.05/root/usr"
    run -1 env MINICLUSTER_ROOTS="$roots" unshare --net "$make_root" 26.05
    [[ ${lines[-1]} == "make-root: no root folder for Slurm 26.05: "* ]]
    [ "$(find "$roots" -mindepth 1)" = "$roots/.26.05.lock" ]
    # neither overwritten nor taken for one
    mkdir -p "$roots/26.05/home"
    run -1 env MINICLUSTER_ROOTS="$roots" "$make_root" 26.05
    [[ $output == *"without a Slurm: remove it"* ]]
    [ -d "$roots/26.05/home" ]
}

@test "wrong usage: status 2, a line that says what is wrong" {
    local line
    while read -r line; do
        run "$minicluster" $line 3>&-
        [ "$status" -eq 2 ] || { echo "'$line' exits with $status"; false; }
        [ ${#lines[@]} -eq 1 ]
        [[ $output == minicluster:*"see minicluster --help" ]]
    done << 'END'

frobnicate
up --nodes
up --nodes 0
up --nodes x
up --cpus 0
up --gpus -1
up --gpu-cgroup
up --topology ring:n1
up --topology tree:
up --topology /no/such/file
up --name a/b
up --name ..
up --prefix N1
up --plugstack /no/such/file
up extra
run
run n1
run --frob n1 true
rsh n1
down extra
status extra
END
    run -0 "$minicluster" --help
    [[ $output == usage:* ]]
}

@test "what cannot be had: status 1, a line that says why" {
    run -1 env MINICLUSTER_STATE=/tmp/state "$minicluster" up 3>&-
    [[ $output == *"below /tmp"* ]]
    [ ! -e /tmp/state ]
    run -1 "$minicluster" up --name two --slurm 1.2 3>&-
    [[ $output == *"no Slurm 1.2, only: "* ]]
    run -1 "$minicluster" up --name two --slurm 22.05 --topology block:n1,n2 3>&-
    [ "$output" = "minicluster: --topology: Slurm 22.05 has no topology/block, 23.11 and newer have" ]
    run -1 "$minicluster" run --name two n1 true 3>&-
    run -1 "$minicluster" run n9 true 3>&-
    [[ $output == *"it has login n1 n2"* ]]
    run -1 "$minicluster" up --name two --conf 'Nonsense=1' 3>&-
    [[ $output == *"did not become ready"*Nonsense* ]]
    [ ! -e "$MINICLUSTER_STATE/two" ]
}
