#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# same.bats - a node that is not like the others: the line that says so, word for word, before the tasks start.
#
# Four virtual nodes show the files of a machine with two GPUs and a card for InfiniBand; then one of them is changed.

load helpers
load faults

made=RC622

setup_file()
{
    needs_root || return 0
    faults_up --nodes 4 --cpus 4 --mpi pmix
    cat > "$shared/dress" << 'END'
gpus=2 model='NVIDIA H100' width=16 driver=550.54.15 port='4: ACTIVE' serial=1 bus=1
[ $# -eq 0 ] || export "$@"
for place in /proc/driver /sys/bus /sys/class; do
    mountpoint -q $place && umount $place
    mount -t tmpfs -o mode=755 none $place
done
mkdir /proc/driver/nvidia
gpu=0
while [ $gpu -lt "$gpus" ]; do
    address=0000:0$((bus + gpu)):00.0
    mkdir -p /proc/driver/nvidia/gpus/$address /sys/bus/pci/devices/$address
    printf 'Model: \t\t %s\nIRQ:   \t\t 9%s\nGPU UUID: \t GPU-1c6f0000-0000-4000-8000-%012d\n' \
        "$model" "$serial" "$serial$gpu" > /proc/driver/nvidia/gpus/$address/information
    cd /sys/bus/pci/devices/$address
    echo 16 > max_link_width
    echo $width > current_link_width
    width=16 gpu=$((gpu + 1))
done
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $driver  Tue Mar  5 22:23:56 UTC 2024" > /proc/driver/nvidia/version
mkdir -p /sys/class/infiniband/mlx5_0/ports/1
cd /sys/class/infiniband/mlx5_0
echo MT4129 > hca_type
echo "a088:c203:0000:000$serial" > node_guid
cd ports/1
echo "$port" > state
echo '400 Gb/sec (4X NDR)' > rate
echo InfiniBand > link_layer
echo "0x$serial" > lid
END
}

setup()
{
    local node
    [ -z "${left_out:-}" ] || return 0
    for node in 1 2 3 4; do
        # what healthy nodes differ in
        dress n$node serial=$node bus=$((node % 2 + 1))
    done
}

teardown()
{
    local node
    [ -z "${left_out:-}" ] || return 0
    faults_end
    for node in n1 n2 n3 n4; do
        on "$node" umount /proc/driver /sys/bus /sys/class 2> /dev/null || true
    done
    login scancel --user="$(id -un)"
}

# dress NODE [NAME=VALUE]...: the node's files.
dress()
{
    local node=$1
    shift
    on "$node" sh -e "$shared/dress" "$@"
}

four=(-N4 --ntasks-per-node=1)

# odd LINE...: these lines of RC622, in this order, and nothing else of the roll call.
odd()
{
    diff <(printf 'RC622: %s\n' "$@") <(grep -o 'RC6.*' "$err") || explain "not these lines"
}

# even: no line at all.
even()
{
    one_port 4
    silent
}

leave="repair or leave out the odd one, or use same=off"

@test "equal nodes: nothing is said, whatever their serial numbers and the order of their devices" {
    local transport
    for transport in $transports; do
        step 30 "--ddp=exchange=$transport" "${four[@]}"
        even
    done
    meets 6 30 --ddp=same=stop -N4 -n6
    unsaid RC6
}

@test "a GPU fewer, on the node of rank 0 as on another, over each transport" {
    local transport
    dress n3 gpus=1
    for transport in $transports; do
        meets 4 30 "--ddp=exchange=$transport" "${four[@]}"
        odd "GPUs are '1 NVIDIA H100' on n3, '2 NVIDIA H100' on the other 3; $leave"
    done
    dress n3
    dress n1 gpus=0
    meets 4 30 --ddp "${four[@]}"
    odd "GPUs are none on n1, '2 NVIDIA H100' on the other 3; $leave"
}

@test "a narrower link, a port that is down, another driver, limits, a small /dev/shm: five lines, and one for the rest" {
    dress n2 width=8
    dress n4 'port=1: DOWN'
    dress n3 driver=535.104.05
    helper_is rollcall-exchange n1 <<< 'ulimit -n 4000; ulimit -l 64
exec unshare -m sh -c "mount -t tmpfs -o size=64m none /dev/shm; exec \"\$0\" \"\$@\"" $real "$@"'
    attempt 30 srun --ddp "${four[@]}" sh -c 'echo "port $RANK $MASTER_PORT"; [ "$RANK" -ne 0 ] || rollcall check --json > "$0" || [ $? -eq 1 ]' "$shared/roll"
    one_port 4
    sed -i "s/'\(8 MiB\|unlimited\|[0-9]* [KMG]iB\)' on the other 3/'MEMLOCK' on the other 3/; s/'[0-9]*' on the other 3/'NOFILE' on the other 3/" "$err"
    odd "PCIe links of GPUs are '1 at x16, 1 at x8 of x16' on n2, '2 at x16' on the other 3; $leave" \
        "the GPU driver is '535.104.05' on n3, '550.54.15' on the other 3; $leave" \
        "ports of network cards are '1 DOWN InfiniBand' on n4, '1 ACTIVE InfiniBand 400 Gb/sec (4X NDR)' on the other 3; $leave" \
        "the limit of locked memory is '64 KiB' on n1, 'MEMLOCK' on the other 3; $leave" \
        "the limit of open files is '4000' on n1, 'NOFILE' on the other 3; $leave" \
        "shm differs, too; rollcall check shows on which nodes"
    "$PYTHON" - "$shared/roll" << 'END'
import json, sys
roll = json.load(open(sys.argv[1]))
has = [entry["has"] for entry in roll["entries"]]
assert [node["shm"] == "64 MiB" for node in has] == [True, False, False, False], has
said = [message["text"] for message in roll["messages"] if message["id"] == "RC622"]
assert len(said) == 6 and said[5].startswith("/dev/shm has '64 MiB' on n1, "), said
assert roll["exclude"] == "n1,n2,n3,n4", roll["exclude"]
END
}

@test "same=off is silent, same=stop stops; in the site's line, too" {
    local conf transport
    dress n2 gpus=1
    step 30 --ddp=same=off "${four[@]}"
    even
    for transport in $transports; do
        step 30 "--ddp=same=stop,exchange=$transport" "${four[@]}"
        failed
        [ ! -s "$out" ] || explain "a task has started"
        said "RC622: GPUs are '1 NVIDIA H100' on n2, '2 NVIDIA H100' on the other 3"
        said 'RC612: not starting tasks on this node'
    done
    ROLLCALL=same=stop step 30 --ddp "${four[@]}"
    failed
    conf=$(login scontrol show config | sed -n 's/^PlugStackConfig *= //p')
    cp "$conf" "$BATS_TEST_TMPDIR/plugstack.conf"
    sed 's/$/ same=stop/' "$BATS_TEST_TMPDIR/plugstack.conf" > "$conf"
    step 30 --ddp "${four[@]}"
    cp "$BATS_TEST_TMPDIR/plugstack.conf" "$conf"
    failed
    said 'RC612: not starting tasks on this node'
}

# components SRUN-ARGUMENT...: four tasks of two components meet over PMIx. Their srun is ended here: before Slurm 24.11 it
# hangs once in some 30 steps, without rollcall too, as two threads of mpi/pmix join one (Slurm a2e9643694).
components()
{
    attempt_until 4 '^port [0-9]+ [0-9]+$' 60 srun --mpi=pmix "$@"
    ports 4
}

@test "components of a launch are compared each by itself" {
    local component
    [[ $transports == *pmix* ]] || skip "this Slurm has no PMIx, and srun's server serves no components"
    component=(sh -c 'echo "port $RANK $MASTER_PORT"')
    dress n4 gpus=1 model='NVIDIA A100-SXM4-40GB'
    components --ddp=same=stop -w 'n[1-3]' -N3 -n3 "${component[@]}" : --ddp=same=stop -w n4 -n1 "${component[@]}"
    unsaid RC6
    dress n2 gpus=1
    components --ddp -w 'n[1-3]' -N3 -n3 "${component[@]}" : --ddp -w n4 -n1 "${component[@]}"
    odd "GPUs are '1 NVIDIA H100' on n2, '2 NVIDIA H100' on the other 2; $leave"
    # a step of one of the job's components
    attempt 60 salloc -w n4 -N1 : -w 'n[1-3]' -N3 srun --het-group=1 --ddp -n3 "${component[@]}"
    one_port 3
    odd "GPUs are '1 NVIDIA H100' on n2, '2 NVIDIA H100' on the other 2; $leave"
}

@test "tasks of several programs (--multi-prog): nothing is said of their nodes" {
    echo 'echo "port $RANK $MASTER_PORT"' > "$shared/port.sh"
    echo 'import os; print("port", os.environ["RANK"], os.environ["MASTER_PORT"])' > "$shared/port.py"
    printf '0 %s %s\n1-3 sh %s\n' "$PYTHON" "$shared/port.py" "$shared/port.sh" > "$shared/programs"
    attempt 30 srun --ddp "${four[@]}" --multi-prog "$shared/programs"
    even
}
