# SPDX-License-Identifier: BSD-3-Clause
"""deepspeed.init_distributed() without arguments, and its collectives."""

import os

import deepspeed
import torch
from deepspeed import comm

import toy

deepspeed.init_distributed(dist_backend="gloo")
rank, world = comm.get_rank(), comm.get_world_size()
total = torch.tensor([float(rank)])
comm.all_reduce(total)
toy.report(
    rank=rank,
    world=world,
    local=comm.get_local_rank(),
    node=os.environ.get("NODE_RANK", "-"),
    seen=toy.everyone(rank, world),
    sum=f"{total.item():g}",
)
torch.distributed.destroy_process_group()
