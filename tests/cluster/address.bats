#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# address.bats - by which address the nodes reach rank 0's: a second network, names with a domain and a suffix.
#
# n1.cluster.test is 10.77.0.2 on eth0, n1-ib.cluster.test 10.78.0.2 on ib0.

load helpers

cluster=(--nodes 2 --cpus 4 --mpi pmix --domain cluster.test --fabric ib0)
alone=compared

# What the tasks of a step were told, one line for all that were told the same.
told='echo "TOLD $MASTER_ADDR ${GLOO_SOCKET_IFNAME--} ${NCCL_SOCKET_IFNAME--} ${TP_SOCKET_IFNAME--}"'

# tells WHAT SECONDS CMD...
tells()
{
    attempt "${@:2}"
    told "$1"
}

told()
{
    succeeded || return 1
    [ "$(grep '^TOLD' "$out" | sort -u)" = "TOLD $1" ] || explain "not 'TOLD $1'"
}

traffic()
{
    on n2 cat /sys/class/net/ib0/statistics/tx_bytes
}

# hosts NODE LINE...: that node alone has these names besides, until no_hosts
hosts()
{
    local node=$1
    shift
    { cat "$BATS_FILE_TMPDIR/hosts" && printf '%s\n' "$@"; } > "$shared/hosts.$node"
    on "$node" mount --bind "$shared/hosts.$node" /etc/hosts
}

no_hosts()
{
    local node
    for node; do
        on "$node" umount /etc/hosts
    done
}

setup()
{
    unless_left_out
    on n1 cat /etc/hosts > "$BATS_FILE_TMPDIR/hosts"
}

@test "without addr=: the name that Slurm has for rank 0's node, and nobody's interface" {
    tells 'n1.cluster.test - - -' 30 srun --ddp -N2 -n4 -c2 sh -c "$told"
}

@test "addr=-ib: torch trains over the network whose names end so" {
    local before after
    before=$(traffic)
    answers 'ranks world=2 nodes=2' 60 srun --ddp=addr=-ib -N2 -n2 python "$programs/torchrun_train.py"
    [ "$(roll field "$out" master)" = n1-ib.cluster.test ]
    after=$(traffic)
    # the gradients of one process and the rendezvous; a few hundred bytes are the neighbours' own talk
    [ $((after - before)) -gt 4000 ] || explain "$((after - before)) bytes over ib0"
}

@test "addr=ib0: the address of rank 0's interface, under whichever name the others know it" {
    answers 'ranks world=2 nodes=2' 60 srun --ddp=addr=ib0 -N2 -n2 python "$programs/torchrun_train.py"
    [ "$(roll field "$out" master)" = 10.78.0.2 ]
    tells '10.78.0.2 ib0 =ib0 ib0' 30 srun --ddp=addr=ib0 -N2 -n4 -c2 sh -c "$told"
}

@test "addr=CIDR: of all addresses of rank 0's name the one in that network, also where it is 127.0.1.1 on its own node" {
    tells '10.77.0.2 eth0 =eth0 eth0' 30 srun --ddp=addr=10.77.0.0/16 -N2 -n4 -c2 sh -c "$told"
    fails 30 srun --ddp=addr=10.78.0.0/16 -N2 -n4 -c2 sh -c "$told"
    said 'RC410: addr=10\.78\.0\.0/16 fits no address .*: n[12] resolves .*n1\.cluster\.test.* to 10\.77\.0\.2'
    hosts n1 '10.78.0.2 n1.cluster.test'
    hosts n2 '10.78.0.2 n1.cluster.test'
    attempt 30 srun --ddp=addr=10.78.0.0/16 -N2 -n4 -c2 sh -c "$told"
    no_hosts n1 n2
    told '10.78.0.2 ib0 =ib0 ib0'
    sed -i 's/^10.77.0.2 .*/127.0.1.1 n1.cluster.test n1/' "$BATS_FILE_TMPDIR/hosts"
    hosts n1
    attempt 30 srun --ddp=addr=10.77.0.0/16 -N2 -n4 -c2 sh -c "$told"
    no_hosts n1
    told '10.77.0.2 eth0 =eth0 eth0'
}

# leads NODE ADDRESS: there n1's name leads to that address.
leads()
{
    sed "s/^10.77.0.2 .*/$2 n1.cluster.test n1/" "$BATS_FILE_TMPDIR/hosts" > "$shared/hosts.$1"
    on "$1" mount --bind "$shared/hosts.$1" /etc/hosts
}

# agrees 'WHERE': all tasks were told rank 0's own address, and one line names those that the name leads elsewhere
agrees()
{
    told '10.77.0.2 - - -'
    said "warning RC423: MASTER_ADDR ${name:-n1\\.cluster\\.test} does not lead to rank 0's node, but to $1; all tasks use 10\\.77\\.0\\.2, "
    [ "$(grep -c 'rollcall:' "$err")" -eq 1 ] || explain "not one line"
}

@test "rank 0's name: 127.0.1.1 on its own node -> the name; on another node -> rank 0's address for all" {
    leads n1 127.0.1.1
    attempt 30 srun --ddp -N2 -n4 -c2 sh -c "$told"
    no_hosts n1
    told 'n1.cluster.test - - -'
    silent
    leads n2 127.0.1.1
    attempt 30 srun --ddp -N2 -n4 -c2 sh -c "$told"
    no_hosts n2
    agrees "'127\\.0\\.1\\.1' for tasks 2-3 on n2"
}

# bats test_tags=series
@test "rank 0's name: another machine, from the node itself, from rank 0's, a third one -> rank 0's address for all" {
    leads n2 10.77.0.3
    attempt 60 srun --ddp -N2 -n4 -c2 sh -c "$told"
    no_hosts n2
    agrees "'10\\.77\\.0\\.3' for tasks 2-3 on n2"
    leads n1 10.77.0.3
    attempt 60 srun --ddp -N2 -n4 -c2 sh -c "$told"
    no_hosts n1
    agrees "'10\\.77\\.0\\.3' for tasks 0-1 on n1"
    leads n2 10.77.0.4
    attempt 60 srun --ddp -N2 -n2 python "$programs/torchrun_train.py"
    no_hosts n2
    everybody ranks world=2 nodes=2
    said "RC423: .* '10\\.77\\.0\\.4' for task 1 on n2; all tasks use 10\\.77\\.0\\.2, "
    # one of two addresses is enough
    hosts n2 '10.77.0.4 n1.cluster.test'
    attempt 60 srun --ddp -N2 -n2 "$whoami"
    no_hosts n2
    everybody whoami world=2 nodes=2
    unsaid 'RC4'
}

# bats test_tags=series
@test "rank 0's name: one node does not know it, no node does -> rank 0's address for all; MASTER_ADDR of nobody too" {
    local nodes name
    sed -i '/ n1.cluster.test /d' "$BATS_FILE_TMPDIR/hosts"
    for nodes in 'n2' 'n1 n2'; do
        for node in $nodes; do
            hosts "$node"
        done
        attempt 60 srun --ddp -N2 -n4 -c2 sh -c "$told"
        no_hosts $nodes
        agrees "'no such name' for tasks $([ "$nodes" = n2 ] && echo 2-3 on n2 || echo '0-3 on n\[1-2\]')"
    done
    for name in oldhost 10.77.0.99; do
        attempt 60 env MASTER_ADDR="$name" srun --ddp -N2 -n4 -c2 sh -c "$told"
        agrees ".* for tasks 0-3 on n\[1-2\]"
    done
}

# bats test_tags=series
@test "rank 0's name: no name server answers -> rank 0's address trains; without an exchange one error, show and doctor" {
    local node
    sed -i '/ n1.cluster.test /d' "$BATS_FILE_TMPDIR/hosts"
    echo 'hosts: files dns' > "$shared/nsswitch.conf"
    echo 'nameserver 10.79.0.53' > "$shared/resolv.conf"
    for node in n1 n2; do
        hosts "$node"
        on "$node" mount --bind "$shared/nsswitch.conf" /etc/nsswitch.conf
        on "$node" mount --bind "$shared/resolv.conf" "$(on "$node" readlink -f /etc/resolv.conf)"
    done
    attempt 60 srun --ddp -N2 -n4 -c2 sh -c "$told"
    cp "$out" "$BATS_TEST_TMPDIR/met.out"
    cp "$err" "$BATS_TEST_TMPDIR/met.err"
    attempt 60 srun --ddp=exchange=off -K0 -N2 -n2 sh -c "$told"
    cp "$err" "$BATS_TEST_TMPDIR/alone.err"
    attempt 60 srun --mpi=none -N2 -n2 sh -c 'rollcall show; rollcall doctor'
    for node in n1 n2; do
        on "$node" umount /etc/nsswitch.conf
        on "$node" umount "$(on "$node" readlink -f /etc/resolv.conf)"
        no_hosts "$node"
    done
    [ "$(grep -c 'error RC424' "$out")" -ge 2 ] || explain "not an error of show and one of doctor"
    [ "$(grep -c 'error RC424: n[12] cannot resolve MASTER_ADDR n1.cluster.test (.*), because no name server answers; ' \
        "$BATS_TEST_TMPDIR/alone.err")" -eq 2 ] || explain "$(cat "$BATS_TEST_TMPDIR/alone.err")"
    cp "$BATS_TEST_TMPDIR/met.out" "$out"
    cp "$BATS_TEST_TMPDIR/met.err" "$err"
    status=0
    agrees "'nothing, as no name server answers' for tasks 0-3 on n\[1-2\]"
}

# bats test_tags=series
@test "rank 0's name without an exchange: to the node's own, from rank 0's own to another -> one error" {
    leads n2 10.77.0.3
    attempt 60 srun --ddp=exchange=off -K0 -N2 -n2 "$whoami"
    no_hosts n2
    failed
    said 'error RC416: n2 resolves MASTER_ADDR n1\.cluster\.test \(.*\) to itself, 10\.77\.0\.3; nothing was set; '
    [ "$(grep -c RC416 "$err")" -eq 1 ] || explain "not one line"
    leads n1 10.77.0.3
    attempt 60 srun --ddp=exchange=off -K0 -N2 -n2 "$whoami"
    no_hosts n1
    failed
    said "error RC420: rank 0's node n1 resolves MASTER_ADDR n1\\.cluster\\.test \\(.*\\) to 10\\.77\\.0\\.3, which it does not have; nothing was set; "
}

# srun ends the step with the first of its tasks that fails, and prints nothing that comes later.
# bats test_tags=all
@test "--kill-on-bad-exit=1: the line of the task that is not started is printed, in 40 of 40 runs" {
    local heard=0
    sed -i '/ n1.cluster.test /d' "$BATS_FILE_TMPDIR/hosts"
    hosts n2
    for _ in {1..40}; do
        fails 60 srun --ddp=exchange=off --kill-on-bad-exit=1 -N2 -n2 sleep 60
        [ "$(grep -c 'RC408: n2 cannot resolve' "$err")" -ne 1 ] || heard=$((heard + 1))
    done
    no_hosts n2
    [ "$heard" -eq 40 ] || explain "in $heard runs"
}

@test "addr= of an interface that is not there names those that are" {
    fails 30 srun --ddp=addr=ib7 -N2 -n4 -c2 sh -c "$told"
    said 'RC409: addr=ib7: n[12] .*eth0, ib0'
}

@test "the user's own interface stays, the others are set" {
    attempt 30 env NCCL_SOCKET_IFNAME=^docker srun --ddp=addr=-ib -N2 -n4 -c2 sh -c "$told"
    told 'n1-ib.cluster.test ib0 ^docker ib0'
}

# names_interface REGEX LINES: RC425 names that, in so many lines
names_interface()
{
    succeeded || return 1
    said "rollcall: warning RC425: $1"
    [ "$(cat "$out" "$err" | grep -c RC425)" -eq "$2" ] || explain "not $2 lines RC425"
}

@test "interface: a name that no node has -> one line for the step, of show, and of exec one a node" {
    local missing=(env GLOO_SOCKET_IFNAME=eth7 NCCL_SOCKET_IFNAME==eth7 TP_SOCKET_IFNAME=eth7)
    local words="GLOO_SOCKET_IFNAME='eth7', NCCL_SOCKET_IFNAME='=eth7', TP_SOCKET_IFNAME='eth7': n[12] has no such interface that \
is up and has an address, but eth0, ib0; .*type unset GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME TP_SOCKET_IFNAME, "
    attempt 30 "${missing[@]}" srun --ddp -N2 -n4 -c2 true
    names_interface "$words" 2
    said "rollcall: warning RC425: the same on n[12](\.cluster\.test)? as '"
    attempt 30 "${missing[@]}" srun --ddp=exchange=off -N2 -n4 -c2 true
    names_interface "$words" 2
    attempt 30 "${missing[@]}" srun -N2 -n4 -c2 rollcall exec -- true
    names_interface "$words" 2
    attempt 30 "${missing[@]}" srun -N2 -n4 -c2 rollcall show
    said "warning RC425: GLOO_SOCKET_IFNAME='eth7', "
}

@test "interface: a name that one node lacks, or that is down there -> a line that names the node" {
    local away='[ "$SLURM_NODEID" = 0 ] || export GLOO_SOCKET_IFNAME=eth7; exec rollcall exec -- true'
    attempt 30 srun -N2 -n4 -c2 sh -c "$away"
    names_interface "GLOO_SOCKET_IFNAME='eth7': n2 has no such interface " 1
    on n2 ip link set ib0 down
    attempt 30 env GLOO_SOCKET_IFNAME=ib0 NCCL_SOCKET_IFNAME=ib srun --ddp -N2 -n4 -c2 true
    on n2 ip link set ib0 up
    names_interface "GLOO_SOCKET_IFNAME='ib0', NCCL_SOCKET_IFNAME='ib': n2 has no such interface .* but eth0; " 1
}

@test "interface: names that each node has, and those that rollcall sets -> no line" {
    attempt 30 env GLOO_SOCKET_IFNAME=eth0,ib0 NCCL_SOCKET_IFNAME=^docker,lo TP_SOCKET_IFNAME=ib0 srun --ddp -N2 -n4 -c2 true
    succeeded
    unsaid RC425
    attempt 30 srun --ddp=addr=ib0 -N2 -n4 -c2 rollcall exec -- true
    succeeded
    unsaid RC425
    attempt 30 srun --ddp=addr=ib0 -N2 -n4 -c2 rollcall show
    unsaid RC425
}

@test "a step in a step does not inherit the outer one's interface" {
    tells 'n1.cluster.test - - -' 30 srun --ddp=addr=-ib -N2 -n2 -c2 sh -c \
        "[ \$SLURM_PROCID = 1 ] || exec srun --ddp --overlap -N2 -n2 sh -c '$told'"
}

@test "a site's addr= is for those who ask, and theirs goes before it" {
    local conf
    conf=$(login scontrol show config | sed -n 's/^PlugStackConfig *= //p')
    cp "$conf" "$BATS_TEST_TMPDIR/plugstack.conf"
    sed -i 's/$/ addr=-ib log=json/' "$conf"
    tells ' - - -' 30 srun -N2 -n2 sh -c "$told"
    tells 'n1-ib.cluster.test ib0 =ib0 ib0' 30 srun --ddp -N2 -n2 sh -c "$told"
    # and one line of it in the log of the first node's slurmd, none at the user's terminal
    unsaid '"event"'
    grep -o 'rollcall: {.*"nodes":2,"master_addr":"n1-ib.cluster.test",.*}' "${conf%/*}"/log/slurmd.n*.log > "$out"
    [ "$(wc -l < "$out")" -eq 1 ]
    tells '10.77.0.2 eth0 =eth0 eth0' 30 srun --ddp=addr=eth0 -N2 -n2 sh -c "$told"
    # an address of the user's own, too
    tells '10.77.0.2 - - -' 30 env MASTER_ADDR=10.77.0.2 srun --ddp -N2 -n2 sh -c "$told"
    # an error about a key that no user has typed names its source
    sed -i 's/ addr=-ib/ addr=ib7/' "$conf"
    fails 30 srun --ddp -N2 -n2 true
    said 'error RC409: addr=ib7: .*; plugstack\.conf sets addr='
    fails 30 srun --ddp=addr=ib7 -N2 -n2 true
    unsaid 'plugstack\.conf'
    cp "$BATS_TEST_TMPDIR/plugstack.conf" "$conf"
}

# spank_rollcall(8), INSTALLATION: how to switch it on for a partition.

asked='echo "ASKED ${RANK--} of ${WORLD_SIZE--}"'

@test "spank_rollcall(8): job_submit.lua for a partition" {
    local conf lua=${root:-}/usr/lib/x86_64-linux-gnu/slurm-wlm/job_submit_lua.so
    [ -e "$lua" ] || skip "this Slurm has no job_submit/lua"
    conf=$(dirname "$(login scontrol show config | sed -n 's/^PlugStackConfig *= //p')")
    awk -v mark=lua -f "$tree/tests/examples.awk" "$ROLLCALL_PREFIX/share/man/man8/spank_rollcall.8" > "$conf/job_submit.lua"
    [ -s "$conf/job_submit.lua" ]
    cp "$conf/slurm.conf" "$BATS_TEST_TMPDIR/slurm.conf"
    printf '%s\n' JobSubmitPlugins=lua 'PartitionName=gpu Nodes=ALL State=UP' >> "$conf/slurm.conf"
    login scontrol reconfigure
    batch 30 -p gpu -N2 -n4 <<< "srun -N2 -n4 sh -c '$asked'"
    succeeded
    [ "$(grep ASKED "$out" | sort | paste -sd,)" = 'ASKED 0 of 4,ASKED 1 of 4,ASKED 2 of 4,ASKED 3 of 4' ] ||
        explain "the partition's job was not asked"
    batch 30 -p gpu -n2 <<< "srun --ddp=off -n2 sh -c '$asked'"
    [ "$(grep ASKED "$out" | sort -u)" = 'ASKED - of -' ] || explain "--ddp=off does not win"
    batch 30 -n2 <<< "srun -n2 sh -c '$asked'"
    [ "$(grep ASKED "$out" | sort -u)" = 'ASKED - of -' ] || explain "another partition's job was asked"
    # the default partition, of a job without -p
    sed -i -E 's/^(PartitionName=.*) Default=YES/\1/; s/^PartitionName=gpu .*/& Default=YES/' "$conf/slurm.conf"
    login scontrol reconfigure
    batch 30 -n2 <<< "srun -n2 sh -c '$asked'"
    [ "$(grep ASKED "$out" | sort | paste -sd,)" = 'ASKED 0 of 2,ASKED 1 of 2' ] ||
        explain "a job of the default partition was not asked"
    cp "$BATS_TEST_TMPDIR/slurm.conf" "$conf/slurm.conf"
    login scontrol reconfigure
}

@test "rollcall exec under mpirun: the same three kinds" {
    tells '10.78.0.2 ib0 =ib0 ib0' 30 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec --ddp=addr=ib0 -- sh -c "$told"
    tells 'n1-ib.cluster.test ib0 =ib0 ib0' 30 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node -x ROLLCALL=addr=-ib rollcall exec -- sh -c "$told"
    # without Slurm it may know no name of the node, but an address, which lies in a network as well
    from=n1 attempt 30 mpirun "${over_rsh[@]}" -np 4 rollcall exec --ddp=addr=10.77.0.0/16 -- sh -c "$told"
    told '10.77.0.2 eth0 =eth0 eth0'
}

@test "the preload: a suffix, and an honest refusal of the rest" {
    tells 'n1-ib.cluster.test - - -' 30 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node -x LD_PRELOAD="$preload" -x ROLLCALL=addr=-ib sh -c "$told"
    tells ' - - -' 30 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node -x LD_PRELOAD="$preload" -x ROLLCALL=addr=ib0 sh -c "$told"
    said 'RC413: addr=ib0 '
}
