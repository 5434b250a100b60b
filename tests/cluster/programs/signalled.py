# SPDX-License-Identifier: BSD-3-Clause
"""A worker of torchrun that ends well when the signal comes that sbatch --signal asks for: it takes some time to save."""

import os
import signal
import sys
import time

import torch.distributed as dist

import toy

saved = []


def save(signum, frame):
    if saved:
        return
    saved.append(signum)
    time.sleep(2)
    toy.report(rank=dist.get_rank(), world=dist.get_world_size(), node=os.environ["GROUP_RANK"],
               saved=signal.Signals(signum).name)
    os._exit(0)


def main():
    dist.init_process_group("gloo")
    signal.signal(getattr(signal, sys.argv[1]), save)
    dist.barrier()  # nobody is without it any more
    if os.environ["LOCAL_RANK"] == "0":  # proctrack/cgroup signals the task alone, which is torchrun
        os.kill(os.getppid(), getattr(signal, sys.argv[1]))
    time.sleep(10)


if __name__ == "__main__":
    main()
