# SPDX-License-Identifier: BSD-3-Clause
"""FairScale's sharded optimizer and data parallel over env://."""

import os

import torch
import torch.distributed as dist
from fairscale.nn.data_parallel import ShardedDataParallel
from fairscale.optim.oss import OSS

import toy

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
net = toy.model()
optimizer = OSS(net.parameters(), torch.optim.SGD, lr=0.1)
net = ShardedDataParallel(net, optimizer)
for x, y in toy.batches():
    optimizer.zero_grad()
    toy.loss_of(net, x, y, rank, world).backward()
    optimizer.step()
toy.report(
    rank=rank,
    world=world,
    local=os.environ["LOCAL_RANK"],
    node=os.environ["NODE_RANK"],
    seen=toy.everyone(rank, world),
)
dist.destroy_process_group()
