#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# faults.bats - nodes that contradict each other: the line that says so, word for word.
#
# What a node sends to srun's server is changed on its way: three nodes, one task on each, n1 is node 0. Nobody waits
# for anybody then: the step may take half of its deadline, not more.

load helpers
load faults

setup_file()
{
    needs_root || return 0
    faults_up --nodes 3 --cpus 8 --gpus 2 --mpi pmix
}

teardown()
{
    local node
    [ -z "${left_out:-}" ] || return 0
    faults_end
    for node in n1 n2; do
        on "$node" sh -c '! grep -q " /proc/driver " /proc/self/mounts || umount /proc/driver'
    done
    login scancel --user="$(id -un)"
}

# says LINE: exactly that, among what was printed at srun's terminal, and nothing else of the roll call but
# that the step does not start.
says()
{
    grep -F -- "rollcall: $1" "$err" | grep -qE -- '(^|: )rollcall: .*[^ ]$' || explain "nobody said: $1" || return 1
    [ "$(grep -cE 'RC6(0[0-9]|1[0134])' "$err")" -eq 1 ] || explain "something else is said"
}

# stops LINE: a contradiction that would hang: one line, and no task starts.
stops()
{
    # -K0: the first one to fail would end the step before another has said it
    step 30 --ddp=deadline=300 -K0 -N3 -n3
    says "error $1" || return 1
    failed || return 1
    said 'error RC612: not starting tasks on this node: another line of rollcall names the error; ' || return 1
    unsaid '^port ' || return 1
    nothing_remains
}

# warns LINE: one that would not: one line, and all tasks have one port.
warns()
{
    step 30 --ddp=deadline=300 -N3 -n3
    says "warning $1" || return 1
    one_port 3 || return 1
    nothing_remains
}

# bats test_tags=series
@test "RC602: a rank that comes twice" {
    changes 's/^tasks=.*/tasks=1/' n3
    stops "RC602: rank 1 comes more than once: on n[2-3]; every rank must be there once; start all tasks with one \
launcher, or unset RANK and SLURM_PROCID where a script exports them"
}

# bats test_tags=series
@test "RC607: one host name twice, and one boot id" {
    changes 's/^host=.*/host=n2/' n3
    warns "RC607: nodes 1-2 (tasks 1-2 on n2) have the same host name; give each machine a name of its own, and \
list it once where the launcher takes its hosts from"
    changes '/^roll=/a boot=4b5f0000-0000-4000-8000-000000000000' n2 n3
    warns "RC607: nodes 1-2 (tasks 1-2 on n[2-3]) have the same boot id; they are one machine with several names, or copies \
of one virtual machine: list each machine once, or reboot the copies"
}

causes='a prolog or another plugin still works there or has failed, nothing gets through, or slurmd there has no rollcall '
causes+='\(see its log\) and tasks run without ranks'

# A node that cannot reach srun: nobody listens at port 1.
lost='echo "SLURM_ROLLCALL_SERVER=${SLURM_ROLLCALL_SERVER%% *} 1 ${SLURM_ROLLCALL_SERVER##* }"; echo SLURM_LAUNCH_NODE_IPADDR=127.0.0.1
echo -SLURM_SRUN_COMM_HOST'

@test "RC601, RC611: a node that cannot reach srun loses nobody the job" {
    inject n3 <<< "$lost"
    # n1 and n2 may begin some seconds apart
    step 30 --ddp=exchange=srun,deadline=12 -N3 -n3
    said "warning RC601: nothing from n3 \(task 2\) within the deadline of 12 s; $causes; deadline=SECONDS waits longer\$"
    said 'RC611: the nodes could not reach each other: Connection refused; continuing: n3 uses a computed MASTER_PORT, and its tasks were not checked; try srun --mpi=pmix --ddp=exchange=pmix, or use exchange=off$'
    one_port 3
    nothing_remains
}

# bats test_tags=series
@test "srun whose standard error is closed ends, and the tasks have ended well, whatever there is to say" {
    inject n3 <<< "$lost"
    attempt 40 bash -c 'exec srun --ddp=exchange=srun,deadline=3 -N3 -n3 sh -c "echo rank \$RANK" 0<&- 2>&-'
    succeeded
    [ "$(sort "$out")" = $'rank 0\nrank 1\nrank 2' ]
    nothing_remains
}

@test "a node whose rollcall-exchange cannot be run takes part in the roll call" {
    : > "$shared/none"
    on n3 mount --bind "$shared/none" "$helper"
    meets 3 30 --ddp=exchange=srun,deadline=300 -N3 -n3
    unsaid RC6
    nothing_remains
}

@test "RC613: several nodes hear no answer -> srun prints one line, and another one with the other nodes" {
    inject n2 n3 <<< "exec '$PYTHON' '$programs/between.py' cut"
    step 30 --ddp=exchange=srun,deadline=3 -K0 -N3 -n3
    failed
    said 'error RC613: n[23] received no answer from the other nodes, which may start without it: the server has ended; '
    unsaid RC621
    nothing_remains
}

# leave_out_plugin NODE...: its plugin is a file that Slurm cannot load, as another Slurm's is; it is optional there.
leave_out_plugin()
{
    local node
    echo none > "$shared/none"
    for node; do
        on "$node" mount --bind "$shared/none" "$plugin_file"
    done
}

# lines REGEX...: rollcall has said these, and nothing else.
lines()
{
    local line
    for line; do
        said "^rollcall: $line\$" || return 1
    done
    [ "$(grep -c 'rollcall: ' "$err")" -eq $# ] || explain "there are other lines"
}

ended="warning RC621: the step has ended, and nothing came from"
look="; see slurmd's log there: it must load rollcall.so"

# bats test_tags=series
@test "RC621: a node without the plugin has said nothing, and the step's end says that its tasks ran without ranks" {
    leave_out_plugin n2 n3
    succeeds 60 srun --ddp -w n2 -n2 sh -c 'echo "rank ${RANK-none}"'
    [ "$(grep -c '^rank none$' "$out")" -eq 2 ]
    lines "$ended n2; unless RC611 reports otherwise, its tasks ran without ranks$look"
    attempt 60 env ROLLCALL=auto salloc -N3 srun -w n2,n3 -n2 false
    lines "$ended n\[2-3\]; unless another line reports otherwise, their tasks ran without ranks$look"
    # the line is there before srun ends: a job script that ends then takes its processes with it
    printf '#!/bin/sh\n#SBATCH --ddp -w n[1-2]\nexec srun -w n2 -N1 -n1 true\n' > "$shared/job"
    succeeds 60 sbatch --wait -o "$shared/job.out" "$shared/job"
    cp "$shared/job.out" "$err"
    lines "$ended n2; unless RC611 reports otherwise, its tasks ran without ranks$look"
    succeeds 60 srun -w n2 -n2 true
    lines
    nothing_remains
}

# bats test_tags=series
@test "RC621: one of two nodes is without the plugin" {
    leave_out_plugin n2
    succeeds 60 srun --ddp=deadline=4 -w n[1-2] -n2 sh -c 'echo "rank ${RANK-none}"'
    [ "$(sort "$out")" = $'rank 0\nrank none' ]
    lines "warning RC601: nothing from n2 \(task 1\) within the deadline of 4 s; $causes; deadline=SECONDS waits longer" \
        "$ended n2; unless RC611 reports otherwise, its tasks ran without ranks"
    nothing_remains
}

# bats test_tags=all
@test "RC621: a step that goes on without ranks is told after 15 s, once, also where its deadline is longer" {
    leave_out_plugin n2
    attempt 90 srun --ddp -w n2 -n2 sleep 65
    lines "warning RC621: nothing from n2 6[0-9] s after srun began the step; $causes" \
        "$ended n2; unless RC611 reports otherwise, its tasks ran without ranks"
    attempt 60 srun --ddp=deadline=20 -w n[1-2] -n2 true
    lines "warning RC621: nothing from n2 1[5-9] s after the first node's call; $causes" \
        "$ended n2; unless RC611 reports otherwise, its tasks ran without ranks"
    nothing_remains
}

# Set for one test: on n2, so many seconds.
slow_prolog()
{
    slurm_conf=$(login sh -c 'echo "$SLURM_CONF"')
    printf '#!/bin/sh\n[ "$SLURMD_NODENAME" != n2 ] || sleep %s\n' "$1" > "$shared/prolog"
    chmod 755 "$shared/prolog"
    cp "$slurm_conf" "$shared/slurm.conf"
    echo "Prolog=$shared/prolog" >> "$slurm_conf"
    login scontrol reconfigure
}

@test "RC623: a prolog that is slow is no node without the plugin" {
    local told=0
    slow_prolog 18
    attempt 60 srun --ddp -w n2 -n2 sh -c 'echo "rank $RANK"'
    lines || told=1
    succeeded || told=1
    sed -i s/18/6/ "$shared/prolog"
    attempt 60 srun --ddp=deadline=2 -w n[1-2] -n2 sh -c 'echo "rank $RANK"'
    lines "warning RC601: nothing from n2 \(task 1\) within the deadline of 2 s; $causes; deadline=SECONDS waits longer" \
        "note RC623: every node of the step has called srun now, ([5-9]|[1-5][0-9]) s after its start" || told=1
    [ "$(sort "$out")" = $'rank 0\nrank 1' ] || told=1
    cp "$shared/slurm.conf" "$slurm_conf"
    login scontrol reconfigure
    [ "$told" -eq 0 ]
    nothing_remains
}

@test "RC621: nodes whose tasks get nothing have called" {
    succeeds 60 env SUBMITIT_EXECUTOR=slurm srun --ddp -N3 -n3 true
    nothing_remains
    unsaid RC621
    attempt 60 srun --ddp=launcher -N3 -n6 true
    nothing_remains
    said RC302
    unsaid RC621
    attempt 60 srun --ddp=launcher -N1 -n2 false
    nothing_remains
    said RC302
    unsaid RC621
}

# plugstack.conf is mounted, so that it can be another one for a moment.
# bats test_tags=series
@test "RC209: the line twice, as one file or as a copy, starts one server, and one line says so" {
    local conf node copy line
    conf=$(login sh -c 'echo "${SLURM_CONF%/*}/plugstack.conf"')
    cp "$plugin_file" "$shared/rollcall.so"
    for copy in "$plugin_file" "$shared/rollcall.so"; do
        printf 'optional %s\noptional %s same=stop\n' "$plugin_file" "$copy" > "$shared/twice"
        for node in login n1 n2; do
            on "$node" mount --bind "$shared/twice" "$conf"
        done
        line="rollcall: warning RC209: plugstack.conf, or what it includes, names rollcall.so twice: $plugin_file and \
$copy; the second line does nothing; remove one of them"
        attempt 60 env ROLLCALL=auto srun -w n[1-2] -n2 sh -c 'echo "rank $RANK"; sleep 1'
        login squeue -ho %i > "$shared/queue"
        login srun -w n1 -n1 true 2> "$shared/plain"
        for node in login n1 n2; do
            on "$node" umount "$conf"
        done
        [ "$(sort "$out")" = $'rank 0\nrank 1' ] || explain "not two ranks"
        [ ! -s "$shared/plain" ] || explain "a plain step prints it"
        [ "$(spoken)" = "srun: error: $line" ] || explain "not that line alone"
        [ "$(grep -cF "error: $line" "${conf%/*}"/log/slurmd.n1.log)" -ge 1 ] || explain "not in slurmd's log"
    done
    nothing_remains
}

@test "an entry that cannot be read: its node counts as missing, and all tasks compute the port" {
    changes 's/^scope=.*/scope=/' n3
    meets 3 60 --ddp=exchange=srun,deadline=3 -N3 -n3
    said 'warning RC601: nothing from n3 \(task 2\) '
    nothing_remains
}

own_gpu='give each task a GPU of its own (Slurm: N tasks a node, srun --gpus-per-node=N)'

# bats test_tags=series
@test "RC606: more tasks than GPUs, which all of them see" {
    meets 4 60 --ddp -N2 --ntasks-per-node=2 --gres=gpu:1
    says "warning RC606: GPU '0 of node 0' is used by tasks 0-1 on n1 (and 1 more like it); $own_gpu"
    step 60 --ddp=check=strict -N2 --ntasks-per-node=2 --gres=gpu:1
    failed
}

# A GPU has the same UUID under whatever name of its machine; the driver's files say it.
@test "RC606: a GPU that two nodes have" {
    local node
    for node in n1 n2; do
        on "$node" sh -c 'mount -t tmpfs none /proc/driver && mkdir -p /proc/driver/nvidia/gpus/0000:01:00.0 &&
            printf "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-1c6f0000-0000-4000-8000-000000000001\n" \
                > /proc/driver/nvidia/gpus/0000:01:00.0/information'
    done
    step 60 --ddp -N2 --ntasks-per-node=1 --gres=gpu:1
    says "warning RC606: GPU 'GPU-1c6f0000-0000-4000-8000-000000000001' is used by tasks 0-1 on n[1-2]; $own_gpu"
    step 60 --ddp -N2 -n2 --gpus-per-task=1
    says "warning RC606: GPU 'GPU-1c6f0000-0000-4000-8000-000000000001' is used by tasks 0-1 on n[1-2]; $own_gpu"
}

# bats test_tags=series
@test "GPUs that are each task's own, or shared on purpose, are no matter" {
    meets 4 60 --ddp -N2 --ntasks-per-node=2 --gres=gpu:2
    silent "two GPUs for two tasks: a line"
    meets 4 60 --ddp -N2 -n4 --gpus-per-task=1
    silent "a GPU for each task: a line"
    meets 4 60 --ddp -N1 -n4 --ntasks-per-gpu=2
    silent "two tasks for each GPU: a line"
    CUDA_MPS_PIPE_DIRECTORY=/tmp/mps meets 4 60 --ddp -N2 --ntasks-per-node=2 --gres=gpu:1
    silent "MPS: a line"
    CUDA_VISIBLE_DEVICES=0 meets 8 60 --ddp -N2 --ntasks-per-node=4
    silent "no GPU was asked for: a line"
}

@test "rollcall check shows which GPUs a node's tasks see" {
    succeeds 60 srun --ddp -N2 --ntasks-per-node=2 --gres=gpu:2 --kill-on-bad-exit=0 sh -c '
        [ "$RANK" -ne 3 ] || { rollcall check; rollcall check --json > "$0"; }' "$shared/gpus.json"
    said '^0-1 +n\[1-2\] +0-3 +worker +CUDA_VISIBLE_DEVICES=0,1 +[0-9]+( of [0-9]+)? +n1:[0-9]+$'
    "$PYTHON" -c '
import json, sys
entries = json.load(open(sys.argv[1]))["entries"]
assert [e["visible"] for e in entries] == ["CUDA_VISIBLE_DEVICES=0,1"] * 2, entries
assert [[(g["rank"], g["gpu"]) for g in e["gpus"]] for e in entries] == [
    [(0, "0 of node 0"), (1, "1 of node 0")], [(2, "0 of node 1"), (3, "1 of node 1")]], entries' "$shared/gpus.json"
}
