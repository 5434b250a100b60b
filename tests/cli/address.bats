#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The address of rank 0's node: names that the resolver knows, does not know, or has no answer for; addr=.

load helper

named=('SLURM_STEP_NODELIST=n[1-2]')

@test "a name that does not resolve: one line with the name and the node, and the command is not run" {
    fails_with 1 "$(uname -n) cannot resolve MASTER_ADDR n1 (first host of SLURM_STEP_NODELIST); the command is not run" \
        with_names '192.0.2.2 n2' "${task_3[@]}" "${named[@]}" "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    grep -q '^rollcall: error RC408: ' "$BATS_TEST_TMPDIR/err"
    [ ! -e "$BATS_TEST_TMPDIR/ran" ]
    prints '3 4 1 2 1 n1 ' with_names '192.0.2.1 n1' \
        "${task_3[@]}" "${named[@]}" "$rollcall" exec -- sh -c "$print_names"
}

@test "no name server answers: one error after some seconds, and the command is not run" {
    # loopback takes packets for addresses that are not its own, and drops them
    local drop='ip link set lo up && ip route add 192.0.2.0/24 dev lo'
    for before in : "$drop"; do
        resolver=dns run -1 --separate-stderr with_names '' RES_OPTIONS='timeout:4 attempts:1' \
            "${task_3[@]}" "${named[@]}" "$rollcall" exec -- sh -c "$print_names"
        [ "${#stderr_lines[@]}" = 1 ]
        [[ $stderr == "rollcall: error RC424: $(uname -n) cannot resolve MASTER_ADDR n1 ("*"because no name server answers; the command is not run; "* ]]
    done
}

@test "localhost that does not resolve: loopback" {
    local alone=("${task_0[@]}" SLURM_STEP_NUM_NODES=1 SLURM_NNODES=1 'SLURM_STEP_TASKS_PER_NODE=4'
        SLURM_GTIDS=0,1,2,3 SLURM_STEP_NODELIST=localhost)
    prints '0 4 0 4 0 localhost ' \
        with_names '' "${alone[@]}" "$rollcall" exec --ddp=exchange=off -- sh -c "$print_names"
    before='echo > /etc/hosts'
    run -0 --separate-stderr with_names '' "${alone[@]}" "$rollcall" exec -v --ddp=exchange=off -- sh -c "$print_names"
    [ "$output" = '0 4 0 4 0 127.0.0.1 ' ]
    [[ $stderr == *RC414*localhost*127.0.0.1* ]]
}

@test "a MASTER_ADDR that was there before: an old one is an error, the launch's own name is not looked up" {
    run -1 --separate-stderr with_names '192.0.2.2 n2' \
        "${task_3[@]}" "${named[@]}" MASTER_ADDR=later.example.org "$rollcall" exec -- sh -c "$print_names"
    [ -z "$output" ]
    [[ $stderr == *RC408*later.example.org* ]]
    prints '3 4 1 2 1 n1 ' with_names '192.0.2.2 n2' \
        "${task_3[@]}" "${named[@]}" MASTER_ADDR=n1 "$rollcall" exec -- sh -c "$print_names"
}

@test "all tasks on a node that does not know its own name: loopback" {
    local alone=("${task_0[@]}" SLURM_STEP_NUM_NODES=1 SLURM_NNODES=1 'SLURM_STEP_TASKS_PER_NODE=4'
        SLURM_GTIDS=0,1,2,3 SLURM_STEP_NODELIST=n1)
    run -0 --separate-stderr with_names '192.0.2.2 n2' "${alone[@]}" "$rollcall" exec -v -- sh -c "$print_names"
    [ "$output" = '0 4 0 4 0 127.0.0.1 ' ]
    [[ $stderr == *RC414*n1*127.0.0.1* ]]
}

@test "addr=SUFFIX: short names, names with a domain" {
    prints '3 4 1 2 1 n1-ib ' with_names '192.0.2.1 n1-ib' \
        "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=-ib -- sh -c "$print_names"
    prints '3 4 1 2 1 n1-ib.example.org ' with_names '192.0.2.1 n1-ib.example.org' \
        "${task_3[@]}" 'SLURM_STEP_NODELIST=n[1-2].example.org' ROLLCALL=addr=-ib "$rollcall" exec -- sh -c "$print_names"
    prints '3 4 1 2 1 n1.hsn ' with_names '192.0.2.1 n1.hsn' \
        "${task_3[@]}" 'SLURM_STEP_NODELIST=n[1-2].example.org' "$rollcall" exec --ddp=addr=.hsn -- sh -c "$print_names"
    fails_with 1 'cannot resolve MASTER_ADDR n1-ib (addr=-ib, of first host of SLURM_STEP_NODELIST)' \
        with_names '192.0.2.1 n1' "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=-ib -- true
    # srun hands on what is set; mpirun would have to be told (show.bats)
    fails_with 1 'or pass the name: MASTER_ADDR=HOST' \
        with_names '192.0.2.1 n1' "${task_3[@]}" "$rollcall" exec --ddp=addr=-ib -- true
}

@test "addr=CIDR: the lowest address in the network, of either family" {
    local known=$'192.0.2.1 n1\n198.51.100.9 n1\n198.51.100.7 n1\n2001:db8::7 n1' network addr
    while read -r network addr; do
        prints "3 4 1 2 1 $addr " with_names "$known" \
            "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr="$network" -- sh -c "$print_names"
    done <<< $'198.51.100.0/24 198.51.100.7\n192.0.2.0/24 192.0.2.1\n198.51.100.9/32 198.51.100.9\n2001:db8::/32 2001:db8::7'
    fails_with 1 "RC410: addr=203.0.113.0/24 fits no address of rank 0's node: " \
        with_names "$known" "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=203.0.113.0/24 -- true
    # for a network an answer is needed
    resolver=dns fails_with 1 "RC424: " \
        with_names '' "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=203.0.113.0/24 -- true
}

@test "addr=IFNAME that is not there" {
    fails_with 1 'RC409: addr=ib0: ' \
        with_names '192.0.2.1 n1' "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=ib0 -- true
}

@test "addr=IFNAME after a thousand addresses of containers, on rank 0's node and on another one" {
    before='{ echo link add veth0 type veth peer name veth1
            for i in $(seq 1000); do echo "addr add 172.$((16 + i / 250)).$((i % 250)).1/32 dev veth0"; done
            echo link add ib0 type veth peer name ib1
            echo addr add 198.51.100.7/24 dev ib0
            echo link set ib0 up
        } | ip -batch -'
    prints '3 4 1 2 1 198.51.100.9 ' with_names '198.51.100.9 n1' \
        "${task_3[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=ib0 -- sh -c "$print_names"
    prints '0 4 0 2 0 198.51.100.7 ' with_names '127.0.1.1 n1' \
        "${task_0[@]}" "${named[@]}" "$rollcall" exec --ddp=addr=ib0,exchange=off -- sh -c "$print_names"
}

@test "on one node addr= changes nothing" {
    local alone=("${task_0[@]}" SLURM_STEP_NUM_NODES=1 SLURM_NNODES=1 'SLURM_STEP_TASKS_PER_NODE=4'
        SLURM_GTIDS=0,1,2,3 SLURM_STEP_NODELIST=n1)
    for addr in ib0 -ib 203.0.113.0/24; do
        prints '0 4 0 4 0 n1 ' with_names '192.0.2.1 n1' \
            "${alone[@]}" "$rollcall" exec --ddp=addr="$addr" -- sh -c "$print_names"
    done
}

@test "values of addr= that are none are wrong usage" {
    for bad in addr= addr=lo addr=- addr=10.1.0.1 addr=10.1.0.0/33 addr=::1/128 addr=a:b addr=ib0,addr=ib1; do
        fails_with 2 "--ddp: addr=" "$rollcall" exec --ddp="$bad" -- true
        fails_with 1 "ROLLCALL: addr=" with "${task_3[@]}" ROLLCALL=$bad "$rollcall" exec -- true
    done
}

@test "show looks up what addr= asks for, in its own environment but not in a recorded one" {
    run -0 with_names $'192.0.2.1 n1\n198.51.100.7 n1' \
        "${task_3[@]}" "${named[@]}" "$rollcall" show --json --ddp=addr=198.51.100.0/24
    [ "$(jq -r '.master.addr, .set.MASTER_ADDR' <<< "$output" | xargs)" = '198.51.100.7 198.51.100.7' ]
    run -1 with_names '192.0.2.1 n1' \
        "${task_3[@]}" "${named[@]}" "$rollcall" show --json --ddp=addr=198.51.100.0/24
    [ "$(jq -r '.messages[0].id, .set.RANK' <<< "$output" | xargs)" = 'RC410 null' ]
    with "${task_3[@]}" "${named[@]}" env > "$BATS_TEST_TMPDIR/saved.env"
    run -0 with "$rollcall" show --json --ddp=addr=198.51.100.0/24 --from "$BATS_TEST_TMPDIR/saved.env"
    [ "$(jq -r '.master.addr, .master.source' <<< "$output" | xargs)" = \
        'n1 addr=198.51.100.0/24, of first host of SLURM_STEP_NODELIST' ]
}

@test "loopback is nobody's master address where a job has several nodes: every recorded environment" {
    python3 -B "$recordings/expectation.py" print > "$BATS_TEST_TMPDIR/answers"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/answers")" -gt 20 ]
    run -0 jq -r 'select((.master.addr // "" | test("^(127\\.|localhost|::1$|0\\.0\\.0\\.0)")) and .identity.nnodes != 1) | .name' \
        "$BATS_TEST_TMPDIR/answers"
    [ -z "$output" ]
}
