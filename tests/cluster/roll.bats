#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# roll.bats - what a live step tells of itself from inside: rollcall check, its roll, from one of its tasks and
# from beside it; a job template that leaves out nodes; rollcall map, the map of each of its nodes.

# bats file_tags=series

load helpers
load faults

setup_file()
{
    needs_root || return 0
    faults_up --nodes 3 --cpus 4 --mpi pmix
}

teardown()
{
    faults_end
}

# said_the_roll FILE: as a table, complete, with nothing wrong
said_the_roll()
{
    grep -qE '^step [0-9]+\.[0-9]+: 3 of 3 nodes, 6 tasks$' "$1" || explain "no head"
    grep -qE '^0-2 +n\[1-3\] +0-5 +worker +[0-9]+( of [0-9]+)? +n1:[0-9]+$' "$1" || explain "not one row"
    ! grep -E 'RC[0-9]' "$1" || explain "something is wrong"
}

@test "from a task of the step" {
    attempt 30 srun --ddp -N3 --ntasks-per-node=2 sh -c '[ "$RANK" -ne 5 ] || rollcall check'
    succeeded
    said_the_roll "$out"
}

@test "in all tasks of the step: the table is there once, and once more for the next time" {
    succeeds 30 srun --ddp -N3 --ntasks-per-node=2 sh -c 'rollcall check'
    said_the_roll "$out"
    [ "$(grep -c ' of 3 nodes, ' "$out")" = 1 ]
    succeeds 30 srun --ddp -N3 --ntasks-per-node=2 sh -c 'rollcall check; rollcall check --json'
    [ "$(grep -c ' of 3 nodes, ' "$out")" = 1 ]
    [ "$(grep -c '^  "schema"' "$out")" = 1 ]
}

# shown: one table of all six tasks
shown()
{
    succeeded
    [ "$(grep -c ': 6 tasks on 3 nodes, mode worker' "$out")" = 1 ] || explain "no head"
    [ "$(awk '/ ok$/ { print $1, $2, $3 }' "$out" | tr '\n' ';')" = '0 n1 0;1 n1 1;2 n2 0;3 n2 1;4 n3 0;5 n3 1;' ] ||
        explain "not the table"
}

@test "rollcall show in all tasks of several nodes: one table, in order" {
    attempt 30 srun --ddp -N3 --ntasks-per-node=2 rollcall show
    shown
    attempt 30 srun --mpi="$mpi" -N3 --ntasks-per-node=2 rollcall show
    [ "$mpi" != pmix ] || shown
    # with no way between the nodes, one of each node
    succeeds 30 srun --mpi=none -N3 --ntasks-per-node=2 rollcall show
    [ "$(grep -c ': 6 tasks on 3 nodes, mode worker' "$out")" = 3 ]
    [ "$(awk '/ ok$/ { print $1, $2, $3 }' "$out" | sort | tr '\n' ';')" = '0 n1 0;1 n1 1;2 n2 0;3 n2 1;4 n3 0;5 n3 1;' ]
}

@test "rollcall show in some tasks alone: they wait some seconds, and have a line each" {
    attempt 60 srun --ddp -N3 --ntasks-per-node=2 sh -c '[ "$RANK" -lt 4 ] || rollcall show'
    succeeded
    [ "$(awk '/ ok$/ { print $1, $2, $3 }' "$out" | tr '\n' ';')" = '4 n3 0;5 n3 1;' ] || explain "not those two"
    [ "$(grep -cE '^[12] of 6 tasks answered; ' "$out")" -ge 1 ] || explain "nobody is missed"
}

@test "as JSON" {
    attempt 30 srun --ddp -N3 --ntasks-per-node=2 sh -c '[ "$RANK" -ne 5 ] || { rollcall check --json; echo "port $MASTER_PORT" >&2; }'
    succeeded
    "$PYTHON" -c '
import json, sys
roll = json.load(open(sys.argv[1]))
assert roll["schema"] == 1 and roll["nnodes"] == 3 and roll["world_size"] == 6 and roll["messages"] == [], roll
assert [(e["node_rank"], e["host"], e["tasks"], e["mode"]) for e in roll["entries"]] == [
    (0, "n1", "0-1", "worker"), (1, "n2", "2-3", "worker"), (2, "n3", "4-5", "worker")], roll
ports = [e["master_port"] for e in roll["entries"]]
assert ports[1:] == [None, None] and f"port {ports[0]}" in open(sys.argv[2]).read(), ports' "$out" "$err"
}

@test "check JOB: from another step on one of its nodes" {
    local pid job
    # its tasks stay until the other step has looked
    on login timeout 60 srun --ddp -N3 --ntasks-per-node=2 sh -c '
        echo "job $SLURM_JOB_ID"
        until [ -e "$0" ]; do sleep 0.1; done' "$shared/seen" > "$BATS_TEST_TMPDIR/job" 2> /dev/null 3>&- < /dev/null &
    pid=$!
    until [ "$(grep -c '^job' "$BATS_TEST_TMPDIR/job")" -eq 6 ]; do
        kill -0 $pid
        sleep 0.1
    done
    job=$(sed -n 's/^job //p;q' "$BATS_TEST_TMPDIR/job")
    # ROLLCALL is exported in many a user's shell
    attempt 30 env ROLLCALL=worker rollcall check "$job"
    cp "$out" "$BATS_TEST_TMPDIR/job"
    attempt 30 rollcall check "$job.7"
    touch "$shared/seen"
    wait $pid
    said "job $job has no step on this node"
    [ "$status" -eq 2 ] || explain "not wrong usage"
    said_the_roll "$BATS_TEST_TMPDIR/job"
    attempt 30 rollcall check 999999
    [ "$status" -eq 2 ] || explain "not wrong usage"
}

@test "a step that met over PMIx has no roll to show" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx plugin"
    fails 30 srun --ddp=exchange=pmix -N3 -n3 --kill-on-bad-exit=0 rollcall check
    [ "$(grep -c 'job .* has no step on this node that was started with srun --ddp' "$err")" -eq 3 ] || explain "not said"
}

@test "the job template with spare nodes trains without the odd one" {
    changes 's/^version=.*/version=0.1.0/' n2
    mkdir -p "$shared/work"
    cp "$whoami" "$shared/work/train.py"
    for odd in n2 none; do
        submit_text < <(sed 's/--nodes=9/--nodes=3/; s/^nodes=8/nodes=2/; /gpus-per-node/d' "$tree/docs/jobs/sparenodes.sbatch")
        everybody whoami world=4 nodes=2
        said "^left out: $odd\$"
        # and with nothing to leave out
        faults_end
    done
}

# A series' nodes have a / of their own, perhaps without hwloc.
need_map()
{
    [ -z "${SERIES:-}" ] || on n1 rollcall map > /dev/null 2>&1 || skip "rollcall map does not start on these nodes"
}

# one_report TASKS TITLE ARG...: each subcommand prints once in such a step, for these ranks and nodes
one_report()
{
    local tasks=$1 title=$2
    shift 2
    attempt 60 srun "$@"
    [ "$(grep -c "^Slurm (srun), .*: $tasks tasks on " "$out")" = 1 ] || explain "not one head"
    [ "$(grep -E '^ranks? ' "$out" | head -n 1)" = "$title:" ] || explain "no title $title"
}

@test "show --long, map, doctor and explain in several nodes: one report, with the plugin and with PMIx" {
    local way ways=(--ddp)
    [ "$mpi" != pmix ] || ways+=(--mpi=pmix)
    for way in "${ways[@]}"; do
        one_report 6 'rank 0 on n1' "$way" -N3 --ntasks-per-node=2 rollcall show --long
        grep -qx 'rank 2 on n2:' "$out"
        [ "$(sed -n '/^rank 4 on n3/,$p' "$out" | grep -cE '^  rank +4 +SLURM_PROCID$')" = 1 ]
        [ "$(grep -c '^launcher  ' "$out")" = 3 ]
        one_report 6 'ranks 0-5 on n[1-3]' "$way" -N3 --ntasks-per-node=2 rollcall explain RC301
        one_report 6 "$(grep -E '^ranks? ' "$out" | head -n 1 | tr -d :)" "$way" -N3 --ntasks-per-node=2 rollcall doctor
        [ "$(grep -c '^verdict  ' "$out")" = 1 ]
        one_report 6 'rank 0 on n1' "$way" -N3 --ntasks-per-node=2 rollcall show --all
        [ "$(grep -E '^rank' "$out" | paste -sd' ')" = 'rank 0 on n1: rank 1 on n1: rank 2 on n2: rank 3 on n2: rank 4 on n3: rank 5 on n3:' ]
    done
    succeeds 60 srun --ddp -N3 --ntasks-per-node=2 rollcall show --rank 3
    [ "$(head -n 1 "$out")" = 'rank 3 on n2:' ]
}

@test "show: a warning whose text differs by node -> once in the table" {
    succeeds 60 srun --ddp -N2 -n3 -m block rollcall show
    [ "$(grep -c '^warning RC301: ' "$out")" -eq 1 ]
    [ "$(grep -c ' RC301$' "$out")" -eq 3 ]
}

@test "a student's step, with neither plugin nor PMIx: one report of each node, not cut into each other" {
    # nobody can wait for another node: each comes a tenth of a second after the one before, if all begin at one time
    for _ in 1 2 3; do
        rm -rf "$shared/begun"
        mkdir "$shared/begun"
        succeeds 60 srun --mpi=none -N3 --ntasks-per-node=2 sh -c ': > "$0/$SLURM_PROCID"
            until [ "$(ls "$0" | wc -l)" -eq 6 ]; do sleep 0.02; done
            exec rollcall show --long' "$shared/begun"
        grep -qx 'use srun --mpi=pmix or srun --ddp (rollcall exec needs neither)' "$out"
        ! in_turn || return 0
    done
    explain "cut into each other"
}

# three nodes' reports, one after the other
in_turn()
{
    [ "$(sed -n 's/^2 tasks on \(n[123]\); each node prints a table of its tasks: .*/\1/p' "$out" | paste -sd' ')" = 'n1 n2 n3' ] || return 1
    [ "$(sed -nE 's/^(rank [024] on n[123]:|launcher  .*|  local rank +0 .*|environment)$/\1/p' "$out" | cut -c1-4 | paste -sd,)" = \
        'rank,laun,  lo,envi,rank,laun,  lo,envi,rank,laun,  lo,envi' ]
}

@test "nic=auto sets what map shows on that node; where it has no card, RC932 says so" {
    need_map
    attempt 60 srun --ddp=nic=auto -N1 -n2 sh -c '[ "$SLURM_PROCID" -ne 0 ] || { rollcall map --json; env > "$0"; }' "$shared/cards"
    succeeded
    "$PYTHON" -c '
import json, sys
answer = json.load(open(sys.argv[1]))
proposed = answer["nic_auto"] | answer["tasks"][answer["local_rank"]]["nic_auto"]
lines = [line.rstrip("\n").partition("=") for line in open(sys.argv[2])]
found = {name: value for name, _, value in lines if name in (
    "NCCL_IB_HCA", "UCX_NET_DEVICES", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")}
assert found == proposed, (found, proposed)
said = open(sys.argv[3]).read().count("RC932: nic=auto was asked for, but this node shows no network card that could be named")
assert said == (0 if proposed else 1), said' "$out" "$shared/cards" "$err"
}
