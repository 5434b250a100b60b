#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# inventory.bats - what the entries of a live step's nodes say the nodes have: the same where nothing differs, each
# difference where there is one, and no more time where a device does not answer.

load helpers

cluster=(--nodes 3 --cpus 4 --mpi pmix)

# the_roll SRUN-OPTION...: the step's roll, as JSON in $out
the_roll()
{
    attempt 30 srun --ddp --ntasks-per-node=2 --kill-on-bad-exit=0 "$@" sh -c '[ "$RANK" -ne 0 ] || {
        rollcall check --json || [ $? -eq 1 ]; }'
    succeeded
}

# has NODE [ITEM]: what the node of this number says; {} where it says nothing
has()
{
    jq -rc ".entries[$1].has // {} | ${2:-.}" "$out"
}

# alike NODE NODE: two nodes say the same
alike()
{
    [ "$(has "$1")" = "$(has "$2")" ] || explain "node $1: $(has "$1"), node $2: $(has "$2")"
}

@test "the nodes of a step say what they have, and healthy ones the same" {
    the_roll -N3
    alike 0 1
    alike 0 2
    silent
    [ "$(has 0 .kernel)" = "$(uname -r)" ]
    [[ $(has 0 .memory) =~ ^[0-9]+\ [MG]iB$ ]]
    [[ $(has 0 .nofile) =~ ^[0-9]+ ]]
    [ "$(has 0 .shm)" != null ]
    [ "$(has 0 .stack)" != null ]
}

@test "what differs on one node is in its entry" {
    local made=RC622
    on n2 mount -t tmpfs -o size=64m tmpfs /dev/shm
    on n3 sh -c 'mount -t tmpfs none /proc/driver && mkdir -p /proc/driver/nvidia/gpus/0000:01:00.0 &&
        printf "Model: \t\t NVIDIA H100 80GB HBM3\n" > /proc/driver/nvidia/gpus/0000:01:00.0/information &&
        echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19" > /proc/driver/nvidia/version'
    the_roll -N3
    on n2 umount /dev/shm
    on n3 umount /proc/driver
    [ "$(has 1 .shm)" = '64 MiB' ]
    [ "$(has 0 .shm)" = "$(has 2 .shm)" ]
    [ "$(has 0 .shm)" != '64 MiB' ]
    [ "$(has 2 .gpus)" = '1 NVIDIA H100 80GB HBM3' ]
    [ "$(has 2 .gpu_driver)" = 535.104.05 ]
    [ "$(has 0 .gpus)" = null ]
    [ "$(has 1 .gpus)" = null ]
    said "RC622: GPUs are '1 NVIDIA H100 80GB HBM3' on n3, none on the other 2;"
    said "RC622: /dev/shm has '64 MiB' on n2, '[0-9]+ [MG]iB' on the other 2;"
}

@test "a device whose files do not answer costs a step no more than the bound" {
    [ -c /dev/fuse ] || skip "this machine has no FUSE"
    # not infiniband: slurmstepd's PMIx looks there itself
    on n3 sh -c 'mount -t tmpfs none /sys/class && mkdir /sys/class/cxi'
    on n3 "$PYTHON" "$programs/deadfolder.py" /sys/class/cxi > "$BATS_TEST_TMPDIR/dead" 3>&- &
    local server=$! started
    for _ in {1..600}; do
        [ ! -s "$BATS_TEST_TMPDIR/dead" ] && kill -0 $server 2> /dev/null || break
        sleep 0.1
    done
    [ -s "$BATS_TEST_TMPDIR/dead" ] || skip "no file system of one's own can be mounted here"
    started=$SECONDS
    the_roll -N3
    # who waits there gets an error then
    on n3 kill "$(< "$BATS_TEST_TMPDIR/dead")"
    wait "$server" || true
    [ $((SECONDS - started)) -lt 50 ] || explain "it took $((SECONDS - started)) s"
    unsaid RC622
    [ "$(has 2)" = '{}' ] || explain "$(has 2)"
    alike 0 1
    [ "$(has 0 .kernel)" = "$(uname -r)" ]
}

# They are those of the node's slurmd, until Slurm puts srun's in their place.
@test "another limit of one node" {
    local made=RC622
    local daemon
    daemon=$(cat "$shared/../spool/n2.pid")
    [ "$(on n2 cat "/proc/$daemon/comm")" = slurmd ]
    on n2 prlimit --pid "$daemon" --memlock=65536:65536 --nofile=512:4096
    the_roll -N3
    alike 0 2
    [ "$(has 1 .memlock)" = '64 KiB' ] && [ "$(has 1 .nofile)" = '512 (hard limit 4096)' ] || explain "$(has 1)"
    [ "$(has 0 .memlock)" != '64 KiB' ]
    [ "$(has 0 .stack)" = "$(has 1 .stack)" ]
}
