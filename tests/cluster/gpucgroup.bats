#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gpucgroup.bats - as gpus.bats, where a device cgroup hides from a task the GPUs that Slurm has not given it: what each
# task may open is read back, cuda:LOCAL_RANK is among that, and what is lost is said once a step.

load helpers
load gpus

setup_file()
{
    if device_cgroups; then
        gpu_cluster --gpu-cgroup
    fi
}

setup()
{
    device_cgroups || skip "no cgroups of version 1 for devices"
}

@test "the step's GPUs in each task: nothing changes" {
    gpus_are << 'END'
2 | 0 1     | rank | 0,1,2,3 | - | --gpus-per-node=4
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-node=4
2 | 0 1     | rank | 0,1     | - | --gpus=2
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gres=gpu:4
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus=4 --gpu-bind=closest
4 | 0 1 0 1 | rank | 0,1     | - | --gpus-per-node=2 -N2 --ntasks-per-node=2
END
}

# bats test_tags=series
@test "bound to one: its own alone, and it is said what is lost" {
    gpus_are << 'END'
2 | 0 1     | 0 | own | RC901 | --gpus-per-task=1
4 | 0 1 2 3 | 0 | own | RC901 | --gpus-per-task=1
4 | 0 1 0 1 | 0 | own | RC901 | --gpus-per-task=1 -N2 --ntasks-per-node=2
2 | 2 0     | 0 | own | RC901 | --gpus-per-node=4 --gpu-bind=map_gpu:2,0
4 | 3 2 1 0 | 0 | own | RC901 | --gpus-per-node=4 --gpu-bind=map_gpu:3,2,1,0
4 | 1 3 0 2 | 0 | own | RC901 | --gpus-per-node=4 --gpu-bind=mask_gpu:0x2,0x8,0x1,0x4
4 | 0 1 2 3 | 0 | own | RC901 | --gpus=4 --gpu-bind=single:1
END
}

# bats test_tags=series
@test "not bound, or said not to be: the step's GPUs" {
    gpus_are << 'END'
2 | 0 1     | rank | 0,1     | - | --gpus-per-task=1 --gpu-bind=none
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=none
END
}

# bats test_tags=series
@test "bound by variable, not by the cgroup: --gres-flags=allow-task-sharing" {
    [ -n "${SERIES:-}" ] || skip "from Slurm 23.11 on"
    gpus_are << 'END'
2 | 0 1     | rank | 0,1     | - | --gpus-per-task=1 --gres-flags=allow-task-sharing
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-task=1 --gres-flags=allow-task-sharing
END
}

@test "more tasks than GPUs: each sees its own alone" {
    gpus_are << 'END'
6 | 0 1 2 3 0 1 | 0 | own | RC902       | --gpus-per-node=4
6 | 0 1 2 3 0 1 | 0 | own | RC902       | --gpus-per-node=4 --gpu-bind=none
6 | 3 2 1 0 3 2 | 0 | own | RC901 RC902 | --gpus-per-node=4 --gpu-bind=map_gpu:3,2,1,0
6 | 0 1 2 3 0 1 | 0 | own | RC901 RC902 | --gpus-per-node=4 --gpu-bind=single:1
4 | 0 0 1 1     | 0 | own | RC901       | --ntasks-per-gpu=2
END
}

@test "several GPUs a task: as Slurm gave them, and it is said what is lost" {
    gpus_are << 'END'
2 | 0 3     | rank | given | RC901 | --gpus-per-task=2
2 | 2 1     | rank | given | RC901 | --gpus-per-node=4 --gpu-bind=mask_gpu:0xc,0x3
4 | 2 1 - - | rank | given | RC901 | --gpus-per-node=4 --gpu-bind=mask_gpu:0xc,0x3
END
}

@test "no GPU asked for: nothing is touched" {
    gpus_are << 'END'
4 | | rank | nothing | - |
END
}

@test "beside a job that has the first GPU, where Slurm counts from 0 again" {
    beside_a_job gpus_are << 'END'
3 | 1 2 3     | rank | 1,2,3 | -     | --gpus-per-node=3
3 | 1 2 3     | 0    | own   | RC901 | --gpus-per-task=1
5 | 1 2 3 1 2 | 0    | own   | RC902 | --gpus-per-node=3
END
}
