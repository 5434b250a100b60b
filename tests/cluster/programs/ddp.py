# SPDX-License-Identifier: BSD-3-Clause
"""DistributedDataParallel the way most scripts do it: everything from the environment."""

import datetime
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import toy


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT))
    rank, world = dist.get_rank(), dist.get_world_size()
    seen = toy.everyone(rank, world)
    net = DistributedDataParallel(toy.model())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in toy.batches():
        optimizer.zero_grad()
        loss = toy.loss_of(net, x, y, rank, world)
        loss.backward()
        optimizer.step()
    loss = loss.detach()
    dist.all_reduce(loss)
    toy.report(
        rank=rank,
        world=world,
        local=os.environ.get("LOCAL_RANK", "-"),
        node=os.environ.get("NODE_RANK", "-"),
        seen=seen,
        loss=f"{loss.item() / world:.9f}",
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
