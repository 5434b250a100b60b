#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gpus.bats - cuda:LOCAL_RANK is the GPU that Slurm gave the task, and its neighbours' can be reached, however srun
# was asked for GPUs.
#
# Tables for gpus.py: tasks | GPU that cuda:LOCAL_RANK is, by rank | LOCAL_RANK | GPUs that a task sees | messages |
# srun's options. Each is run with the plugin and without.

load helpers
load gpus

setup_file()
{
    needs_root || return 0
    gpu_cluster
}

@test "the step's GPUs in each task: nothing changes" {
    gpus_are << 'END'
2 | 0 1     | rank | 0,1,2,3 | - | --gpus-per-node=4
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-node=4
2 | 0 1     | rank | 0,1,2,3 | - | --gpus=4
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus=4
2 | 0 1     | rank | 0,1     | - | --gpus=2
2 | 0 1     | rank | 0,1,2,3 | - | --gres=gpu:4
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gres=gpu:4
2 | 0 1     | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=closest
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=closest
4 | 0 1 0 1 | rank | 0,1     | - | --gpus-per-node=2 -N2 --ntasks-per-node=2
END
}

# bats test_tags=series
@test "bound to one by variable: the step's GPUs, its own where LOCAL_RANK says" {
    # more tasks than GPUs are refused with --gpus-per-task
    gpus_are << 'END'
2 | 0 1     | rank | 0,1     | - | --gpus-per-task=1
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-task=1
4 | 0 1 0 1 | rank | 0,1     | - | --gpus-per-task=1 -N2 --ntasks-per-node=2
2 | 2 0     | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=map_gpu:2,0
4 | 3 2 1 0 | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=map_gpu:3,2,1,0
4 | 3 2 3 2 | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=map_gpu:3,2 -N2 --ntasks-per-node=2
2 | 1 3     | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=mask_gpu:0x2,0x8
4 | 1 3 0 2 | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=mask_gpu:0x2,0x8,0x1,0x4
2 | 0 1     | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=single:1
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus=4 --gpu-bind=single:1
END
}

@test "not bound, which Slurm up to 23.02 takes for no GPU" {
    gpus_are << 'END'
2 | 0 1     | rank | 0,1     | - | --gpus-per-task=1 --gpu-bind=none
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus-per-task=1 --gpu-bind=none
2 | 0 1     | rank | 0,1,2,3 | - | --gpus-per-node=4 --gpu-bind=none
4 | 0 1 2 3 | rank | 0,1,2,3 | - | --gpus=4 --gpu-bind=none
END
}

# bats test_tags=series
@test "more tasks than GPUs: each sees its own alone, and it is said once" {
    gpus_are << 'END'
6 | 0 1 2 3 0 1 | 0 | own | RC902 | --gpus-per-node=4
6 | 0 1 2 3 0 1 | 0 | own | RC902 | --gpus=4
6 | 0 1 2 3 0 1 | 0 | own | RC902 | --gres=gpu:4
6 | 0 1 2 3 0 1 | 0 | own | RC902 | --gpus-per-node=4 --gpu-bind=closest
6 | 3 2 1 0 3 2 | 0 | own | RC902 | --gpus-per-node=4 --gpu-bind=map_gpu:3,2,1,0
6 | 1 3 0 2 1 3 | 0 | own | RC902 | --gpus-per-node=4 --gpu-bind=mask_gpu:0x2,0x8,0x1,0x4
6 | 0 1 2 3 0 1 | 0 | own | RC902 | --gpus-per-node=4 --gpu-bind=single:1
6 | 0 1 2 3 0 1 | 0 | own | RC902 | --gpus-per-node=4 --gpu-bind=none
# asked for in so many words
4 | 0 0 1 1     | 0 | own | -     | --ntasks-per-gpu=2
6 | 0 0 1 1 2 2 | 0 | own | -     | --gpus-per-node=4 --gpu-bind=single:2
END
}

@test "several GPUs a task: as Slurm gave them" {
    gpus_are << 'END'
2 | 0 3     | rank | given | - | --gpus-per-task=2
2 | 2 1     | rank | given | - | --gpus-per-node=4 --gpu-bind=mask_gpu:0xc,0x3
4 | 2 1 - - | rank | given | - | --gpus-per-node=4 --gpu-bind=mask_gpu:0xc,0x3
END
}

@test "gpus=own: its own alone" {
    ddp=--ddp=gpus=own gpus_are << 'END'
4 | 0 1 2 3 | 0    | own     | - | --gpus-per-node=4
4 | 3 2 1 0 | 0    | own     | - | --gpus-per-node=4 --gpu-bind=map_gpu:3,2,1,0
END
}

@test "no GPU asked for: nothing is touched" {
    gpus_are << 'END'
2 | | rank | nothing | - |
4 | | rank | nothing | - | --gpus=0
6 | | rank | nothing | - | --gres=none
END
}

@test "beside a job that has the first GPU" {
    beside_a_job gpus_are << 'END'
3 | 1 2 3     | rank | 1,2,3 | -     | --gpus-per-node=3
3 | 1 2 3     | rank | 1,2,3 | -     | --gpus-per-task=1
2 | 2 1       | rank | 1,2   | -     | --gpus=2 --gpu-bind=map_gpu:2,1
5 | 1 2 3 1 2 | 0    | own   | RC902 | --gpus-per-node=3
END
}

# CUDA shows a process one of them, whatever its list has.
# bats test_tags=series
@test "MIG slices by index: each task sees its own alone, as device 0; not if a GPU is whole" {
    on n1 sh -c 'mount -t tmpfs none /proc/driver && mkdir -p /proc/driver/nvidia/capabilities/gpu0/mig/gi1'
    for launch in 'srun --ddp' 'srun rollcall exec --'; do
        attempt 30 ${launch/srun/srun -w n1 -n4 --gpus-per-node=4} sh -c 'echo "SLICE $SLURM_PROCID $LOCAL_RANK $CUDA_VISIBLE_DEVICES"'
        cp "$out" "$BATS_TEST_TMPDIR/${launch##* }"
    done
    on n1 mkdir /proc/driver/nvidia/capabilities/gpu1
    attempt 30 srun --ddp -w n1 -n4 --gpus-per-node=4 sh -c 'echo "SLICE $LOCAL_RANK $CUDA_VISIBLE_DEVICES"'
    on n1 umount /proc/driver
    said '^SLICE 2 0,1,2,3$'
    for out in "$BATS_TEST_TMPDIR"/{--ddp,--}; do
        [ "$(grep ^SLICE "$out" | sort | paste -sd' ')" = 'SLICE 0 0 0 SLICE 1 0 1 SLICE 2 0 2 SLICE 3 0 3' ] || explain "not one slice each"
    done
}
