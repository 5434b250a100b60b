#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Numbers that somebody set by hand, or an unknown launcher: completed where they are whole, else left alone.

load helper

setup_file()
{
    unpack_vectors
}

preload=$prefix/lib/librollcall-preload.so
addr=(MASTER_ADDR=192.0.2.1 MASTER_PORT=29512)

# Every one of these is half an identity. Words of an entry are entries of the environment.
halves=('RANK=1' 'WORLD_SIZE=4' 'RANK= WORLD_SIZE=4' 'RANK=1 WORLD_SIZE=' 'RANK=4 WORLD_SIZE=4' 'RANK=5 WORLD_SIZE=4'
    'RANK=0 WORLD_SIZE=0' 'RANK=4294967296 WORLD_SIZE=4' 'RANK=0 WORLD_SIZE=4294967296' 'RANK=18446744073709551617 WORLD_SIZE=4'
    'RANK=+3 WORLD_SIZE=4' 'RANK=-1 WORLD_SIZE=4' 'RANK=0x1 WORLD_SIZE=4' 'RANK=01 WORLD_SIZE=4' 'RANK=1.0 WORLD_SIZE=4'
    'RANK=1 WORLD_SIZE=4 LOCAL_RANK=x' 'RANK=1 WORLD_SIZE=4 LOCAL_RANK=2 LOCAL_WORLD_SIZE=2'
    'RANK=1 WORLD_SIZE=4 LOCAL_RANK=2' 'RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=5'
    'RANK=1 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=4'
    'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=2 GROUP_WORLD_SIZE=2'
    'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1 GROUP_WORLD_SIZE=9'
    'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1 GROUP_WORLD_SIZE=2 MASTER_ADDR=localhost'
    'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1 GROUP_WORLD_SIZE=2 MASTER_ADDR=localhost.localdomain'
    'RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_PORT=65536')
# These are not wrong, but what they mean is not said.
ambiguous=('RANK=1 WORLD_SIZE=4' 'RANK=1 WORLD_SIZE=4 LOCAL_RANK=1'
    'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2' 'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1'
    'RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1 GROUP_WORLD_SIZE=2 MASTER_PORT=')

# left_alone ID ENTRY...: exec runs the command in the very same environment, with one line; so does the preload,
# without a word; asked for a mode, the command is not run.
left_alone()
{
    local id=$1
    shift
    run -7 --separate-stderr with "${addr[@]}" "$@" "$rollcall" exec -- sh -c 'env; exit 7'
    [ "$(sort <<< "$output")" = "$(with "${addr[@]}" "$@" sh -c env | sort)" ]
    [[ $stderr == "rollcall: warning $id: "* ]]
    [ "$(wc -l <<< "$stderr")" = 1 ]
    run -0 --separate-stderr with "${addr[@]}" "$@" LD_PRELOAD="$preload" sh -c 'env -u LD_PRELOAD sh -c env'
    [ "$(sort <<< "$output")" = "$(with "${addr[@]}" "$@" sh -c env | sort)" ]
    [ -z "$stderr" ]
    for mode in worker launcher; do
        run -1 --separate-stderr with "${addr[@]}" "$@" "$rollcall" exec --ddp=$mode -- touch "$BATS_TEST_TMPDIR/ran"
        [ ! -e "$BATS_TEST_TMPDIR/ran" ]
        [[ $stderr == *"rollcall: error RC119: $mode mode was asked for"* ]]
    done
}

@test "half an identity is said in one line and left alone; with a mode it is an error" {
    for half in "${halves[@]}"; do
        echo "$half"
        left_alone RC117 $half
    done
    left_alone RC117 'RANK=1 ' WORLD_SIZE=4
    left_alone RC117 RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 'MASTER_ADDR=two words'
}

@test "numbers that do not say what they count are left alone with a line" {
    for pair in "${ambiguous[@]}"; do
        echo "$pair"
        left_alone RC118 $pair
    done
}

@test "show says it, too" {
    matches 0 '*env://*none: half an identity is left alone*warning RC118*' with RANK=1 WORLD_SIZE=4 "$rollcall" show
    matches 0 '*RC117*cause*cure*' with RANK=1 "$rollcall" show --why
    matches 1 '*RC117*error RC119*' with RANK=1 "$rollcall" show --ddp=worker
}

@test "the preload says an error once where a mode was asked for, and the program runs" {
    run -0 --separate-stderr with RANK=1 ROLLCALL=worker LD_PRELOAD="$preload" sh -c 'sh -c "echo \$RANK; exit 0"; true'
    [ "$output" = 1 ]
    [[ $stderr == "rollcall: error RC119: "* ]]
    [ "$(wc -l <<< "$stderr")" = 1 ]
}

@test "a whole identity is completed, and nothing that is there is changed" {
    whole=(RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1 NNODES=2)
    run -0 --separate-stderr with "${addr[@]}" "${whole[@]}" "$rollcall" exec -- env
    [ -z "$stderr" ]
    for entry in "${addr[@]}" "${whole[@]}" GROUP_RANK=1 GROUP_WORLD_SIZE=2 ROLLCALL_SCOPE=env:env/2/worker/29512; do
        grep -qx "$entry" <<< "$output"
    done
    # an inner rollcall finds the stamp, and one whose rank was changed on the way leaves it alone
    run -0 --separate-stderr with "${addr[@]}" "${whole[@]}" "$rollcall" exec -- "$rollcall" exec -- sh -c "$print_names"
    [ "$output $stderr" = '2 4 0 2 1 192.0.2.1  ' ]
    run -0 --separate-stderr with "${addr[@]}" "${whole[@]}" "$rollcall" exec -- \
        env RANK=3 LOCAL_RANK=1 MASTER_PORT=29600 "$rollcall" exec -- env
    [ -z "$stderr" ]
    for entry in RANK=3 LOCAL_RANK=1 MASTER_PORT=29600 MASTER_ADDR=192.0.2.1 ROLLCALL_SCOPE=env:env/2/worker/29512; do
        grep -qx "$entry" <<< "$output"
    done
}

@test "one node is known by its loopback address, or by the number of its processes" {
    for one in MASTER_ADDR=localhost MASTER_ADDR=localhost.localdomain MASTER_ADDR=127.0.0.1 MASTER_ADDR=::1 \
        LOCAL_WORLD_SIZE=4; do
        run -0 --separate-stderr with RANK=3 WORLD_SIZE=4 LOCAL_RANK=3 MASTER_PORT=29512 "$one" "$rollcall" exec -- env
        [ -z "$stderr" ]
        for entry in LOCAL_WORLD_SIZE=4 NODE_RANK=0 GROUP_RANK=0 GROUP_WORLD_SIZE=1 MASTER_PORT=29512; do
            grep -qx "$entry" <<< "$output"
        done
        [[ $one != MASTER* ]] || grep -qx "$one" <<< "$output"
    done
}

@test "Azure's loopback address of a single node is no master's address" {
    for host in 127.0.0.1 localhost localhost.localdomain; do
        run -0 --separate-stderr with AZUREML_RUN_ID=1 AZUREML_NODE_COUNT=1 RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 \
            "AZ_BATCH_MASTER_NODE=$host:6000" "$rollcall" show --json
        [ "$(jq -r '.launcher, .set.MASTER_ADDR' <<< "$output" | xargs)" = 'azureml 127.0.0.1' ]
    done
}

@test "children of torchrun, tasks of a launcher and rollcall's own exports are not env://'s" {
    run -1 with RANK=1 WORLD_SIZE=4 LOCAL_RANK=x TORCHELASTIC_RUN_ID=1 "$rollcall" show --json
    [ "$(jq -r '.launcher, .messages[0].id' <<< "$output" | xargs)" = 'torchrun RC101' ]
    run -0 --separate-stderr with "${task_3[@]}" RANK=7 WORLD_SIZE=4 "$rollcall" exec -- sh -c "$print_names"
    [ "$output $stderr" = '3 4 1 2 1 192.0.2.1  ' ]
    # rollcall's exports alone: the launcher's variables got lost on the way
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec -- env -u SLURM_JOB_ID -u SLURM_STEP_ID \
        "$rollcall" exec -- sh -c "$print_names"
    [ "$output $stderr" = '3 4 1 2 1 192.0.2.1  ' ]
    run -0 with "${task_3[@]}" "$rollcall" exec -- "$rollcall" show --json
    [ "$(jq -r '.launcher, .mode, (.messages | map(select(.id | test("RC11[789]"))) | length)' <<< "$output" | xargs)" = 'slurm worker 0' ]
}

# refused VECTOR VARIABLE VALUE ID...: the recorded environment with another value is an error of one of these ids.
refused()
{
    local vector=$1 name=$2 value=$3 id
    shift 3
    grep -v "^$name=" "$vectors/$vector.env" > "$BATS_TEST_TMPDIR/task.env"
    printf '%s=%s\n' "$name" "$value" >> "$BATS_TEST_TMPDIR/task.env"
    run -1 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env"
    for id; do
        [ "$(jq -r '.messages[] | select(.level == "error") | .id' <<< "$output")" != "$id" ] || return 0
    done
    echo "$vector $name=$value: $output"
    return 1
}

@test "the same values in a platform's own variables are errors" {
    for value in 4294967296 '1 ' +3 two; do
        for variable in 'vertex-1 RANK' 'vertex-1 WORLD_SIZE' 'kubeflow-v1-1 PET_NODE_RANK' 'kubeflow-v1-1 PET_NNODES' \
            'kubeflow-v2-1 PET_NODE_RANK' 'azureml-1 RANK' 'azureml-1 WORLD_SIZE' 'azureml-1 LOCAL_RANK' \
            'azureml-1 NODE_RANK' 'azureml-1 AZUREML_NODE_COUNT' 'runpod-1 NODE_RANK' 'runpod-1 NUM_NODES'; do
            refused $variable "$value" RC101
        done
        refused sagemaker-1 SM_CURRENT_HOST "$value" RC103
        refused sagemaker-1 SM_HOSTS "$value" RC105
    done
    for variable in 'vertex-1 RANK' 'vertex-1 WORLD_SIZE' 'kubeflow-v1-1 PET_NODE_RANK' 'azureml-1 RANK' \
        'azureml-1 WORLD_SIZE' 'sagemaker-1 SM_CURRENT_HOST' 'runpod-1 NODE_RANK' \
        'runpod-1 NUM_NODES'; do
        refused $variable '' RC102
    done
    for variable in 'vertex-1 RANK 3' 'vertex-1 WORLD_SIZE 0' 'vertex-1 WORLD_SIZE 1' 'kubeflow-v1-1 PET_NODE_RANK 3' \
        'kubeflow-v1-1 PET_NNODES 1' 'azureml-1 RANK 4' 'azureml-1 WORLD_SIZE 0' 'azureml-1 NODE_RANK 1' \
        'azureml-1 AZUREML_NODE_COUNT 3' 'azureml-1 AZUREML_NODE_COUNT 0' \
        'runpod-1 NODE_RANK 2'; do
        refused $variable RC103
    done
}

@test "SageMaker's list of hosts is read strictly" {
    for list in '[]' '[' '["algo-1"' '["algo-1" "algo-2"]' '["algo-1",]' '["algo-1","algo-2"] x' '[algo-1,algo-2]' \
        '["algo-1","al\u0067o-2"]' '["algo-1",["algo-2"]]' '["algo-1",2]' '{"0":"algo-2"}' '["","algo-2"]' \
        '["algo-1","algo-2"]]' "['algo-1','algo-2']" 'algo-1,algo-2' '["algo 1","algo-2"]'; do
        refused sagemaker-1 SM_HOSTS "$list" RC105
    done
    refused sagemaker-1 SM_HOSTS '["algo-2","algo-2"]' RC103
    # 100,000 hosts are no trouble, and blanks are none
    list=$(seq -s '", "' 1 100000)
    run -0 with_names '192.0.2.1 algo-2' SM_HOSTS='[ "algo-2", "x" ] ' SM_CURRENT_HOST=x "$rollcall" show --json
    [ "$(jq -c '.identity | [.rank, .nnodes]' <<< "$output")" = '[1,2]' ]
    printf 'SM_HOSTS=["%s"]\nSM_CURRENT_HOST=99999\nMASTER_ADDR=192.0.2.1\n' "$list" > "$BATS_TEST_TMPDIR/large.env"
    run -0 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/large.env"
    [ "$(jq -c '.identity | [.rank, .nnodes]' <<< "$output")" = '[99998,100000]' ]
}
