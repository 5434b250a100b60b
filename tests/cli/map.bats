#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# map.bats - rollcall map: which GPU, cores, memory and NIC belong together, on machines that people use
# (tests/cli/topologies/machines.py), on bad topologies, and on this machine.

load helper

setup_file()
{
    local machine
    for machine in $(python3 "$BATS_TEST_DIRNAME/topologies/machines.py" --list); do
        python3 "$BATS_TEST_DIRNAME/topologies/machines.py" "$machine" > "$BATS_FILE_TMPDIR/$machine.xml"
    done
}

# placed MACHINE [OPTION...]: a line a task: local rank, GPU, NUMA node, NIC, number of cores, hardware threads
placed()
{
    local machine=$1
    shift
    "$rollcall" map --from "$BATS_FILE_TMPDIR/$machine.xml" --json "$@" > "$BATS_TEST_TMPDIR/map.json" || return 1
    jq -r '.tasks[] | [.local_rank, .gpu, .numa, .nic, .cores, .cpus] | map(. // "-" | tostring) | join(" ")' \
        "$BATS_TEST_TMPDIR/map.json"
}

# expect TABLE MACHINE [OPTION...]
expect()
{
    local table=$1
    shift
    diff -u --label 'by hand' --label placed <(printf '%s\n' "$table") <(placed "$@")
}

# Each pair of GPUs hangs from one NUMA node of 16 cores, so each task has 8 of them with both threads; the nodes
# without a GPU (0, 2, 4, 6) are left alone: data would come from another node. Two HCAs at each pair, one for each:
# not mlx5_4 and mlx5_5, which are Ethernet, for storage.
@test "DGX A100: 8 tasks" {
    expect '0 0 3 mlx5_0 8 48-55,176-183
1 1 3 mlx5_1 8 56-63,184-191
2 2 1 mlx5_2 8 16-23,144-151
3 3 1 mlx5_3 8 24-31,152-159
4 4 7 mlx5_6 8 112-119,240-247
5 5 7 mlx5_7 8 120-127,248-255
6 6 5 mlx5_8 8 80-87,208-215
7 7 5 mlx5_9 8 88-95,216-223' dgx-a100
}

# Two tasks of four GPUs each at most: the GPU of local rank r is the r-th. Both are at node 3, which they halve;
# another choice, by index and by bus id, has two nodes, and each task a whole one. The NIC stays the GPU's own.
@test "DGX A100: fewer tasks, chosen GPUs" {
    expect '0 0 3 mlx5_0 8 48-55,176-183
1 1 3 mlx5_1 8 56-63,184-191' dgx-a100 --tasks 2
    expect '0 7 5 mlx5_9 16 80-95,208-223
1 0 3 mlx5_0 16 48-63,176-191' dgx-a100 --gpus bd:00.0,0
    expect '0 7 5 mlx5_9 16 80-95,208-223
1 0 3 mlx5_0 16 48-63,176-191' dgx-a100 --gpus 7,0000:07:00.0 --tasks 2
}

# Twice as many tasks as GPUs: tasks r and r + 8 share GPU and NIC, and each has 4 cores of its own.
@test "DGX A100: 16 tasks" {
    run placed dgx-a100 --tasks 16
    [ "${lines[0]}" = '0 0 3 mlx5_0 4 48-51,176-179' ]
    [ "${lines[1]}" = '1 1 3 mlx5_1 4 52-55,180-183' ]
    [ "${lines[8]}" = '8 0 3 mlx5_0 4 56-59,184-187' ]
    [ "${lines[9]}" = '9 1 3 mlx5_1 4 60-63,188-191' ]
    jq -e '.notes == ["16 tasks on 8 GPUs: several tasks use the same GPU"]' "$BATS_TEST_TMPDIR/map.json"
}

# The step has one core of node 3 and 15 of node 2, of the same package: GPU 0's task has the former, GPU 1's is
# not to share it while there are others, and takes what is next to it, node 2.
@test "DGX A100: not enough cores at the GPU, but in its package" {
    expect '0 0 3 mlx5_0 1 48
1 1 2 mlx5_1 15 32-46' dgx-a100 --tasks 2 --cpus 48,32-46
    jq -e '.notes == ["1 of 2 tasks have cores outside of their GPU'"'"'s NUMA node: there are not enough free ones in it"]' \
        "$BATS_TEST_TMPDIR/map.json"
}

# Three tasks of one GPU, whose node has one core left: the others go to another node each, before two share one.
@test "DGX A100: tasks that have to move go to where most cores are left" {
    expect '0 0 3 mlx5_0 1 48
1 0 1 mlx5_0 4 16-19
2 0 0 mlx5_0 4 0-3' dgx-a100 --tasks 3 --gpus 0 --cpus 48,0-3,16-19
    jq -e '.notes[-1] == "3 tasks on 1 GPU: several tasks use the same GPU"' "$BATS_TEST_TMPDIR/map.json"
}

# All of them are in the other package.
@test "DGX A100: no core in the GPUs' package" {
    expect '0 0 4 mlx5_0 8 64-71
1 1 4 mlx5_1 8 72-79' dgx-a100 --tasks 2 --cpus 64-79
    jq -e '.notes[0] | startswith("2 of 2 tasks have cores outside ")' "$BATS_TEST_TMPDIR/map.json"
}

# A chip is a package with 72 cores, its own memory, its GPU and its card; the GPU's memory (nodes 4, 12, 20, 28) is
# none for a program's data.
@test "four GH200" {
    expect '0 0 0 hsn0 72 0-71
1 1 1 hsn1 72 72-143
2 2 2 hsn2 72 144-215
3 3 3 hsn3 72 216-287' gh200
}

# As in OLCF's own table of GCDs and cores: GCD 0 is next to cores 48 to 55, and 4 to 0 to 7. Two GCDs of a NUMA node
# halve it, which is an L3 each. A card is for the two GCDs of its MI250X.
@test "Frontier" {
    expect '0 0 3 hsn0 8 48-55,112-119
1 1 3 hsn0 8 56-63,120-127
2 2 1 hsn1 8 16-23,80-87
3 3 1 hsn1 8 24-31,88-95
4 4 0 hsn2 8 0-7,64-71
5 5 0 hsn2 8 8-15,72-79
6 6 2 hsn3 8 32-39,96-103
7 7 2 hsn3 8 40-47,104-111' frontier
}

# The first core of each L3 is the system's, and one thread a core is given: seven cores each.
@test "Frontier, as its jobs see it" {
    expect '0 0 3 hsn0 7 49-55
1 1 3 hsn0 7 57-63
2 2 1 hsn1 7 17-23
3 3 1 hsn1 7 25-31
4 4 0 hsn2 7 1-7
5 5 0 hsn2 7 9-15
6 6 2 hsn3 7 33-39
7 7 2 hsn3 7 41-47' frontier --cpus 1-7,9-15,17-23,25-31,33-39,41-47,49-55,57-63
}

# 21 cores a socket, three GPUs: seven cores each with their four threads. Two ports a
# socket for three GPUs: the third has the first one's.
@test "Summit" {
    expect '0 0 0 mlx5_0 7 0-27
1 1 0 mlx5_1 7 28-55
2 2 0 mlx5_0 7 56-83
3 3 8 mlx5_2 7 88-115
4 4 8 mlx5_3 7 116-143
5 5 8 mlx5_2 7 144-171' summit
}

# Two GPUs and an HCA a socket of 20 cores: ten cores each with both threads.
@test "ABCI (V)" {
    expect '0 0 0 mlx5_0 10 0-9,40-49
1 1 0 mlx5_0 10 10-19,50-59
2 2 1 mlx5_1 10 20-29,60-69
3 3 1 mlx5_1 10 30-39,70-79' abci-v
}

# Even numbers are on one socket, odd ones on the other: neighbours share a socket, nobody has cores of both.
# Three tasks: one has a socket, two share the other. A single one has both, and so memory of both. Nothing there is
# a GPU, not the BMC's VGA either; the one HCA goes before the Ethernet card.
@test "two sockets without a GPU" {
    expect '0 - 0 mlx5_0 12 0,2,4,6,8,10,12,14,16,18,20,22
1 - 0 mlx5_0 12 24,26,28,30,32,34,36,38,40,42,44,46
2 - 1 mlx5_0 12 1,3,5,7,9,11,13,15,17,19,21,23
3 - 1 mlx5_0 12 25,27,29,31,33,35,37,39,41,43,45,47' cpu-node --tasks 4
    run placed cpu-node --tasks 3
    [[ ${lines[0]} == '0 - 0 mlx5_0 24 '* && ${lines[1]} == '1 - 1 mlx5_0 12 '* && ${lines[2]} == '2 - 1 mlx5_0 12 '* ]]
    expect '0 - - mlx5_0 48 0-47' cpu-node
}

# The GeForce, not the processor's own graphics, which no job means.
@test "a laptop" {
    expect '0 0 0 wlan0 4 0-7' laptop
    jq -e '.gpus | map([.pci, .vendor, .used]) == [["0000:01:00.0", "NVIDIA", true], ["0000:00:02.0", "Intel", false]]' \
        "$BATS_TEST_TMPDIR/map.json"
}

# As without GPUs: in the order of the NUMA nodes.
@test "GPUs of which nobody says where they hang" {
    expect '0 0 0 - 4 0-3
1 1 0 - 4 4-7
2 2 1 - 4 8-11
3 3 1 - 4 12-15' no-locality
    jq -e '.notes == ["the topology does not show where the GPUs are attached: the cores are split as without GPUs"]' \
        "$BATS_TEST_TMPDIR/map.json"
    # with one task there is no reason to leave a half unused
    expect '0 0 - - 16 0-15' no-locality --tasks 1
}

# The other socket is far from all of them.
@test "GPUs at one socket alone" {
    expect '0 0 1 - 2 8-9
1 1 1 - 2 10-11
2 2 1 - 2 12-13
3 3 1 - 2 14-15' one-socket
    # nine tasks for eight cores there: the last one goes to where there are some
    run placed one-socket --tasks 9
    [ "${lines[7]}" = '7 3 1 - 1 15' ]
    [ "${lines[8]}" = '8 0 0 - 8 0-7' ]
}

@test "offline cores, and cores of which one thread is" {
    expect '0 - 0 - 2 0,3,8,11
1 - 0 - 3 4,6-7,12' offline --tasks 2
}

@test "one core for eight tasks: all have it, none has nothing" {
    run placed dgx-a100 --tasks 8 --cpus 48
    [ "${#lines[@]}" -eq 8 ]
    for line in "${lines[@]}"; do
        [[ $line == *' 3 mlx5_'*' 1 48' ]]
    done
    jq -e '[.tasks[].shared] | all' "$BATS_TEST_TMPDIR/map.json"
    jq -e '.notes[0] == "8 of 8 tasks share cores: there are fewer cores than tasks"' "$BATS_TEST_TMPDIR/map.json"
}

@test "4,096 cores, 64 GPUs: one task, 64, 4,096 and 65,536" {
    [ "$(placed large --tasks 64 | tail -n 1)" = '63 63 63 - 64 4032-4095' ]
    [ "$(placed large --tasks 1)" = '0 0 0 - 64 0-63' ]
    # each core once
    placed large --tasks 4096 | awk '{ print $6 }' | sort -n | cmp - <(seq 0 4095)
    [ "$(placed large --tasks 65536 | awk '{ print $6 }' | sort | uniq -c | awk '{ print $1 }' | sort -u)" = 16 ]
}

# What must hold on every machine, for any number of tasks, any GPUs, any cores: see the program's head.
@test "whatever is asked: no empty mask, none too wide, no core twice, none in parts" {
    python3 "$top/tests/cli/topologies/hold.py" "$rollcall" "$BATS_FILE_TMPDIR"
}

@test "files that are no topology: one line, and no crash" {
    xml=$BATS_FILE_TMPDIR/dgx-a100.xml
    bad=$BATS_TEST_TMPDIR/bad.xml
    : > "$bad"
    fails_with 2 'it is empty' "$rollcall" map --from "$bad"
    fails_with 2 'there is no such file' "$rollcall" map --from "$BATS_TEST_TMPDIR/none.xml"
    fails_with 2 'it is not a file' "$rollcall" map --from "$BATS_TEST_TMPDIR"
    fails_with 2 'it is not a file' "$rollcall" map --from /dev/zero
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    fails_with 2 'it is not a file' "$rollcall" map --from "$BATS_TEST_TMPDIR/fifo"
    for text in x '<' '<topology/>' '<topology version="2.0">' '<topology version="2.0"></topology>' \
        '<?xml version="1.0"?><html><body/></html>' "$(head -c 3000 "$xml")" "$(head -n 40 "$xml")" \
        "$(seq 3000)"; do
        printf '%s' "$text" > "$bad"
        fails_with 2 'hwloc cannot read it as a topology' "$rollcall" map --from "$bad"
    done
    head -c 1000000 /dev/zero > "$bad"
    fails_with 2 'hwloc cannot read it as a topology' "$rollcall" map --from "$bad"
    truncate -s 65M "$bad"
    fails_with 2 'it is larger than 64 MiB' "$rollcall" map --from "$bad"
}

# Root reads what is not its own by a privilege, which setpriv takes away.
@test "a file that may not be read: one line" {
    printf x > "$BATS_TEST_TMPDIR/secret.xml"
    chmod 000 "$BATS_TEST_TMPDIR/secret.xml"
    if [ "$(id -u)" -ne 0 ]; then
        fails_with 2 'secret.xml: Permission denied' "$rollcall" map --from "$BATS_TEST_TMPDIR/secret.xml"
        return
    fi
    chown 65534 "$BATS_TEST_TMPDIR/secret.xml"
    fails_with 2 'secret.xml: Permission denied' setpriv --bounding-set=-dac_override,-dac_read_search \
        "$rollcall" map --from "$BATS_TEST_TMPDIR/secret.xml"
}

# hwloc 2.9 dies of the first three, and its XML parser refuses the others.
@test "files that hwloc dies of: one line, and no core" {
    bad=$BATS_TEST_TMPDIR/bad.xml
    core='<object type="PU" os_index="0" cpuset="0x1"/>'
    cd "$BATS_TEST_TMPDIR"
    for text in '<!DOCTYPE topology [<!ENTITY x "abc">]><topology version="2.0">&x;</topology>' \
        '<!DOCTYPE topology [<!ENTITY x SYSTEM "file:///etc/passwd">]><topology version="2.0">&x;</topology>' \
        "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\">$core</object><object type=\"Machine\"/></topology>" \
        '<!DOCTYPE topology [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&a;">]><topology version="2.0">&a;</topology>' \
        "$(python3 -c 'print("<topology version=\"2.0\">" + "<object type=\"Group\">" * 20000)')"; do
        printf '%s' "$text" > "$bad"
        fails_with 2 'hwloc cannot read it as a topology' "$rollcall" map --from "$bad"
    done
    [ -z "$(find . -name 'core*')" ]
}

@test "cores and memory without an index, or with a huge one: one line, and not a gigabyte for each" {
    bad=$BATS_TEST_TMPDIR/bad.xml
    for type in NUMANode PU; do
        for index in '' ' os_index="4000000000"'; do
            sed "/type=\"$type\"/s/ os_index=\"[0-9]*\"/$index/" "$BATS_FILE_TMPDIR/abci-v.xml" > "$bad"
            fails_with 2 'hwloc cannot read it as a topology' \
                python3 -c 'import os, resource, sys
pid = os.fork() or os.execvp(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
assert used.ru_maxrss < 1 << 20, used.ru_maxrss
sys.exit(os.waitstatus_to_exitcode(status))' "$rollcall" map --from "$bad"
        done
    done
}

# hwloc may refuse these, or read something out of them; either way there is one answer.
@test "topologies that contradict themselves: a plan or one line" {
    xml=$BATS_FILE_TMPDIR/abci-v.xml
    bad=$BATS_TEST_TMPDIR/bad.xml
    for change in '/NUMANode/d' 's/"PU"/"Core"/' 's/gp_index="[0-9]*"/gp_index="7"/' 's/allowed_cpuset="[^"]*"/allowed_cpuset="0x0"/' \
        's/ cpuset="[^"]*"/ cpuset="0x0"/' 's/pci_busid="[^"]*"/pci_busid="zzzz"/' 's/pci_busid="[^"]*"/pci_busid="0000:01:00.0"/' \
        's/bridge_pci="[^"]*"/bridge_pci="0000:[ff-00]"/' 's/os_index="[0-9]*"/os_index="4294967295"/' \
        's/mlx5_[01]/%s%n/' 's/GV100GL/\&#27;[2J\&#10;/' 's/version="2.0"/version="9.0"/' 's/hwloc2.dtd/other.dtd/'; do
        sed "$change" "$xml" > "$bad"
        status=0
        "$rollcall" map --from "$bad" --tasks 4 > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" || status=$?
        case $status in
            0) [ "$(grep -cE '^ +[0-3]  ' "$BATS_TEST_TMPDIR/out")" -ge 4 ] ;;
            2) [ "$(grep -c ^rollcall: "$BATS_TEST_TMPDIR/err")" -eq 1 ] ;;
            *) echo "$change: $status"; return 1 ;;
        esac
        run ! grep -q $'\e' "$BATS_TEST_TMPDIR/out"
    done
}

@test "wrong usage: one line each" {
    from=(--from "$BATS_FILE_TMPDIR/dgx-a100.xml")
    for tasks in 0 -1 x '' 65537 99999999999; do
        fails_with 2 "--tasks=$tasks is not a number of tasks, 1 to 65536" "$rollcall" map "${from[@]}" --tasks "$tasks"
    done
    for gpus in 8 x -1 '' 0,8 0, 00:07:00.0 4294967295; do
        fails_with 2 'is none of the 8 GPUs here' "$rollcall" map "${from[@]}" --gpus "$gpus"
    done
    for cpus in x '' 0- - , 1--2 0x1 ' 1'; do
        fails_with 2 'is not a list of hardware threads' "$rollcall" map "${from[@]}" --cpus "$cpus"
    done
    fails_with 2 'the topology has none of them' "$rollcall" map "${from[@]}" --cpus 4000
    fails_with 2 "map: unexpected argument 'x'; a topology goes after --from" "$rollcall" map x
    fails_with 2 "map: unexpected argument 'x.svg'" "$rollcall" map --json x.svg
    fails_with 2 "unknown option '--xml'" "$rollcall" map --xml a
    fails_with 2 "unknown option '--jsno'" "$rollcall" map --jsno
    fails_with 2 '--from needs a value' "$rollcall" map --from
    fails_with 2 'map: --rank needs a value; see rollcall map --help' "$rollcall" map --json --rank
    fails_with 2 "'--step'" "$rollcall" map --step
}

@test "text for a terminal: 80 columns, each task a line" {
    for machine in dgx-a100 gh200 frontier summit abci-v cpu-node laptop; do
        run -0 "$rollcall" map --from "$BATS_FILE_TMPDIR/$machine.xml" --tasks 5
        [ "$(tail -n +2 <<< "$output" | wc -L)" -le 80 ]
        [ "$(grep -cE '^     [0-4]  ' <<< "$output")" -eq 5 ]
    done
    matches 2 '*cannot write*' bash -c '"$@" > /dev/full' - "$rollcall" map --from "$BATS_FILE_TMPDIR/laptop.xml"
}

@test "JSON: schema, GPUs, NICs" {
    run -0 "$rollcall" map --from "$BATS_FILE_TMPDIR/dgx-a100.xml" --json
    jq -e '.schema == 1 and (.from | endswith("dgx-a100.xml")) and .local_rank == null and .notes == [] and
        (.gpus | length) == 8 and (.nics | length) == 10 and (.nics | map(select(.used)) | length) == 8 and
        .gpus[2] == {"index": 2, "pci": "0000:47:00.0", "vendor": "NVIDIA", "model": "GA100 [A100 SXM4 40GB]",
                     "numa": 1, "used": true, "uuid": null, "minor": null} and
        .nics[8] == {"fabric": "mlx5_4", "network": "enp225s0f0", "kind": "RoCE", "pci": "0000:e1:00.0", "numa": 6,
                     "used": false, "down": false}' <<< "$output"
}

# All rails for NCCL, by exact name, without mlx5_4 and mlx5_5, which are for storage; its own for UCX. These
# cards have no interfaces, so sockets are left alone.
@test "nic=auto: what it would set, of all and of each task" {
    dgx='=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_6,mlx5_7,mlx5_8,mlx5_9'
    placed dgx-a100 > /dev/null
    jq -e --arg dgx "$dgx" '.nic_auto == {"NCCL_IB_HCA": $dgx} and
        ([.tasks[].nic_auto.UCX_NET_DEVICES] | join(" ")) ==
            "mlx5_0:1 mlx5_1:1 mlx5_2:1 mlx5_3:1 mlx5_6:1 mlx5_7:1 mlx5_8:1 mlx5_9:1"' "$BATS_TEST_TMPDIR/map.json"
    run -0 "$rollcall" map --from "$BATS_FILE_TMPDIR/dgx-a100.xml"
    [[ $output == *$'\n\nWith nic=auto\n  NCCL_IB_HCA='"$dgx"$'\n  UCX_NET_DEVICES=mlx5_0:1\n'* ]]
    # verbs and sockets
    placed summit > /dev/null
    jq -e '.nic_auto == {"NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3", "NCCL_SOCKET_IFNAME": "=ib0,ib1,ib2,ib3",
                         "GLOO_SOCKET_IFNAME": "ib0", "TP_SOCKET_IFNAME": "ib0"}' "$BATS_TEST_TMPDIR/map.json"
    # Slingshot's library finds its cards by itself; sockets go over their interfaces, gloo's alike in all tasks
    placed frontier > /dev/null
    jq -e '.nic_auto == {"NCCL_SOCKET_IFNAME": "=hsn0,hsn1,hsn2,hsn3", "GLOO_SOCKET_IFNAME": "hsn0",
                         "TP_SOCKET_IFNAME": "hsn0"} and ([.tasks[].nic_auto] | unique) == [{}]' "$BATS_TEST_TMPDIR/map.json"
    # Ethernet alone
    placed laptop > /dev/null
    jq -e '.nic_auto == {"NCCL_SOCKET_IFNAME": "=wlan0", "GLOO_SOCKET_IFNAME": "wlan0", "TP_SOCKET_IFNAME": "wlan0"} and
        .tasks[0].nic_auto == {"UCX_NET_DEVICES": "wlan0"}' "$BATS_TEST_TMPDIR/map.json"
    # none
    placed no-locality > /dev/null
    jq -e '.nic_auto == {} and .tasks[0].nic_auto == {}' "$BATS_TEST_TMPDIR/map.json"
    run -0 "$rollcall" map --from "$BATS_FILE_TMPDIR/no-locality.xml"
    [[ $output != *nic=auto* ]]
}

# state PORT STATE CARD: as /sys/class/infiniband/CARD/ports/PORT/state has it, "1: DOWN", "4: ACTIVE"
state()
{
    sed -i "s|<object type=\"OSDev\" \(.*\)name=\"$3\"\(.*\)>|&<info name=\"Port$1State\" value=\"$2\"/>|" \
        "$BATS_TEST_TMPDIR/ports.xml"
}

@test "nic=auto: a card that is down is nobody's, another port than the first is named" {
    cp "$BATS_FILE_TMPDIR/abci-v.xml" "$BATS_TEST_TMPDIR/ports.xml"
    state 1 1 mlx5_0
    run -0 "$rollcall" map --from "$BATS_TEST_TMPDIR/ports.xml" --json
    jq -e '[.tasks[].nic] == ["mlx5_1", "mlx5_1", "mlx5_1", "mlx5_1"] and .nic_auto.NCCL_IB_HCA == "=mlx5_1" and
        (.nics | map([.fabric, .down, .used])) == [["mlx5_1", false, true], ["mlx5_0", true, false]]' <<< "$output"
    matches 0 '*0000:41:00.0 (down)*' "$rollcall" map --from "$BATS_TEST_TMPDIR/ports.xml"
    state 2 4 mlx5_0
    run -0 "$rollcall" map --from "$BATS_TEST_TMPDIR/ports.xml" --json
    jq -e '.nic_auto.NCCL_IB_HCA == "=mlx5_0:2,mlx5_1" and .tasks[0].nic_auto.UCX_NET_DEVICES == "mlx5_0:2"' <<< "$output"
    # all of them
    cp "$BATS_FILE_TMPDIR/abci-v.xml" "$BATS_TEST_TMPDIR/ports.xml"
    state 1 2 mlx5_0
    state 1 1 mlx5_1
    run -0 "$rollcall" map --from "$BATS_TEST_TMPDIR/ports.xml" --json
    jq -e '[.tasks[].nic] == [null, null, null, null] and .nic_auto == {}' <<< "$output"
}

# Whatever stands in a file: what goes into an environment has names alone.
@test "nic=auto: names that are none" {
    for name in 'mlx5 0' 'a,b' 'a=b' '\&#10;x' 'mlx5_0;id' "$(printf 'x%.0s' {1..64})"; do
        sed "s/\"mlx5_0\"/\"$name\"/; s/\"ib0\"/\"$name\"/" "$BATS_FILE_TMPDIR/abci-v.xml" > "$BATS_TEST_TMPDIR/names.xml"
        run -0 "$rollcall" map --from "$BATS_TEST_TMPDIR/names.xml" --json
        jq -e '.nic_auto == {"NCCL_IB_HCA": "=mlx5_1", "NCCL_SOCKET_IFNAME": "=ib1", "GLOO_SOCKET_IFNAME": "ib1",
                             "TP_SOCKET_IFNAME": "ib1"} and .tasks[0].nic_auto == {}' <<< "$output"
    done
}

# The machine is a file's, its interface is of a network of our own. The kernel takes a moment for the carrier.
@test "nic=auto: an interface is named that is up, with a carrier and an address" {
    local up='ip link set wlan0 up && ip link set other up && until ip link show wlan0 | grep -q "state UP"; do sleep 0.02; done'
    while read -r expected change; do
        before="ip link add wlan0 type veth peer name other && $change" \
            with_names '' HWLOC_XMLFILE="$BATS_FILE_TMPDIR/laptop.xml" HWLOC_THISSYSTEM=1 "$rollcall" map --json \
            > "$BATS_TEST_TMPDIR/map.json"
        [ "$(jq -r '.tasks[0].nic_auto.UCX_NET_DEVICES // "none"' "$BATS_TEST_TMPDIR/map.json")" = "$expected" ]
    done << END
wlan0 ip address add 192.0.2.2/24 dev wlan0 && $up
wlan0 ip address add 2001:db8::2/64 dev wlan0 && $up
none ip address add 192.0.2.2/24 dev wlan0 && ip link set wlan0 up
none ip address add 192.0.2.2/24 dev wlan0 && ip link set other up
none $up
END
}

@test "nic=auto: rollcall exec sets what map proposes on this machine, and nothing without it" {
    run -0 with "${task_3[@]}" "$rollcall" map --json
    proposed=$(jq -r '.nic_auto + .tasks[.local_rank].nic_auto | to_entries[] | .key + "=" + .value' <<< "$output" | sort)
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec --ddp=nic=auto -- env
    [ "$(grep -E '^(NCCL_|UCX_|GLOO_|TP_)' <<< "$output" | sort)" = "$proposed" ]
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec --ddp=nic=off -- env
    run ! grep -E '^(NCCL_|UCX_|GLOO_|TP_)' <<< "$output"
}

# A machine that one does not sit at is not what this environment speaks of.
@test "--from is not steered by who asks" {
    first=$(placed dgx-a100)
    second=$(export CUDA_VISIBLE_DEVICES=3 "${task_3[@]}" && placed dgx-a100)
    [ "$first" = "$second" ]
    [ "$(HWLOC_SYNTHETIC='pack:1 core:1 pu:1' placed dgx-a100)" = "$first" ]
}

@test "this machine: the tasks' GPUs are those that the variable of the GPUs' vendor names" {
    while read -r machine gpus note words; do
        run -0 with HWLOC_XMLFILE="$BATS_FILE_TMPDIR/$machine.xml" HWLOC_THISSYSTEM=1 $words --json --tasks 2
        jq -e --arg gpus "$gpus" --argjson note "$note" '([.tasks[].gpu] | tostring) == $gpus and
            (.notes | any(contains(" cannot be matched "))) == $note' <<< "$output"
    done << END
dgx-a100 [2,1] false ROCR_VISIBLE_DEVICES=5,4 CUDA_VISIBLE_DEVICES=2,1 $rollcall map
dgx-a100 [7,0] false CUDA_VISIBLE_DEVICES=2,1 $rollcall map --gpus 7,0
frontier [2,1] false CUDA_VISIBLE_DEVICES=5,4 ROCR_VISIBLE_DEVICES=2,1 $rollcall map
dgx-a100 [4,6] false ${task_3[*]} SLURM_STEP_GPUS=4,6 CUDA_VISIBLE_DEVICES=0,1 $rollcall map
dgx-a100 [0,1] false ${task_3[*]} SLURM_STEP_GPUS=8,9 CUDA_VISIBLE_DEVICES=0,1 $rollcall map
dgx-a100 [3,2] false ${task_3[*]} SLURM_STEP_GPUS=4,6 CUDA_VISIBLE_DEVICES=3,2 $rollcall map
dgx-a100 [0,1] false ${task_3[*]} SLURMD_TRES_BIND=gres/gpu:per_task:1 CUDA_VISIBLE_DEVICES=5 $rollcall map
dgx-a100 [5,4] false ${agent_0[*]} SLURMD_TRES_BIND=gres/gpu:per_task:2 CUDA_VISIBLE_DEVICES=5,4 $rollcall map
laptop [0,0] true CUDA_VISIBLE_DEVICES=9 $rollcall map
offline [null,null] false CUDA_VISIBLE_DEVICES=0 $rollcall map
END
}

@test "this machine: each task has cores that it may use" {
    run -0 with "$rollcall" map --json --tasks 2
    jq -e '.from == null and (.tasks | length) == 2 and ([.tasks[].cores] | min) >= 1' <<< "$output"
    # what is left of this shell's own cores
    allowed=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
    run -0 with taskset -c "$allowed" "$rollcall" map --json --tasks 3
    jq -e --arg allowed "$allowed" '[.tasks[].cpus] == [$allowed, $allowed, $allowed]' <<< "$output"
}

@test "in a task of a launch: as many tasks as the node has, and this one is marked" {
    run -0 with "${task_3[@]}" "$rollcall" map --json
    jq -e '(.tasks | length) == 2 and .local_rank == 1 and [.tasks[].rank] == [null, 3]' <<< "$output"
    run -0 with "${task_3[@]}" "$rollcall" map --rank 3
    [ "$(grep -cE '^\*    1  ' <<< "$output")" -eq 1 ]
    [[ $output == "rank 3 on $(hostname):"*'* this task'* ]]
    [ "$output" = "$(with "${task_3[@]}" "$rollcall" map --rank=3)" ]
    # another number of tasks is another layout, in which it is nobody
    run -0 with "${task_3[@]}" "$rollcall" map --json --tasks 3
    jq -e '(.tasks | length) == 3 and .local_rank == null' <<< "$output"
}

# hwloc's plugins for CUDA, NVML, OpenCL, X and so on open devices and load drivers. The kernel is asked about this
# machine's interfaces (AF_NETLINK), which is neither.
@test "no driver, no display, no device is opened" {
    run -0 with DISPLAY=:99 strace -f -e trace=openat,open,connect,socket -o "$BATS_TEST_TMPDIR/trace" "$rollcall" map
    grep -q libhwloc "$BATS_TEST_TMPDIR/trace"
    run -1 grep -E '(hwloc_(cuda|nvml|opencl|levelzero|rsmi|gl)\.so|libcuda|nvidia-ml|OpenCL|libX|ze_loader|rocm_smi|/dev/(nvidia|kfd|dri)|connect\(|socket\(AF_(UNIX|INET))' \
        "$BATS_TEST_TMPDIR/trace"
}

# The columns are as wide as what is in them, and as their heads.
@test "the table of tasks, with cards and without" {
    run -0 "$rollcall" map --from "$BATS_FILE_TMPDIR/offline.xml"
    [ "${lines[1]}" = '  task  GPU  NUMA  NIC  cores  hardware threads' ]
    [ "${lines[2]}" = '     0  -       0  -        5  0,3-4,6-8,11-12' ]
    run -0 "$rollcall" map --from "$BATS_FILE_TMPDIR/abci-v.xml"
    [ "${lines[1]}" = '  task  GPU             NUMA  NIC     cores  hardware threads' ]
    [ "${lines[2]}" = '     0  0 0000:3d:00.0     0  mlx5_0     10  0-9,40-49' ]
    # none of them is who asks
    [[ $output != *'this task'* ]]
}
