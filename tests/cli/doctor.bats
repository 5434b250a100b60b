#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# doctor.bats - rollcall doctor: each failure that people report most often, injected, is found with its id and
# line; nothing is found where nothing is wrong. Failures of scripts and jobs alone are rows of doctor/rows.txt.
#
# The twenty, by how many of the public threads that were collected speak of them, and the findings that name them:
#
#    1  one GPU visible to a task: invalid device ordinal, no P2P   D302
#    2  a constant master port, taken on the node                   D403
#    3  cores that srun does not take over, or that nobody asked for D510 D511 D304
#    4  launchers in several tasks of a node, workers spawned twice D504 D503
#    5  host -I, host -i and the name at loopback as master address D519 D202
#    6  gloo's interface in NCCL's words                            D420 RC425
#    7  the framework's devices are not the tasks of the node       D501 D507
#    8  several ranks on one GPU                                    D412 RC902
#    9  $SLURM_PROCID and $SLURM_NODEID expanded by the batch shell D515
#   10  localhost as master address                                 D404
#   11  an interface filter that matches nothing                    RC425 D419
#   12  a node rank that is 0 on all nodes                          D512
#   13  the whole node list, or the login node, as master address   D409 D410
#   14  each process at a port of its own                           D406
#   15  --mpi type and plugin that are not there                    D105 D102 D103 D104
#   16  rank or size by arithmetic instead of the launcher's        D407 D408 D416
#   17  the size of the world by visible GPUs                       D417
#   18  nodes that train apart: no --nnodes, no srun                D513 D514 D502
#   19  the GPU by the rank of all nodes, or by an argument         D413 D415
#   20  two Lightnings in one program                               D401 D402

load helper
load doctor

setup()
{
    only_python
    touch train.py other.py # which jobs start
}

# found 'ID FILE:LINE' ARG...: exactly this, or nothing, and the status that goes with it
found()
{
    local expected=$1 status=0
    shift
    doctor --json "$@" > json || status=$?
    has_status "$status" json
    diff -u --label expected --label found \
        <(printf '%s' "$expected${expected:+$'\n'}") \
        <(jq -r '.findings[] | "\(.id) \(.file // "-"):\(.line // 0)"' json) || { cat json; return 1; }
}

# script LINE...: train.py; job LINE...: job.sh, with its first line
script()
{
    printf '%s\n' "$@" > train.py
}

job()
{
    printf '%s\n' '#!/bin/bash' "$@" > job.sh
}

@test "the example of docs/user.md" {
    script 'import lightning.pytorch as pl' 'from pytorch_lightning.callbacks import ModelCheckpoint' '' \
        'trainer = pl.Trainer(devices=4, num_nodes=2, callbacks=[ModelCheckpoint()])'
    sed -n '/^\$ rollcall doctor/,/^```/{/^[$`]/d;p}' "$top/docs/user.md" > expected
    [ -s expected ]
    doctor train.py -- srun -N2 --ntasks-per-node=8 --gpus-per-node=8 python train.py > said || [ $? = 3 ]
    diff -u expected said
}

@test "a step of one task has no master, and none is printed" {
    env="PATH=$PATH SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NTASKS=1"
    env+=" SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE=1 SLURM_STEP_NODELIST=n1"
    run env -i $env SLURM_GTIDS=0 SLURMD_NODENAME=n1 SLURM_TASK_PID=$$ "$rollcall" doctor
    grep -qx 'task      rank 0 of 1' <<< "$output"
}

@test "the exit status says whether there are errors, warnings, or things that were not looked at" {
    script 'import os'
    run -0 doctor train.py
    script 'import os' 'os.environ["MASTER_PORT"] = "29500"'
    run -1 doctor train.py
    run -3 doctor train.py -- srun --ddp -N2 -n8 --nodes=1 --ddp=workr python train.py
    run -4 doctor -- srun --ddp -N2 -n8 python gone.py
    [[ $output == *$'\nnote D422  '* ]]
    run -3 doctor -- sh -c 'srun -N2 --ntasks-per-node=1 torchrun other.py; srun --ddp -N2 python gone.py'
    [ "${lines[-1]}" = 'verdict   1 error; begin with D513, command line:1; not all was looked at' ]
    run -2 doctor gone.py
}

@test "a command without -- is looked at as behind it" {
    run -4 doctor python3 gone.py --lr 1
    [ "$output" = "$(doctor -- python3 gone.py --lr 1)" ]
    [[ $output == *'not looked at: gone.py'* ]]
    # no command that is here: a file that is not
    fails_with 2 'cannot read gone: No such file' "$rollcall" doctor gone -- python3 train.py
    fails_with 2 "unknown option '--lr'" "$rollcall" doctor gone --lr 1
}

# launches ARG...: what the doctor says that is started
launches()
{
    doctor --json "$@" | jq -r '.looked_at[] | select(.name == "launch") | .text'
}

@test "what a job starts, through variables and wrappers" {
    job '#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8' 'LAUNCH="torchrun --nnodes $SLURM_NNODES \' '    --nproc_per_node 8"' \
        'CMD="$LAUNCH train.py"' 'srun -K $CMD --lr 1'
    [ "$(launches --script job.sh)" = 'job.sh:6: 4 nodes, 1 task a node, 8 GPUs a node, torchrun' ]
    found '' --script job.sh
    sed -i 's/--nnodes $SLURM_NNODES/--nnodes 2/' job.sh
    found 'D512 job.sh:6' --script job.sh
    job 'GPUS=${GPUS:-16}' 'MORE=${MORE:-""}' 'srun --ntasks=$GPUS --ntasks-per-node=${EACH:-8} $MORE python -u train.py'
    [ "$(launches --script job.sh)" = 'job.sh:4: 2 nodes, 8 tasks a node' ]
    job '#SBATCH -N 1 -n 1 --gres=gpu:4' 'srun container_wrapper exec accelerate launch --num_processes=4 train.py'
    [ "$(launches --script job.sh)" = 'job.sh:3: 1 node, 1 task a node, 4 GPUs a node, accelerate launch' ]
    job '#SBATCH -N 2 --ntasks-per-node=1' 'ARGS="--nproc_per_node 8"' 'ARGS+=" --nnodes 2"' 'srun -K torchrun $ARGS train.py'
    [ "$(launches --script job.sh)" = 'job.sh:5: 2 nodes, 1 task a node, torchrun' ]
    found '' --script job.sh
    job '# torchrun --nproc_per_node 8 \' 'deepspeed train.py'
    [ "$(launches --script job.sh)" = 'job.sh:3: deepspeed' ]
    # what is set in a branch is not known
    job '#SBATCH -N 2 --ntasks-per-node=8' 'HOW=""' 'if [ "$1" ]; then' '    HOW="--ntasks-per-node=1"' 'fi' 'srun $HOW torchrun train.py'
    [ -z "$(launches --script job.sh)" ]
    found 'D422 job.sh:7' --script job.sh
    job '#SBATCH -N 2' 'if [ "$1" ]; then' '    HOW="-m torch.distributed.run"' 'fi' 'python $HOW train.py'
    found '' --script job.sh
}

# here NAME=VALUE... CMD...: as a task of two nodes that know this one's name, with memory to share; $hosts and $before
# are for the test to change, and $outside takes the task away
here()
{
    local name task=("${task_3[@]}")
    name=$(uname -n)
    [ -z "${outside-}" ] || task=()
    before="mount -t tmpfs -o size=1g tmpfs /dev/shm${before:+ && $before}" \
        with_names "${hosts-192.0.2.2 $name}" "${task[@]}" PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$@" < /dev/null
}

# around 'ID PLACE' NAME=VALUE...: exactly this is found in such a task, or nothing
around()
{
    local expected=$1 status=0
    shift
    here "$@" "$rollcall" doctor --json > json || status=$?
    has_status "$status" json
    diff -u --label expected --label found <(printf '%s' "$expected${expected:+$'\n'}") \
        <(jq -r '.findings[] | "\(.id) \(.file // "-"):\(.line // 0)"' json) || { cat json; return 1; }
}

# fake_srun VERSION [OPTION]: an srun that says so; its --help names OPTION
fake_srun()
{
    cat > bin/srun << SRUN
#!/bin/sh
case \$1 in
    --version) echo 'slurm-wlm $1' ;;
    --help) echo '  ${2---ddp[=...]}  one identity for each task' ;;
    --mpi=list) printf 'MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\nspecific pmix plugin versions available: pmix_v4\n' ;;
esac
SRUN
    chmod 755 bin/srun
}

@test "a type of --mpi that srun does not have, and a plugin that it has not loaded" {
    fake_srun 22.05.8
    job '#SBATCH -N 2 --ntasks-per-node=4' 'srun --mpi=pmix_v5 python train.py'
    found 'D105 job.sh:3' --script job.sh
    found '' -- srun --mpi=pmix_v4 -N2 --ntasks-per-node=4 python train.py
    fake_srun 22.05.8 --mpi
    mkdir etc
    outside=yes
    conf=SLURM_CONF=$PWD/etc/slurm.conf
    environment=("$conf")
    found 'D102 command line:1' -- srun --ddp -N2 --ntasks-per-node=4 python train.py
    [ "$(jq -r '.findings[0].change' json)" = 'srun --nodes=2 --ntasks-per-node=4 -K rollcall exec -- python train.py' ]
    around '' "$conf"
    printf '# ours\ninclude %s/etc/*.d/*.conf\n' "$PWD" > etc/plugstack.conf
    mkdir etc/plugstack.conf.d
    echo "optional $prefix/lib/slurm/gone-rollcall.so" > etc/plugstack.conf.d/rollcall.conf
    around "D104 $PWD/etc/plugstack.conf.d/rollcall.conf:1" "$conf"
    echo "optional $prefix/lib/slurm/rollcall.so addr=-ib" > etc/plugstack.conf.d/rollcall.conf
    series=$("$rollcall" --version | sed -n 's/^found at build: Slurm \([^,]*\),.*/\1/p')
    mkdir -p lib/slurm
    cp "$prefix/lib/slurm/rollcall.so" lib/slurm
    echo "optional $PWD/lib/slurm/rollcall.so" > etc/plugstack.conf.d/alone.conf
    rm etc/plugstack.conf.d/rollcall.conf
    fake_srun "$series.8"
    around "D110 $PWD/etc/plugstack.conf.d/alone.conf:1" "$conf"
    mkdir -p libexec/rollcall
    cp "$prefix"/libexec/rollcall/rollcall-{exchange,map} libexec/rollcall
    for program in exchange map; do
        chmod 644 "libexec/rollcall/rollcall-$program"
        around "D110 $PWD/etc/plugstack.conf.d/alone.conf:1" "$conf"
        [[ $(jq -r '.findings[0].what' json) == *"rollcall-$program, which the plugin starts, cannot be run: Permission denied (mode 0644)" ]]
        chmod 755 "libexec/rollcall/rollcall-$program"
    done
    around '' "$conf"
    rm libexec/rollcall/rollcall-{exchange,map}
    : > libexec/rollcall/rollcall-exchange
    chmod 755 libexec/rollcall/rollcall-exchange
    around "D110 $PWD/etc/plugstack.conf.d/alone.conf:1" "$conf"
    [[ $(jq -r '.findings[0].what' json) == *'rollcall-exchange, which the plugin starts, cannot be run: Exec format error (mode 0755)' ]]
    # a second line, and the words of the first
    echo "optional $prefix/lib/slurm/rollcall.so adr=-ib,same=stop" > etc/plugstack.conf.d/alone.conf
    echo "optional $PWD/lib/slurm/rollcall.so" > etc/plugstack.conf.d/rollcall.conf
    around $'RC201 -:0\nRC209 -:0' "$conf"
    grep -q "plugstack.conf.d/alone.conf:1: 'adr=-ib' is not known" json
    grep -q "alone.conf:1 and $PWD/etc/plugstack.conf.d/rollcall.conf:1 name the plugin" json
    rm etc/plugstack.conf.d/alone.conf
    echo "optional $prefix/lib/slurm/rollcall.so addr=-ib" > etc/plugstack.conf.d/rollcall.conf
    fake_srun 99.11.0 --mpi
    around "D103 $PWD/etc/plugstack.conf.d/rollcall.conf:1" "$conf"
    [[ $(jq -r '.findings[0].what' json) == *"was built for Slurm $series, and Slurm is 99.11" ]]
    fake_srun 22.05.8
    echo "optional $prefix/lib/slurm/rollcall.so off=until Monday" > etc/plugstack.conf.d/rollcall.conf
    found 'D102 command line:1' -- srun --ddp -N2 --ntasks-per-node=4 python train.py
}

@test "--nodes: nodes that say the same are one finding, and those that say nothing another" {
    release=$(cat "$top/VERSION")
    cat > lines << LINES
0: nodes: n[1-9]
motd: welcome
n1: rollcall $release, plugin $release for Slurm 24.11, /lib/rollcall.so
3: n4: D109: /etc/slurm/plugstack.conf does not name the plugin
n2: D109: /etc/slurm/plugstack.conf does not name the plugin
n3: D104: /lib/rollcall.so is not there
n5: rollcall 0.0.9, plugin 0.0.9 for Slurm 24.11, /lib/rollcall.so
n7: rollcall $release, plugin 0.0.9 for Slurm 24.11, /lib/rollcall.so
n6: rollcall $release, plugin $release for Slurm 24.11, /lib/rollcall.so
n8: rollcall $release, plugin (not known) for Slurm (not known), rollcall.so
n1: RC201: /etc/slurm/plugstack.conf:3: 'adr=-ib' is not known
n10: D999: of a later release
LINES
    doctor --nodes --json < lines > json 2> err || status=$?
    [ "${status:-0}" -eq 3 ]
    [ "$(cat err)" = 'motd: welcome' ]
    diff -u - <(jq -r '.looked_at[] | "\(.name): \(.text)"' json) << LINES
nodes: 9 have answered
right: 1 node: rollcall $release, plugin $release for Slurm 24.11, /lib/rollcall.so
unknown: 1 node: rollcall $release, plugin (not known) for Slurm (not known), rollcall.so
LINES
    diff -u - <(jq -r '.findings[] | "\(.id) \(.what)"' json) << LINES
D109 n2,n4: /etc/slurm/plugstack.conf does not name the plugin
D104 n3: /lib/rollcall.so is not there
RC201 n1: /etc/slurm/plugstack.conf:3: 'adr=-ib' is not known
D112 n9: no line of rollcall doctor --here has come
D111 n10: of a later release
D111 n5: rollcall 0.0.9, plugin 0.0.9 for Slurm 24.11, /lib/rollcall.so; here is rollcall $release
D111 n7: rollcall $release, plugin 0.0.9 for Slurm 24.11, /lib/rollcall.so; here is rollcall $release
LINES
    # thousands of bad nodes are named all
    for i in {1001..9999..2}; do echo "n$i: D104: /lib/rollcall.so is not there"; done > lines
    [[ $(doctor --nodes --json < lines | jq -r '.findings[].what') == 'n['*,9997,9999]:* ]]
    head -c 300000 /dev/urandom | doctor --nodes > said 2>&1 || [ $? -eq 2 ]
    run -2 doctor --nodes lines
    [[ $output == *'--nodes looks at no script' ]]
    run -2 doctor --nodes < /dev/null
    [[ $output == *'srun -N4 rollcall doctor --here | rollcall doctor --nodes' ]]
}

@test "--nodes: lines that name rollcall.so without a folder, builds without rollcall-map -> D116, D117 of what differs" {
    release=$(cat "$top/VERSION")
    bare="rollcall $release, plugin (not known) for Slurm (not known), rollcall.so; words"
    whole="rollcall $release, plugin $release for Slurm 24.11, /lib/rollcall.so; files rollcall=1 rollcall.so=2"
    printf '%s\n' "n1: $bare addr=-ib" "n2: $bare addr=-ib" "n3: $bare addr=-opa" > lines
    run -1 doctor --nodes --json < lines
    [ "$(jq -r '.findings[] | "\(.id) \(.what)"' <<< "$output")" = \
        'D116 n3: the line has addr=-opa; that of most nodes has addr=-ib' ]
    printf '%s\n' "n1: $whole rollcall-map=missing; words " "n2: $whole rollcall-map=missing; words " \
        "n3: $whole rollcall-map=3; words " > lines
    run -0 doctor --nodes --json < lines
    [ "$(jq -c '.findings' <<< "$output")" = '[]' ]
    printf '%s\n' "n1: $whole rollcall-map=3; words " "n2: $whole rollcall-map=3; words " \
        "n3: $whole rollcall-map=missing; words " > lines
    run doctor --nodes --json < lines
    [ "$(jq -r '.findings[] | "\(.id) \(.what)"' <<< "$output")" = \
        'D117 n3: not the files of most nodes: rollcall-map (missing)' ]
}

@test "--nodes: words and files of the nodes differ -> one finding for each difference, nodes folded" {
    record="rollcall $(cat "$top/VERSION"), plugin $(cat "$top/VERSION") for Slurm 24.11, /lib/rollcall.so"
    cat > lines << LINES
n1: $record; files rollcall=1 rollcall.so=2 rollcall-map=3; words addr=-ib port=23456
n2: $record; files rollcall=1 rollcall.so=2 rollcall-map=3; words
n3: $record; files rollcall=1 rollcall.so=2 rollcall-map=4; words
n4: $record; files rollcall=9 rollcall.so=2 rollcall-map=missing; words addr=-ib port=23456
n5: $record; files rollcall=1 rollcall.so=2 rollcall-map=3
n6: $record; files rollcall=1 rollcall.so=2 rollcall-map=3; words addr=-ib port=23456
n7: $record; files rollcall=1 rollcall.so=2 rollcall-map=4; words addr=-ib port=23456
n5: D113: /etc/slurm/plugstack.conf says off
LINES
    sed -i 's/; words$/; words /' lines
    doctor --nodes --json < lines > json || [ $? -eq 1 ]
    diff -u - <(jq -r '.looked_at[] | "\(.name): \(.text)"' json) << LINES
nodes: 7 have answered
right: 2 nodes: $record
LINES
    diff -u - <(jq -r '.findings[] | "\(.id) \(.what)"' json) << LINES
D113 n5: /etc/slurm/plugstack.conf says off
D116 n2,n3: the line has no words; that of most nodes has addr=-ib port=23456
D117 n3,n7: not the files of most nodes: rollcall-map
D117 n4: not the files of most nodes: rollcall, rollcall-map (missing)
LINES
}

# As it was: the script's own Trainer is of one, its data are of a dependency's, which is of the other.
@test "a dependency that uses the other Lightning" {
    mkdir -p site/graphs/parts
    printf '%s\n' 'from .parts.data import Graphs' > site/graphs/__init__.py
    touch site/graphs/parts/__init__.py
    printf '%s\n' 'try:' '    from pytorch_lightning import LightningDataModule as Base' 'except ImportError:' '    Base = object' \
        'class Graphs(Base):' '    pass' > site/graphs/parts/data.py
    mkdir site/pytorch_lightning
    touch site/pytorch_lightning/__init__.py
    script 'import lightning.pytorch as pl' 'from graphs import Graphs'
    environment=(PYTHONPATH="$PWD/site")
    found "D402 $PWD/site/graphs/parts/data.py:2" train.py
    mkdir job
    printf '%s\n' 'from ..train import Graphs' 'import lightning.pytorch' > job/main.py
    found "D402 $PWD/site/graphs/parts/data.py:2" job/main.py
    [[ $(jq -r '.findings[0].what' json) == train.py:2* ]]
    rm -r site/pytorch_lightning
    found '' train.py
    mkdir site/pytorch_lightning
    touch site/pytorch_lightning/__init__.py
    # what is only used beside it does no harm
    script 'import lightning.pytorch as pl' 'from pytorch_lightning.utilities import rank_zero_only'
    found '' train.py
}

@test "a healthy task: nothing, and one verdict" {
    fake_srun 22.05.8
    around ''
    before='ip link set lo up' \
        around '' CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2 GLOO_SOCKET_IFNAME=lo, NCCL_IB_HCA=
    run -0 here "$rollcall" doctor
    [ "${lines[-1]}" = 'verdict   nothing found' ]
    [[ $output == *'Slurm     22.05, with --ddp, --mpi: none pmi2 pmix pmix_v4'* ]]
    [ "$(wc -L <<< "$output")" -le 80 ]
}

@test "the machine outside of a step" {
    fake_srun 22.05.8
    outside=yes around ''
    outside=yes hosts='127.0.1.1 me' around ''
    rm bin/srun
    fake_srun 22.05.8 --mpi
    outside=yes around '' SLURM_CONF=/nowhere/slurm.conf
    jq -e '.looked_at[] | select(.name == "Slurm").text | contains("without --ddp (srun -K rollcall exec -- COMMAND)")' json
    printf '#!/bin/sh\necho "srun: fatal: no configuration"\nexit 1\n' > bin/srun
    outside=yes around 'D101 -:0'
    [[ $(jq -r '.findings[0].what' json) == *'srun --version fails: srun: fatal: no configuration' ]]
    # another plugin that is optional and does not load
    fake_srun 22.05.8
    sed -i '2i echo "srun: error: plugin_load_from_file: dlopen(/none.so): no such file" >&2' bin/srun
    outside=yes around ''
    jq -e '.looked_at[] | select(.name == "Slurm").text == "22.05, with --ddp, --mpi: none pmi2 pmix pmix_v4 "' json
}

@test "doctor in a shell of salloc -> which machine was checked, and what checks the job's nodes" {
    run env SLURM_JOB_ID=9 SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=2 SLURM_JOB_NAME=interactive "$rollcall" doctor --json
    jq -e '.looked_at[] | select(.name == "nodes").text | contains("type srun --ntasks-per-node=1 rollcall doctor")' <<< "$output"
    jq -e '.looked_at[] | select(.name == "step").text | contains("not a task of srun")' <<< "$output"
}

@test "in a step without the plugin a user of rollcall exec gets a clean verdict, and who forgot it none" {
    fake_srun 22.05.8 --mpi
    around 'D102 -:0' SLURM_CONF=/nowhere/slurm.conf
    run -0 here SLURM_CONF=/nowhere/slurm.conf ROLLCALL=exchange=off "$rollcall" exec -- "$rollcall" doctor
    [ "${lines[-1]}" = 'verdict   nothing found' ]
}

@test "names and ports of this node" {
    fake_srun 22.05.8
    hosts="127.0.1.1 $(uname -n)" around 'D202 /etc/hosts:0'
    hosts='192.0.2.7 another' around 'D203 -:0'
    hosts="192.0.2.9 $(uname -n)" before='ip address add 192.0.2.2/24 dev lo' around 'D210 -:0'
    before='ip address add 192.0.2.2/24 dev lo' around ''
    around 'RC103 -:0' SLURM_GTIDS=7,8
}

@test "filters that match nothing here" {
    fake_srun 22.05.8
    around 'RC425 -:0' NCCL_SOCKET_IFNAME=ib0,eno
    [[ $(jq -r '.findings[0].what' json) == "NCCL_SOCKET_IFNAME='ib0,eno': "*" has no such interface that is up and has an address; "* ]]
    before='ip link set lo up && ip link add eth10 type veth peer name other && ip link add eth1 type veth peer name another &&
        ip link set other up && ip link set eth10 up && ip address add 192.0.2.2/24 dev lo &&
        ip address add 198.51.100.1/24 dev eth10 && ip address add 203.0.113.1/24 dev eth1' \
        around 'RC425 -:0' NCCL_SOCKET_IFNAME=eth1 GLOO_SOCKET_IFNAME=lo,^eth
    [[ $(jq -r '.findings[0].what' json) == "GLOO_SOCKET_IFNAME='lo,^eth': "*", but eth10"* ]]
    around 'D206 -:0' NCCL_IB_HCA==mlx5_77
    around '' NCCL_IB_HCA==mlx5_77 NCCL_IB_DISABLE=1
}

@test "GPUs, cores and limits of a task" {
    fake_srun 22.05.8
    around 'D302 -:0' CUDA_VISIBLE_DEVICES=1 SLURM_GPUS_ON_NODE=2
    around 'RC902 -:0' CUDA_VISIBLE_DEVICES=0 SLURM_GPUS_ON_NODE=1
    around '' CUDA_VISIBLE_DEVICES=1 SLURM_GPUS_ON_NODE=2 ROLLCALL=gpus=own ROLLCALL_SCOPE=slurm:42.7/3/worker/29500
    around 'D303 -:0' CUDA_VISIBLE_DEVICES= SLURM_GPUS_ON_NODE=2
    # more than the driver has files
    files='mount --rbind /dev /mnt && mount -t tmpfs tmpfs /dev && mkdir /dev/shm && mount --rbind /mnt/shm /dev/shm &&
        : > /dev/null && mount --bind /mnt/null /dev/null && : > /dev/nvidiactl > /dev/nvidia0'
    before=$files around 'D303 -:0' CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2
    before=$files around '' CUDA_VISIBLE_DEVICES=MIG-1,MIG-2 SLURM_GPUS_ON_NODE=2
    one_core='taskset -p -c "$(taskset -p -c $$ | sed "s/.*: //; s/[,-].*//")" $$ > /dev/null'
    one_a_node=(SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=2 'SLURM_STEP_TASKS_PER_NODE=1(x2)' SLURM_PROCID=1 SLURM_LOCALID=0
        SLURM_GTIDS=1 SLURM_CPU_BIND=quiet,mask_cpu:0x1 SLURM_CPU_BIND_TYPE=mask_cpu:)
    before=$one_core around 'D304 -:0' CUDA_VISIBLE_DEVICES=0 "${one_a_node[@]}"
    [ "$(jq -r '.findings[0].what' json)" = 'this task may use 1 core, for 1 worker with data loaders' ]
    # one finding, which has the option to type
    before=$one_core around 'RC916 -:0' CUDA_VISIBLE_DEVICES=0,1 "${one_a_node[@]}"
    [[ $(jq -r '.findings[0].what' json) == *'2 workers share 1 of '*'type srun --cpus-per-task=2' ]]
    before='mount -t tmpfs -o size=64m tmpfs /dev/shm' around 'D306 /dev/shm:0'
    before='ulimit -S -n 1024' around 'D307 -:0' SLURM_STEP_NUM_NODES=4 SLURM_NNODES=4 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=8 \
        'SLURM_STEP_TASKS_PER_NODE=2(x4)' 'SLURM_STEP_NODELIST=192.0.2.[1-4]'
}

# in_job NAME=VALUE... CMD...: with the doctor's environment of a job, and these
in_job()
{
    env -i PATH="$BATS_TEST_TMPDIR/bin" HOME="$BATS_TEST_TMPDIR" LANG=C.UTF-8 SLURM_JOB_ID=42 "${environment[@]}" "$@"
}

# typed ARG...: the doctor's findings at a terminal in a job: "ID change"
typed()
{
    in_job "$(type -P script)" -qec "$(printf '%q ' "$rollcall" doctor --json "$@")" /dev/null < /dev/null |
        jq -r '.findings[] | select(.id | startswith("D11")) | "\(.id) \(.change)"'
}

@test "in a shell inside of a job: variables of it that sbatch copies, and a script that replaces or unsets them" {
    environment=(SHELL=/bin/sh SLURM_CPU_BIND=quiet,mask_cpu:0x1 SLURM_NTASKS=1 SLURM_GPUS_PER_NODE=1)
    environment+=(SLURM_CONF=/x SLURM_CPUS_PER_TASK=1 SLURM_MEM_PER_NODE= SLURM_KILL_BAD_EXIT=1)
    [ "$(typed)" = 'D115 (unset SLURM_CPU_BIND SLURM_GPUS_PER_NODE SLURM_NTASKS; sbatch job.sh)' ]
    job '#SBATCH --nodes=2' 'srun --ddp python train.py'
    [ "$(typed job.sh)" = 'D114 (unset SLURM_CPU_BIND SLURM_GPUS_PER_NODE SLURM_NTASKS; sbatch job.sh)' ]
    job '#SBATCH --nodes=2 --ntasks-per-node=2' 'unset SLURM_GPUS_PER_NODE' 'srun --ddp python train.py'
    [ "$(typed job.sh)" = 'D114 (unset SLURM_CPU_BIND; sbatch job.sh)' ]
    environment=(SHELL=/bin/sh SLURM_CONF=/x SLURM_CPUS_PER_TASK=1)
    [ -z "$(typed)$(typed job.sh)" ]
    # what sbatch sets again, and what each srun replaces
    environment=(SHELL=/bin/sh SLURM_MEM_PER_CPU=100 SLURM_NTASKS=1)
    printf '#!/bin/sh\necho "DefMemPerCPU            = 100"\n' > bin/scontrol
    chmod 755 bin/scontrol
    job '#SBATCH --nodes=2' 'srun -n 2 --ddp python train.py'
    [ -z "$(typed job.sh)" ]
    sed -i 's/nodes=2/& --mem=1G/' job.sh
    [ "$(typed job.sh)" = 'D114 (unset SLURM_MEM_PER_CPU; sbatch job.sh)' ]
}

# foreign 'NAMES': what the doctor says to unset in a batch script
foreign()
{
    [ "$(in_job "$(type -P setsid)" -w "$rollcall" doctor --json < /dev/null |
        jq -r '.findings[] | select(.id == "D114").change')" = "$1" ]
}

@test "in a batch script: variables that its job has not asked for" {
    printf '#!/bin/sh\necho "JobId=42 JobName=x NtasksPerN:B:S:C=$TASKS:0:*:* MinMemoryNode=0 TresPerNode=$GPUS "\n' > bin/scontrol
    chmod 755 bin/scontrol
    environment=(TASKS=2 GPUS=gres/gpu:a100:4,gres/nvme:1 SLURM_NTASKS_PER_NODE=2 SLURM_GPUS_PER_NODE=4 SLURM_CPU_BIND=cores)
    foreign ''
    environment+=(TASKS=0 GPUS=gres/gpu:2 SLURM_MEM_PER_NODE=300 SLURM_TRES_PER_TASK=cpu=1 SLURM_CPU_BIND_TYPE=mask_cpu:)
    foreign 'unset SLURM_CPU_BIND SLURM_GPUS_PER_NODE SLURM_MEM_PER_NODE SLURM_NTASKS_PER_NODE SLURM_TRES_PER_TASK'
    # slurmctld does not answer, or tells of a whole array
    echo 'echo JobId=42; echo JobId=43' >> bin/scontrol
    foreign 'unset SLURM_CPU_BIND'
    rm bin/scontrol
    foreign 'unset SLURM_CPU_BIND'
}

# shares TYPE: the file system of everything but /tmp, as the doctor's Python sees it
shares()
{
    printf 'server /tank %s rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n' "$1" > mounts
    cat > bin/python3 << PYTHON
#!/bin/sh
shift
exec $(python3 -c 'import sys; print(sys.executable)') -IBc '
import builtins, runpy, sys
opened = open
builtins.open = lambda name, *more, **words: opened(
    "$PWD/mounts" if name == "/proc/self/mounts" else name, *more, **words)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "\$@"
PYTHON
}

@test "compilers' caches on a file system that nodes share, in a job of several nodes" {
    shares nfs4
    job '#SBATCH --nodes=2 --ntasks-per-node=1' 'export TRITON_CACHE_DIR=$HOME/$SLURM_JOB_ID' \
        'export TORCHINDUCTOR_CACHE_DIR=/tank/cache' 'srun --ddp python train.py'
    environment=(HOME=/tank/home)
    found $'D308 job.sh:3\nD308 job.sh:4' --script job.sh
    [ "$(jq -r .verdict json)" = 'nothing found, but see the note D308, job.sh:3' ]
    [ "$(jq -r '.findings[0].change' json)" = 'export TRITON_CACHE_DIR=/tmp/triton-$USER' ]
    environment=(HOME=/tmp/home)
    found 'D308 job.sh:4' --script job.sh
    sed -i 's/nodes=2/nodes=1/' job.sh
    found '' --script job.sh
    fake_srun 22.05.8
    around 'D308 -:0' TRITON_CACHE_DIR=/tank/x
    around '' TRITON_CACHE_DIR=/tmp/x TORCHINDUCTOR_CACHE_DIR=/tank/rank-3
    around '' MY_HOSTNAME=n1 TRITON_CACHE_DIR=/tank/n1/triton TORCHINDUCTOR_CACHE_DIR=/tank/rank3
    mkdir -p triton/.triton/cache
    sed -i "s|/tank|$PWD/triton|" mounts
    around 'D308 -:0' TRITON_HOME="$PWD/triton"
    shares ext4
    around '' TRITON_CACHE_DIR=/tank/x
}

@test "srun without -K, and a slurm.conf that ends such steps" {
    job '#SBATCH --nodes=2 --ntasks-per-node=4' 'srun rollcall exec -- python train.py'
    printf '#!/bin/sh\nprintf "KillOnBadExit           = $KILL\\nWaitTime                = $WAIT sec\\n"\n' > bin/scontrol
    chmod 755 bin/scontrol
    environment=(KILL=0 WAIT=0)
    found 'D538 job.sh:3' --script job.sh
    environment=(KILL=1 WAIT=0)
    found '' --script job.sh
    environment=(KILL=0 WAIT=60)
    found '' --script job.sh
}

# InfiniBand, as the kernel lists it.
@test "locked memory of a task on a node with InfiniBand, and a filter of devices that matches" {
    local device='mount -t tmpfs none /sys/class && mkdir -p /sys/class/infiniband/mlx5_0'
    fake_srun 22.05.8
    before="$device && ulimit -S -l 64" around 'D305 -:0' NCCL_IB_HCA==mlx5_0
    before='ulimit -S -l 64' around ''
    before="$device && ulimit -S -l 64" around 'D206 -:0
D305 -:0' NCCL_IB_HCA==mlx5_1
    (ulimit -l unlimited) 2> /dev/null || skip "the limit cannot be raised here"
    before="$device && ulimit -l unlimited" around '' NCCL_IB_HCA==mlx5_0
}

# No route leads to rank 0's node, where the port of this launch would be held.
@test "a master port that cannot be reached" {
    fake_srun 22.05.8
    run -3 here SLURM_PROCID=2 SLURM_LOCALID=0 ROLLCALL=exchange=off "$rollcall" exec -- "$rollcall" doctor --json
    jq -r '.findings[].id' <<< "$output"
    [ "$(jq -r '.findings[] | "\(.id) \(.what)"' <<< "$output" | sed 's/ port .*: / /')" = 'D207 192.0.2.1 Network is unreachable' ]
}

@test "a file that no Python here can parse is a finding, never silently nothing" {
    script 'import os' 'print "two"' 'os.environ["MASTER_PORT"] = "29500"'
    found 'D421 train.py:2' train.py
    [ "$(jq -r '.findings[0].what' json)" = 'not looked at: it is Python 2 (Missing parentheses in call to '"'print'"')' ]
    [ "$(jq -r .verdict json)" = 'nothing found, but not all was looked at; see D421, train.py:2' ]
    mv train.py old.py
    script 'import old, os' 'os.environ["MASTER_PORT"] = "29500"'
    found $'D403 train.py:2\nD422 old.py:2' train.py
    [[ $(jq -r '.findings[1].what' json) == 'not looked at: it is Python 2 '* ]]
    [ "$(jq -r .verdict json)" = '1 warning; begin with D403, train.py:2; not all was looked at' ]
}

@test "a number of more digits than Python writes, or a zero byte, hides no other finding" {
    script 'import os, torch' 'os.environ["NCCL_SOCKET_IFNAME"] = "ib\0\ud800"' 'os.environ["GLOO_SOCKET_IFNAME"] = "ib1"'
    found $'D419 train.py:2\nD419 train.py:3' train.py
    long=0x$(printf 'f%.0s' {1..5000})
    for value in "str($long)" "$long" "f\"{$long}\"" "str(-$long)"; do
        script 'import os, torch' "os.environ[\"MASTER_PORT\"] = $value" 'os.environ["MASTER_PORT"] = "29500"' \
            "os.environ[\"CUDA_VISIBLE_DEVICES\"] = $value"
        found 'D403 train.py:3' train.py
    done
}

@test "without a Python that works each file that was not read is a finding" {
    script 'import os'
    job 'python train.py'
    rm bin/python3
    found 'D421 train.py:0' train.py
    [ "$(jq -r '.findings[0].what' json)" = 'this was not read: there is no python3 on PATH' ]
    found $'D421 train.py:0\nD421 job.sh:0' --script job.sh train.py
    found 'D421 command line:0' -- srun -n2 python train.py
    printf '#!/bin/sh\nexit 1\n' > bin/python3
    chmod 755 bin/python3
    found 'D421 train.py:0' train.py
    [ "$(jq -r '.findings[0].what' json)" = 'this was not read: the python3 on PATH failed or took too long' ]
}

# is_unreadable FILE: which line is wrong, releases of Python say differently
is_unreadable()
{
    run -4 doctor --json "$1"
    [ "$(jq -r '.findings[].id' <<< "$output")" = D421 ]
}

@test "nothing of a script is run or imported, and none is too much" {
    script 'import helper, os' 'open("ran", "w")' 'os.environ["MASTER_PORT"] = "1234"'
    echo 'open("ran", "w")' > helper.py
    echo 'open("ran", "w")' > source.py
    echo 'open("ran", "w")' > ast.py
    found 'D403 train.py:3' train.py
    [ ! -e ran ]
    [ -z "$(find . -name __pycache__)" ]
    python3 -c 'print("x = " + "(" * 3000 + ")" * 3000)' > train.py
    is_unreadable train.py
    python3 -c 'print("x = 1\n" * 100000)' > train.py
    found '' train.py
    printf 'x = "\0"\n\377\376\n' > train.py
    is_unreadable train.py
    : > train.py
    found '' train.py
}

@test "wrong usage, and files that cannot be read" {
    touch a.py b.py
    fails_with 2 'one script at a time' "$rollcall" doctor a.py b.py
    fails_with 2 'cannot read none.py: No such file' "$rollcall" doctor none.py
    fails_with 2 'cannot read .: Is a directory' "$rollcall" doctor .
    fails_with 2 '--script needs a value' "$rollcall" doctor --script
    fails_with 2 "unknown option '--scirpt'" "$rollcall" doctor --script=x=y --scirpt
}

@test "what a script is called, and says, is printed without terminal escapes" {
    printf 'import os, torch\nos.environ["MASTER_ADDR"] = "127.0.0.1\033[31m"\nos.environ["MASTER_PORT"] = "1"\n' > $'a\e[31m.py'
    run -1 doctor $'a\e[31m.py'
    [[ $output == *'a\x1b[31m.py:3'* && $output != *$'\e'* ]]
    run -1 doctor --json $'a\e[31m.py'
    jq -e . <<< "$output"
}
