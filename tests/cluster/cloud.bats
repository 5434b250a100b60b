#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# cloud.bats - rows M5 and M6: platforms that start one command on each node, with their environments by hand.
#
# No cloud is here: the two nodes get what its sources and documents say that it sets (tests/vectors has the
# same), and no launcher. What comes of it is real: torchrun without an argument, and scripts that train.

load helpers

plugin=no
cluster=(--nodes 2 --cpus 4)
alone=compared

# on_both SECONDS PLATFORM CMD...: CMD on n1 and n2 at once, each with the environment that `PLATFORM INDEX`
# prints, one NAME=VALUE a line. $status is the sum of both.
on_both()
{
    local seconds=$1 platform=$2 node pids=() pid
    local -a environment
    shift 2
    status=0
    for node in 1 2; do
        mapfile -t environment < <("$platform" $((node - 1)))
        on "n$node" env "${environment[@]}" timeout -k 5 $((seconds * patience)) "$@" \
            > "$out.$node" 2> "$err.$node" 3>&- < /dev/null &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=$((status + $?))
    done
    cat "$out.1" "$out.2" > "$out"
    cat "$err.1" "$err.2" > "$err"
}

vertex()
{
    local pool=(workerpool0 workerpool1)
    printf '%s\n' CLOUD_ML_JOB_ID=1234567890 RANK="$1" WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=3333 \
        'CLUSTER_SPEC={"cluster":{"workerpool0":["n1:2222"],"workerpool1":["n2:2222"]},"environment":"cloud","task":{"type":"'"${pool[$1]}"'","index":0}}'
}

vertex_gpus()
{
    vertex "$1"
    echo CUDA_VISIBLE_DEVICES=0,1
}

kubeflow_v1()
{
    printf '%s\n' KUBERNETES_SERVICE_HOST=10.96.0.1 PYTHONUNBUFFERED=1 MASTER_ADDR=n1 MASTER_PORT=23456 \
        PET_MASTER_ADDR=n1 PET_MASTER_PORT=23456 RANK="$1" WORLD_SIZE=2 PET_NODE_RANK="$1" PET_NNODES=2 \
        PET_NPROC_PER_NODE=1
}

kubeflow_v2()
{
    printf '%s\n' KUBERNETES_SERVICE_HOST=10.96.0.1 PET_MASTER_ADDR=n1 PET_MASTER_PORT=29500 PET_NODE_RANK="$1" \
        PET_NNODES=2 PET_NPROC_PER_NODE=1
}

sagemaker()
{
    printf '%s\n' 'SM_HOSTS=["n1","n2"]' SM_CURRENT_HOST="n$(($1 + 1))" SM_NUM_GPUS=0 TRAINING_JOB_NAME=job-1
}

@test "M5: Vertex AI, one GPU a node: a plain script trains" {
    on_both 60 vertex rollcall exec -- python "$programs/env.py"
    everybody ranks n1=0 n2=1
}

# bats test_tags=all
@test "M5, M6: Vertex AI with two GPUs a node, Kubeflow TrainJob, SageMaker without GPUs" {
    on_both 60 vertex_gpus rollcall exec -- torchrun "$programs/torchrun_train.py"
    everybody ranks n1=0,1 n2=2,3
    on_both 20 kubeflow_v2 rollcall exec -- "$whoami"
    everybody whoami n1=0 n2=1
    on_both 60 sagemaker rollcall exec -- python "$programs/env.py"
    everybody ranks n1=0 n2=1
}

@test "M6: Kubeflow PyTorchJob, one process a pod: torchrun without arguments, by the preload" {
    on_both 60 kubeflow_v1 env LD_PRELOAD="$preload" torchrun "$programs/torchrun_train.py"
    everybody ranks n1=0 n2=1
}
