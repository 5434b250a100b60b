#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# doctor.bats - rollcall doctor in steps of a real Slurm: nothing on a healthy one, and what is wrong with others.

load helpers
load faults

setup_file()
{
    needs_root || return 0
    faults_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
}

# finds N 'LINE': N of the different reports have this verdict
finds()
{
    [ "$(grep -cxF "verdict   $2" "$out")" -eq "$1" ] || explain "no $1 verdicts '$2'"
}

# bats test_tags=series
@test "healthy steps, from each task, and the login node: nothing is found" {
    succeeds 60 srun --ddp -N2 --ntasks-per-node=2 --gpus-per-node=2 rollcall doctor
    finds 1 'nothing found'
    said '^ranks 0-3 on n\[1-2\]:$'
    unsaid '^roll '
    unsaid 'D[0-9]|RC[0-9]'
    succeeds 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 rollcall doctor
    finds 1 'nothing found'
    succeeds 30 rollcall doctor
    said '^Slurm +[0-9.]+, with --ddp, --mpi: .*none'
}

# bats test_tags=series
@test "what is wrong with a step" {
    fails 60 env NCCL_SOCKET_IFNAME=ib srun --ddp -N2 -n3 rollcall doctor
    finds 2 '2 warnings; begin with RC301'
    said '^warning RC425'
    # the port is held by rank 0's task and somebody drops what comes for it
    fails 60 srun --ddp -N2 --ntasks-per-node=1 sh -c '
        [ "$RANK" = 1 ] || exec rollcall doctor
        ip route add blackhole "$(getent ahostsv4 "$MASTER_ADDR" | { read -r address rest; echo "$address"; })/32"
        rollcall doctor
        ip route flush type blackhole
        exit 1'
    finds 1 '1 error; begin with D207'
    said '^rank 1 on n2:$'
}

# bats test_tags=series
@test "another version of rollcall on one node" {
    changes 's/^version=.*/version=0.0.9/' n2
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 rollcall doctor
    faults_end
    failed
    finds 1 '1 warning; begin with RC608'
}

# bats test_tags=all,newest
@test "a firewall that drops, and one that looks like a port that is only held" {
    local ports=(-p tcp --dport 20001:20400 -j)
    needs_firewall
    firewall n1 -A INPUT "${ports[@]}" REJECT --reject-with tcp-reset
    attempt 60 srun --ddp=port=20001-20400 -N2 --ntasks-per-node=2 rollcall doctor
    firewall n1 -F
    succeeded
    finds 1 'nothing found'
    firewall n1 -A INPUT "${ports[@]}" DROP
    attempt 60 srun --ddp=port=20001-20400 -N2 --ntasks-per-node=2 rollcall doctor
    firewall n1 -F
    failed
    finds 1 '1 error; begin with D207'
    said 'cannot be reached from here'
}

# bats test_tags=series
@test "a job script, and the --mpi that its srun does not have" {
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=2' 'srun --ddp --mpi=pmix_v99 python train.py' > "$shared/job.sh"
    fails 30 rollcall doctor --script "$shared/job.sh"
    said "^error D105  $shared/job.sh:3"
    finds 1 "1 error; begin with D105, $shared/job.sh:3; not all was looked at"
}

# bats test_tags=series
@test "--nodes names each node that is not as the others, and what is wrong there" {
    local conf old release other series libexec=$ROLLCALL_PREFIX/libexec/rollcall
    cluster_down
    cluster_up --nodes 13 --cpus 2
    old=$shared/old
    release=$(cat "$tree/VERSION")
    other=$(tr 0-9 1-90 <<< "$release")
    series=$(login srun --version | sed -nE "s/.* ([0-9]+\.[0-9]+).*/\1/p")
    conf=$(login scontrol show config | sed -n 's/^PlugStackConfig *= //p')
    mkdir -p "$old/bin" "$old/none"
    # of another release and of another Slurm, by their text
    sed "s/${release//./\\.}/$other/g" "$ROLLCALL_PREFIX/bin/rollcall" > "$old/bin/rollcall"
    sed "s/${release//./\\.}/$other/g" "$plugin_file" > "$old/rollcall.so"
    sed 's/plugin for Slurm [0-9.]*/plugin for Slurm 20.02/' "$plugin_file" > "$old/20.02.so"
    touch "$old/plugstack.conf"
    # another build of the program, and one that is cut off
    { cat "$libexec/rollcall-map"; echo; } > "$old/map"
    head -c 9000 "$libexec/rollcall-map" > "$old/half"
    cp "$libexec/rollcall-exchange" "$old/closed"
    chmod 755 "$old/bin/rollcall" "$old/map" "$old/half"
    chmod 000 "$old/closed"
    on n2 mount --bind "$old/plugstack.conf" "$conf"
    on n3 mount --bind "$old/20.02.so" "$plugin_file"
    on n4 sh -c 'mount --bind "$1/rollcall.so" "$2" && mount --bind "$1/bin" "$3"' sh "$old" "$plugin_file" "$ROLLCALL_PREFIX/bin"
    on n5 mount --bind "$old/none" "$ROLLCALL_PREFIX/libexec"
    on n6 mount --bind "$old/none" "$ROLLCALL_PREFIX/bin"
    echo "optional $plugin_file off=ranks are wrong; ask hpc" > "$old/off.conf"
    on n7 mount --bind "$old/off.conf" "$conf"
    echo "optional $plugin_file addr=-ib" > "$old/words.conf"
    printf 'optional %s\n' "$plugin_file" "$plugin_file" > "$old/twice.conf"
    echo "optional $plugin_file port=80" > "$old/slip.conf"
    for node in n8:words n9:words n10:twice n13:slip; do
        on "${node%:*}" mount --bind "$old/${node#*:}.conf" "$conf"
    done
    on n9 mount --bind "$old/map" "$libexec/rollcall-map"
    on n11 mount --bind "$old/closed" "$libexec/rollcall-exchange"
    on n12 mount --bind "$old/half" "$libexec/rollcall-map"
    attempt 60 sh -c 'srun -N13 rollcall doctor --here | rollcall doctor --nodes --json'
    failed
    jq -r '.looked_at[] | "\(.name): \(.text)"' "$out" > "$BATS_TEST_TMPDIR/said"
    # a program that is cut off ends by one signal or another
    jq -r '.findings[] | "\(.id) \(.what)"' "$out" | sed 's/signal [0-9]*$/signal N/' | LC_ALL=C sort >> "$BATS_TEST_TMPDIR/said"
    diff -u - "$BATS_TEST_TMPDIR/said" << LINES
nodes: 12 have answered
right: 1 node: rollcall $release, plugin $release for Slurm $series, $plugin_file
D103 n3: $plugin_file was built for Slurm 20.02, and Slurm is $series
D109 n2: $conf does not name the plugin
D110 n11: $libexec/rollcall-exchange, which the plugin starts, cannot be run: Permission denied (mode 0000)
D110 n12: $libexec/rollcall-map, which the plugin starts, is ended by signal N
D110 n5: $libexec/rollcall-exchange, which the plugin starts, is not there
D111 n4: rollcall $other, plugin $other for Slurm $series, $plugin_file; here is rollcall $release
D112 n6: no line of rollcall doctor --here has come
D113 n7: $conf says off=ranks are wrong; ask hpc
D116 n13: the line has port=80; that of this host has no words
D116 n8,n9: the line has addr=-ib; that of this host has no words
D117 n5: not the files of this host: rollcall-exchange (missing), rollcall-map (missing), rollcall-pmix (missing)
D117 n9,n12: not the files of this host: rollcall-map
RC202 n13: $conf:1: port='80' is no port; use a number from 1024 to 65535 (port=23456) or a range (port=23000-23999)
RC209 n10: $conf:1 and $conf:2 name the plugin; the second line does nothing; remove one of them
LINES
}
