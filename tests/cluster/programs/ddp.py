# SPDX-License-Identifier: BSD-3-Clause
"""DistributedDataParallel the way most scripts do it: everything from the environment."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import toy

rank, world = toy.join()
net = DistributedDataParallel(toy.model())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in toy.batches():
    optimizer.zero_grad()
    loss = toy.loss_of(net, x, y, rank, world)
    loss.backward()
    optimizer.step()
loss = loss.detach()
dist.all_reduce(loss)
toy.answer(loss=f"{loss.item() / world:.9f}")
