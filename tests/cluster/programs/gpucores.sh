#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# gpucores.sh - prints one line: which GPUs' device files this task may open, which cores and which network card it has.

allowed=
for file in /dev/nvidia[0-9]*; do
    if [ -r "$file" ] && [ -w "$file" ]; then
        allowed=$allowed,${file#/dev/nvidia}
    fi
done
echo "GPUCORES rank=$SLURM_PROCID gpu=${allowed#,}" \
    "cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status) card=${UCX_NET_DEVICES-none}"
