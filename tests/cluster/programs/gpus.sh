#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# gpus.sh - prints one line: who this task is, which GPUs its variables name, and whose device files it may open.

allowed=
for file in /dev/nvidia[0-9]*; do
    if [ -r "$file" ] && [ -w "$file" ]; then
        allowed=$allowed,${file#/dev/nvidia}
    fi
done
echo "GPUS rank=$SLURM_PROCID node=$SLURMD_NODENAME local=${LOCAL_RANK-none} tasks=${LOCAL_WORLD_SIZE-none}" \
    "cuda=${CUDA_VISIBLE_DEVICES-none} rocr=${ROCR_VISIBLE_DEVICES-none} ze=${ZE_AFFINITY_MASK-none}" \
    "ordinal=${GPU_DEVICE_ORDINAL-none} order=${CUDA_DEVICE_ORDER-none} step=${SLURM_GPUS_ON_NODE-0} allowed=${allowed#,}"
