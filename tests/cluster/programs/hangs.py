# SPDX-License-Identifier: BSD-3-Clause
"""RANK 1 fails on the way to a collective, and never returns from destroy_process_group, as where NCCL waits there for
the ranks that wait for it. Lines of those that wait: "waits"."""
import time

import torch
import torch.distributed as dist


def train():
    if dist.get_rank() == 1:
        raise RuntimeError("loss is NaN")
    print("waits", flush=True)
    dist.all_reduce(torch.zeros(1))


dist.init_process_group("gloo")
if dist.get_rank() == 1:
    dist.distributed_c10d._unregister_all_process_groups = lambda: time.sleep(1000)
try:
    train()
finally:
    dist.destroy_process_group()
