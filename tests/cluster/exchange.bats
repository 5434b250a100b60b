#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# exchange.bats - the nodes of a step meet before its tasks start; what may go wrong then, and what is said.
#
# What nodes say of each other: faults.bats. Many steps at once: concurrent.bats.

load helpers
load faults

setup_file()
{
    needs_root || return 0
    # a Slurm that has no PMIx is told so by cluster_up
    faults_up --nodes 3 --cpus 32 --mpi pmix
}

teardown()
{
    [ -z "${left_out:-}" ] || return 0
    faults_end
    login scancel --user="$(id -un)"
}

# bats test_tags=series
@test "all tasks have the port that RANK 0 holds, over each transport" {
    local transport
    for transport in $transports; do
        attempt 60 srun "--ddp=exchange=$transport" -N3 --ntasks-per-node=4 sh -c '
            echo "port $RANK $MASTER_PORT"
            [ "$RANK" -ne 0 ] || python -c "
import socket, sys
s = socket.socket()
try:
    s.bind((\"\", int(sys.argv[1])))
except OSError as error:
    print(error)
" "$MASTER_PORT"'
        one_port 12
        said 'Address already in use'
        silent
    done
    nothing_remains
}

@test "a node of a step starts each helper once: monitor, look-up, inventory" {
    local node
    helper_is rollcall-exchange n1 n2 <<< "echo \$1 >> $shared/started.\$(hostname); exec \$real \"\$@\""
    meets 4 30 --ddp=exchange=srun -N2 -n4
    for node in n1 n2; do
        sort "$shared/started.$node" | diff - <(printf '%s\n' inventory lookup monitor) || explain "not these of $node"
    done
}

# bats test_tags=series
@test "without PMIx, with uneven nodes and ranks in another order" {
    meets 7 60 --ddp --mpi=none -N3 -n7
    meets 6 60 --ddp=order=node -N3 -n6 -m cyclic
    meets 2 60 --ddp --export=NONE -N2 -n2
    silent
}

# The terminal is the first task's, and what the others print is nobody's.
@test "--pty, over each transport" {
    local transport
    for transport in $transports; do
        rm -rf "$shared/pty"
        mkdir "$shared/pty"
        echo 'echo "port $RANK $MASTER_PORT" > "$1/$RANK"; [ "$RANK" -ne 0 ] || tty' > "$shared/pty.sh"
        attempt 60 python -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
            srun --pty "--ddp=exchange=$transport" -N3 -n3 sh "$shared/pty.sh" "$shared/pty"
        said '/dev/pts/[0-9]'
        unsaid rollcall
        cat "$shared/pty"/* >> "$out"
        one_port 3
    done
    nothing_remains
}

@test "torch trains over each transport, with both stores, also as a child of the task" {
    USE_LIBUV=0 answers 'ranks world=2 nodes=2' 70 srun --ddp=exchange=srun -N2 -n2 python "$programs/env.py"
    attempt 70 srun "--ddp=exchange=${transports##* }" -N2 -n2 sh -c 'python "$0"; exit $?' "$programs/env.py"
    everybody ranks world=2 nodes=2
}

# What torch finds out after its timeout only. A firewall that resets is as a port that is held.
# bats test_tags=newest
@test "a firewall between two nodes: the one that cannot reach RANK 0's port is named before its program starts" {
    local rule words transport launch
    needs_firewall
    for transport in $transports exec; do
        launch=(srun "--ddp=exchange=$transport,port=20001-20400" -N3 --ntasks-per-node=2)
        if [ "$transport" = exec ]; then
            [ "$mpi" = pmix ] || continue
            launch=(srun -N3 --ntasks-per-node=2 rollcall exec --ddp=port=20001-20400 --)
        fi
        while read -r words rule; do
            # shellcheck disable=SC2086
            firewall n1 -A INPUT -s 10.77.0.3 -p tcp --dport 20001:20400 -j $rule
            attempt 60 "${launch[@]}" sh -c 'echo "port $RANK $MASTER_PORT"; echo "started $RANK" >&2'
            firewall n1 -F
            one_port 6
            if [ "$words" = - ]; then
                unsaid RC
            else
                said "warning RC422: n2 cannot reach port 20[0-4][0-9][0-9] of MASTER_ADDR n1 \\(.*\\), at 10\\.77\\.0\\.2: ${words//_/ }; the tasks start; "
                [ "$(grep -c RC "$err")" -eq 1 ] || explain "not one line"
                sed -n '/RC422/,$p' "$err" | grep -qx 'started 2' || explain "the program was faster"
            fi
        done <<< 'Connection_timed_out DROP
a_firewall_rejects_it REJECT
No_route_to_host REJECT --reject-with icmp-admin-prohibited
- REJECT --reject-with tcp-reset'
    done
    nothing_remains
}

# take PORT NODE: a program that has the port there, with the process id $taker.
take()
{
    on "$2" timeout 500 python -c '
import socket, sys, time
s = socket.socket()
s.bind(("", int(sys.argv[1])))
s.listen()
print("bound", flush=True)
time.sleep(500)' "$1" > "$BATS_TEST_TMPDIR/taken" 3>&- &
    taker=$!
    until grep -q bound "$BATS_TEST_TMPDIR/taken"; do
        kill -0 $taker
        sleep 0.1
    done
}

@test "port=: a taken one of a range is passed over, and all taken is an error" {
    meets 3 60 --ddp=port=24001 -N3 -n3
    said '^port 0 24001$'
    take 24001 n1
    # steps begin at one or the other of the two, by their numbers
    for _ in 1 2 3 4; do
        meets 3 60 --ddp=port=24001-24002 -N3 -n3
        said '^port 0 24002$'
    done
    step 60 --ddp=port=24001,deadline=2 -N3 -n3
    kill $taker
    wait $taker || true
    failed
    said 'error RC405: port 24001 of n1 is taken by pid [0-9]+ \(python'
}

@test "a port that another node has taken is no matter" {
    take 24003 n2
    step 60 --ddp=port=24003 -N3 -n3
    kill $taker
    wait $taker || true
    one_port 3
}

@test "srun's server is gone: the port is computed, and that is said" {
    at_server n1 'exit 1'
    from=n1 meets 2 60 --ddp=exchange=srun -N2 -n2
    said 'warning RC611: the nodes could not reach each other: Connection refused; '
    nothing_remains
}

@test "srun's server hangs: no node starts, and each says so after the deadline" {
    rm -f "$shared/stopped"
    at_server n1 "echo \$\$ > $shared/stopped; kill -STOP \$\$"
    # -K0: the first one to fail would end the step before the other has said it
    from=n1 step 60 --ddp=exchange=srun,deadline=1 -K0 -N2 -n2
    on n1 sh -c 'kill -CONT $(cat "$0")' "$shared/stopped"
    failed
    unsaid '^port '
    said 'error RC613: n1 received no answer from the other nodes, which may start without it: Connection timed out; '
    said 'error RC613: n2 received no answer from the other nodes, which may start without it: Connection timed out; '
    nothing_remains
}

@test "PMIx's library is none, or another one: the port is computed, and that is said" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    local library
    mkdir -p "$shared/broken" "$shared/other"
    : > "$shared/broken/libpmix.so.2"
    library=$(login sh -c 'ls /lib/*/libz.so.1 /usr/lib/*/libz.so.1 2> /dev/null | head -n 1')
    login cp -L "$library" "$shared/other/libpmix.so.2"
    helper_is rollcall-pmix n1 n2 <<< 'LD_LIBRARY_PATH='"$shared/broken"' exec $real "$@"'
    meets 2 60 --ddp=exchange=pmix -N2 -n2
    said 'warning RC611: the nodes could not reach each other: PMIx: library file too short; '
    helper_is rollcall-pmix n1 n2 <<< 'LD_LIBRARY_PATH='"$shared/other"' exec $real "$@"'
    meets 2 60 --ddp=exchange=pmix -N2 -n2
    said 'warning RC611: the nodes could not reach each other: PMIx: library .*PMIx'
    nothing_remains
}

@test "PMIx's library is not there: the port is computed, and that is said" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    helper_is rollcall-pmix n1 n2 <<< 'file=$(readlink -f /usr/lib/*/libpmix.so.2)
        exec unshare -m sh -c "mount -t tmpfs none ${file%/*} && exec \"\$@\"" sh $real "$@"'
    meets 2 60 --ddp=exchange=pmix -N2 -n2
    said 'warning RC611: the nodes could not reach each other: PMIx: library cannot open shared object file: No such file or directory; '
    nothing_remains
}

@test "the PMIx server is gone: the port is computed, and that is said" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    # nobody listens at port 1
    helper_is rollcall-pmix n1 n2 <<< 'for name in $(env | sed -n "s/^\(PMIX_SERVER_URI[0-9]*\)=.*/\1/p"); do
            eval "export $name=\"\$(echo "\$$name" | sed "s/:[0-9]*\$/:1/")\""
        done
        exec $real "$@"'
    meets 2 60 --ddp=exchange=pmix,deadline=5 -N2 -n2
    said 'warning RC611: the nodes could not reach each other: PMIx: server PMIx_Init: [A-Z_]*UNREACH'
    nothing_remains
}

@test "the PMIx server does not answer: the port is computed, and that is said" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    helper_is rollcall-pmix n1 n2 <<< 'unset $(env | sed -n "s/^\(PMIX_SERVER[A-Z0-9_]*\)=.*/\1/p"); exec $real "$@"'
    meets 2 60 --ddp=exchange=pmix,deadline=5 -N2 -n2
    said 'warning RC611: the nodes could not reach each other: PMIx: server '
    nothing_remains
}

# A thousand idle connections, garbage and a wrong token, all before one node's entry and until it has its answer.
@test "strangers at srun's server keep nobody from his answer" {
    cat > "$shared/strangers.py" <<'PYTHON'
import os, resource, socket, time
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, limits[1]))
token, port, step = os.environ["SLURM_ROLLCALL_SERVER"].encode().split()
host = os.environ["SLURM_LAUNCH_NODE_IPADDR"]
def call(text=b""):
    s = socket.create_connection((host, int(port)), timeout=60)
    s.sendall(text)
    return s
wrong = bytes(reversed(token))
for text in b"GET / HTTP/1.1\r\n\r\n" * 8, b"\xff" * 4096, b"rollcall 1 " + wrong + b" 7\nroll=1\n":
    try:
        assert call(text).recv(1) == b"", "a stranger was answered"
    except ConnectionResetError:
        pass
idle = [call() for _ in range(1000)]
print("STRANGERS=%d" % len(idle), flush=True)
if os.fork() == 0:
    os.dup2(os.open("/dev/null", os.O_RDWR), 1)
    time.sleep(20)
PYTHON
    inject n2 <<< "exec '$PYTHON' $shared/strangers.py"
    attempt 90 srun --ddp=exchange=srun,deadline=30 -N3 -n3 sh -c 'echo "port $RANK $MASTER_PORT"; echo "strangers $STRANGERS"'
    one_port 3
    said '^strangers 1000$'
    silent
    nothing_remains
}

@test "a node that comes after the deadline gets the answer that the others got" {
    inject n2 <<< 'sleep 6'
    meets 2 60 --ddp=exchange=srun,check=off,deadline=2 -N2 -n2
    unsaid RC6
}

# Packets to these addresses of n1 go to a card that nobody has. One second each is longer than the nodes wait for a
# connection.
@test "PMIx: seven addresses of rank 0's node that packets do not reach, before the one that they reach -> all meet" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    local node
    on n1 sh -c 'address=$(ip -4 -o addr show dev eth0 | awk "{ print \$4 }") && ip addr del "$address" dev eth0
        for i in 1 2 3 4 5 6 7; do ip addr add "10.99.0.$i/32" dev eth0; done
        ip addr add "$address" dev eth0'
    for node in n2 n3; do
        on $node sh -c 'ip route add 10.99.0.0/24 dev eth0
            for i in 1 2 3 4 5 6 7; do ip neigh add "10.99.0.$i" lladdr 02:00:00:00:00:99 dev eth0 nud permanent; done'
    done
    step 60 --ddp=exchange=pmix,deadline=4 -N3 -n3
    on n1 sh -c 'for i in 1 2 3 4 5 6 7; do ip addr del "10.99.0.$i/32" dev eth0; done'
    for node in n2 n3; do
        on $node sh -c 'ip route del 10.99.0.0/24; ip neigh flush dev eth0 nud permanent'
    done
    one_port 3
    unsaid 'rollcall: '
    nothing_remains
}

# begin SRUN-ARGUMENT...: a step whose tasks wait; $srun is srun's process id in the cluster, $pid the waiting one's here.
begin()
{
    local tries
    rm -f "$shared/srun"
    : > "$out"
    login sh -c 'echo $$ > "$0"; exec env --default-signal=INT "$@"' "$shared/srun" \
        srun "$@" sh -c 'echo here; exec sleep 100' > "$out" 2> "$err" 3>&- < /dev/null &
    pid=$!
    for tries in {1..300}; do
        [ "$(grep -c here "$out")" -lt 2 ] || break
        sleep 0.1
    done
    status=0
    [ "$tries" -lt 300 ] || explain "the tasks do not start" || return 1
    srun=$(cat "$shared/srun")
}

@test "the server is beside srun as long as srun is there, however that ends" {
    local signal
    for signal in TERM KILL INT; do
        begin --ddp=exchange=srun --quit-on-interrupt -N2 -n2
        # it, and on each node the monitor of the step's signals
        [ "$(count_helpers)" -eq 3 ] || explain "$(count_helpers) processes of rollcall's" || return 1
        login kill "-$signal" "$srun"
        wait "$pid" || true
        nothing_remains
        login scancel --user="$(id -un)"
    done
}

@test "the server has nothing of srun's: no terminal, no session, no descriptors" {
    begin --ddp=exchange=srun -N2 -n2
    # its session, its own; no terminal; standard streams, socket, pipe and epoll
    login sh -c 'for process in /proc/[0-9]*; do
            [ "$(cat "$process/comm" 2> /dev/null)" = rollcall-exchan ] || continue
            sed "s/.*) //" "$process/stat" | cut -d" " -f 4,5 | sed "s|^${process#/proc/} 0$|alone|"
            ls "$process/fd" | wc -l
        done' > "$BATS_TEST_TMPDIR/server"
    login kill -TERM "$srun"
    wait "$pid" || true
    printf '%s\n' alone 6 | diff - "$BATS_TEST_TMPDIR/server"
}

# bats test_tags=series
@test "srun's exit status is its tasks', with a server or without" {
    attempt 60 srun --ddp=exchange=srun -N2 -n2 sh -c 'exit 7'
    [ "$status" -eq 7 ] || explain "status $status"
    attempt 60 srun --ddp=exchange=srun -N2 -n2 /nowhere/program
    [ "$status" -eq 2 ] || explain "status $status"
    nothing_remains
}

# bats test_tags=series
@test "a step inside a step has a server of its own, or none" {
    attempt 90 salloc -N2 --ntasks-per-node=2 srun --overlap --ddp -N2 -n2 sh -c '
        [ "$SLURM_PROCID" -eq 0 ] || exit 0
        echo "outer <$SLURM_ROLLCALL_SERVER>"
        srun --overlap --ddp=exchange=srun -N2 -n2 sh -c "echo \"port \$RANK \$MASTER_PORT\""
        srun --overlap -N2 -n2 sh -c "echo \"plain <\$SLURM_ROLLCALL_SERVER>\""
        srun --overlap --ddp=exchange=off -N2 -n2 sh -c "echo \"off <\$SLURM_ROLLCALL_SERVER>\""'
    one_port 2
    [ "$(grep -cE '^(plain|off) <>$' "$out")" -eq 4 ] || explain "an outer step's server is still there"
    unsaid RC6
    nothing_remains
}

@test "a step of several het components does without srun's server" {
    attempt 60 srun --mpi=none --ddp -N1 -n1 sh -c 'echo "port $RANK $MASTER_PORT"' : \
        --ddp -N2 -n2 sh -c 'echo "port $RANK $MASTER_PORT"'
    one_port 3
    unsaid RC611
    nothing_remains
}

# bats test_tags=series
@test "MASTER_ADDR of the job's first component: step of another component -> the host of its rank 0, with --ddp and exec" {
    local how
    for how in 'srun --het-group=1 --ddp -n2' 'srun --het-group=1 --mpi=none -n2 rollcall exec --'; do
        # shellcheck disable=SC2086
        attempt 60 env MASTER_ADDR=n1 salloc -w n1 -N1 : -w 'n[2-3]' -N2 $how sh -c 'echo "ADDR $MASTER_ADDR"'
        succeeded
        [ "$(grep -c '^ADDR n2$' "$out")" -eq 2 ] || explain "$how: not n2 twice"
        said 'RC402: MASTER_ADDR was .n1., but rank 0 is on n2; it is n2 now; unset it'
        unsaid RC209
    done
    for how in 'srun --het-group=0,1 --ddp' 'srun --het-group=0,1 --mpi=none rollcall exec --'; do
        # shellcheck disable=SC2086
        # the srun of 22.05 for several components does not end in 3 of 12 steps on a busy machine, --ddp or not
        attempt 5 env MASTER_ADDR=n1 salloc -w n1 -N1 : -w 'n[2-3]' -N2 $how sh -c 'echo "ADDR $MASTER_ADDR"'
        [ "$(grep -c '^ADDR n1$' "$out")" -eq 3 ] || explain "$how: not n1 three times"
        unsaid 'RC40'
        unsaid RC209
    done
}
