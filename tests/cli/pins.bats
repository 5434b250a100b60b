#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# pins.bats - rollcall-map pins, which plugin and command ask where the tasks of a node go (libexec/map/map.h): on machines that
# people use, against tables written by hand. Why the cores are these is in map.bats; here is what is said of them.

load helper

setup_file()
{
    local machine
    for machine in dgx-a100 frontier abci-v cpu-node gh200 large laptop; do
        python3 "$BATS_TEST_DIRNAME/topologies/machines.py" "$machine" > "$BATS_FILE_TMPDIR/$machine.xml"
    done
}

setup()
{
    map=$prefix/libexec/rollcall/rollcall-map
    [ -x "$map" ] || skip 'built without hwloc'
}

# pins MACHINE KEY=VALUE...: the answer to that request
pins()
{
    local machine=$1
    shift
    printf '%s\n' "$@" | "$map" pins "$BATS_FILE_TMPDIR/$machine.xml"
}

# expect TEXT MACHINE KEY=VALUE...
expect()
{
    local text=$1
    shift
    diff -u --label 'by hand' --label answered <(printf '%s\n' "$text") <(pins "$@")
}

# Half a NUMA node for each of the GPUs of a pair. Card and GPU are a pair on a switch; the two Ethernet cards are not named.
@test "DGX A100: the cores, GPU and card of each local rank" {
    expect 'node fabric=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_6,mlx5_7,mlx5_8,mlx5_9
pin cpus=48-55,176-183 cores=8 gpu=0 fabric=mlx5_0
pin cpus=56-63,184-191 cores=8 gpu=1 fabric=mlx5_1
pin cpus=16-23,144-151 cores=8 gpu=2 fabric=mlx5_2
pin cpus=24-31,152-159 cores=8 gpu=3 fabric=mlx5_3
pin cpus=112-119,240-247 cores=8 gpu=4 fabric=mlx5_6
pin cpus=120-127,248-255 cores=8 gpu=5 fabric=mlx5_7
pin cpus=80-87,208-215 cores=8 gpu=6 fabric=mlx5_8
pin cpus=88-95,216-223 cores=8 gpu=7 fabric=mlx5_9' dgx-a100 tasks=8 gpus=0,1,2,3,4,5,6,7
}

# gpu= counts in the list: a step that was given GPUs 6 and 7 has them as 0 and 1. By bus id it is the same question.
@test "the list's own numbers, by index and by bus id" {
    text='pin cpus=80-87,208-215 cores=8 gpu=0 fabric=mlx5_8
pin cpus=88-95,216-223 cores=8 gpu=1 fabric=mlx5_9'
    [ "$(pins dgx-a100 tasks=2 gpus=6,7 | tail -n +2)" = "$text" ]
    [ "$(pins dgx-a100 tasks=2 gpus=b7:00.0,0000:BD:00.0 | tail -n +2)" = "$text" ]
    # the other order, and more tasks than GPUs: by turns
    [ "$(pins dgx-a100 tasks=3 gpus=7,6 | tail -n +2 | cut -d ' ' -f 2-4)" = 'cpus=80-84,208-212 cores=5 gpu=0
cpus=85-89,213-217 cores=5 gpu=1
cpus=90-95,218-223 cores=6 gpu=0' ]
}

# A GPU of which nothing is known: its task has cores of its own and no GPU, the other one its own GPU's.
@test "names that are no GPU of the machine" {
    for name in 8 x MIG-1 GPU-00000000-0000-0000-0000-000000000000 GPU- '' ff:00.0 -1; do
        run pins dgx-a100 tasks=2 "gpus=$name,7"
        [ "${#lines[@]}" -eq 3 ]
        [[ ${lines[1]} != *gpu=* && ${lines[1]} != *cpus=80-* ]]
        [[ ${lines[2]} == *' gpu=1 '* ]]
    done
    # no list at all is no GPU at all: by NUMA nodes
    expect "$(pins dgx-a100 tasks=8)" dgx-a100 tasks=8 gpus=
    run pins dgx-a100 tasks=8
    [[ $output != *gpu=* && ${lines[1]} == 'pin cpus=0-15,128-143 cores=16 '* ]]
}

# bind=numa: the GPU's whole NUMA node, which the two tasks share; each one's number of cores stays its share.
@test "bind=numa: all that may be used of the NUMA node" {
    run pins dgx-a100 tasks=2 gpus=0,1 bind=numa
    [ "${lines[1]}" = 'pin cpus=48-63,176-191 cores=8 gpu=0 fabric=mlx5_0' ]
    [ "${lines[2]}" = 'pin cpus=48-63,176-191 cores=8 gpu=1 fabric=mlx5_1' ]
    # never wider than what may be used: a thread of each of four cores
    run pins dgx-a100 tasks=2 gpus=0,1 bind=numa cpus=48-51
    [ "${lines[1]}" = 'pin cpus=48-51 cores=2 gpu=0 fabric=mlx5_0' ]
    # a share that spans two nodes has both
    [[ $(pins cpu-node tasks=1 bind=numa cpus=0-3,8) == *' cpus=0-3,8 cores=5 '* ]]
    [ "$(pins dgx-a100 tasks=2 gpus=0,1 bind=cores)" = "$(pins dgx-a100 tasks=2 gpus=0,1)" ]
}

# The names of Slingshot's cards, of cards with two names, and of none.
@test "network cards by both their names" {
    [ "$(pins frontier tasks=1 gpus=0 | head -n 1)" = 'node fabric=cxi0,cxi1,cxi2,cxi3 network=hsn0,hsn1,hsn2,hsn3' ]
    [ "$(pins laptop tasks=1 gpus=0)" = 'node network=wlan0
pin cpus=0-7 cores=4 gpu=0 network=wlan0' ]
    # a name that would make another line of it is left out
    sed 's/wlan0/a\&#10;pin/' "$BATS_FILE_TMPDIR/laptop.xml" > "$BATS_TEST_TMPDIR/odd.xml"
    [ "$("$map" pins "$BATS_TEST_TMPDIR/odd.xml" <<< 'tasks=1')" = 'node
pin cpus=0-7 cores=4' ]
}

@test "one core for eight tasks: all have it, and say so" {
    run pins dgx-a100 tasks=8 cpus=48
    [ "${#lines[@]}" -eq 9 ]
    for line in "${lines[@]:1}"; do
        [[ $line == 'pin cpus=48 cores=1 '*'shared=yes' ]]
    done
    # two threads of one core are one core
    [ "$(pins dgx-a100 tasks=2 cpus=48,176 | grep -c 'cpus=48,176 cores=1 .*shared=yes')" -eq 2 ]
}

@test "4,096 cores, 64 GPUs" {
    gpus=$(seq -s , 0 63)
    run pins large tasks=4096 "gpus=$gpus"
    [ "${#lines[@]}" -eq 4097 ]
    [ "$(grep -o 'cpus=[0-9]*' <<< "$output" | sort -u | wc -l)" -eq 4096 ]
}

# A key that an older one does not know is no reason to answer nothing.
@test "what is no request, and what has no answer: nothing but a line on standard error" {
    xml=$BATS_FILE_TMPDIR/laptop.xml
    for text in '' 'x' 'tasks=' 'tasks=0' 'tasks=-1' 'tasks=4097' 'tasks=2x' $'tasks=2\nbind=x' $'tasks=2\nbind=' \
        $'tasks=2\ncpus=' $'tasks=2\ntasks=2' "$(printf 'tasks=1\ngpus='; head -c 70000 /dev/zero | tr '\0' 0)"; do
        fails_with 2 'pins: that is no request' "$map" pins "$xml" <<< "$text"
    done
    for text in x , 0- 8192 '0 1'; do
        fails_with 2 'is not a list of hardware threads' "$map" pins "$xml" <<< "tasks=1"$'\n'"cpus=$text"
    done
    fails_with 2 'cpus=100-200: the topology has none of them' "$map" pins "$xml" <<< $'tasks=1\ncpus=100-200'
    fails_with 2 'cannot read' "$map" pins "$BATS_TEST_TMPDIR/none.xml" <<< 'tasks=1'
    fails_with 2 'that is no request' "$map" pins "$xml" < /dev/null
    run bash -c '"$@" > /dev/full' - "$map" pins "$xml" <<< 'tasks=1'
    [ "$status" -eq 2 ]
    [ "$(pins laptop new=1 tasks=1)" = "$(pins laptop tasks=1)" ]
}

# For a user it is no way to use `rollcall map`, which would wait for a terminal.
@test "rollcall map has no such argument" {
    fails_with 2 "map: unexpected argument 'pins'" "$rollcall" map pins <<< 'tasks=1'
}

@test "this machine: its own threads, those of the process where none are named" {
    run -0 "$map" pins <<< $'tasks=2\nbind=numa'
    [ "${#lines[@]}" -eq 3 ]
    last=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
    run -0 taskset -c "$last" "$map" pins <<< 'tasks=2'
    [[ ${lines[1]} == "pin cpus=$last cores=1"*'shared=yes' && ${lines[2]} == "pin cpus=$last cores=1"*'shared=yes' ]]
}

# Nobody wants to know the cards, and there is no GPU to be near to: no device is asked. Some sleep.
@test "this machine: no PCI device is asked where only the cores matter" {
    ls -d /sys/bus/pci/devices/* > /dev/null || skip 'no PCI here'
    ! ls /dev | grep -q '^nvidia[0-9]' || skip 'a GPU is here'
    ! ls /dev/dri | grep -q '^renderD' || skip 'a GPU is here'
    for more in gpus=all gpus=0,1 bind=cores; do
        printf '%s\n' tasks=2 cards=no "$more" > "$BATS_TEST_TMPDIR/request"
        run -0 --separate-stderr strace -f -e trace=open,openat -o "$BATS_TEST_TMPDIR/trace" "$map" pins < "$BATS_TEST_TMPDIR/request"
        [ "${lines[0]}" = node ]
        [ "$(tail -n 2 <<< "$output")" = "$("$map" pins <<< $'tasks=2' | sed '1d; s/ \(fabric\|network\)=[^ ]*//g')" ]
        run -1 grep -E '/config|/class/(net|infiniband|block|drm)|hwloc_[a-z_]*\.so' "$BATS_TEST_TMPDIR/trace"
    done
    # with them they are
    run -0 strace -f -e trace=open,openat -o "$BATS_TEST_TMPDIR/trace" "$map" pins <<< tasks=2
    grep -q '/config' "$BATS_TEST_TMPDIR/trace"
}

@test "cards=no: the same cores and GPUs, and no card is named" {
    for machine in dgx-a100 frontier abci-v cpu-node gh200 laptop; do
        [ "$(pins "$machine" cards=no tasks=4 gpus=3,2,1,0)" = \
            "$(pins "$machine" tasks=4 gpus=3,2,1,0 | sed 's/ \(fabric\|network\)=[^ ]*//g')" ]
    done
}
